"""Settings of an estimator, drawn from lists and distributions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.random import Generator, RandomState
from sklearn.model_selection import ParameterGrid, ParameterSampler

Settings = dict[str, Any]

#: Longer lists of settings are sampled with replacement: the claim is the same, and no list is shuffled.
MOST_LISTED = 100_000
# The most characters for the values of one parameter in a description.
_MOST_CHARACTERS = 60


def plain(settings: Mapping[str, Any]) -> Settings:
    """The settings with Python numbers in place of NumPy's, which JSON cannot hold.

    Examples
    --------
    >>> plain({"C": np.float64(0.5), "degree": np.int64(3), "kernel": "rbf"})
    {'C': 0.5, 'degree': 3, 'kernel': 'rbf'}
    """
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in settings.items()}


class Grid(Sequence[Settings]):
    """All combinations of listed values, created on access.

    Examples
    --------
    >>> grid = Grid({"C": np.array([0.1, 1.0]), "kernel": ["rbf", "linear"]})
    >>> len(grid), grid[2]
    (4, {'kernel': 'rbf', 'C': 1.0})
    """

    def __init__(self, values: Any) -> None:
        self.grid = ParameterGrid(values)

    def __len__(self) -> int:
        return len(self.grid)

    @overload
    def __getitem__(self, place: int) -> Settings: ...

    @overload
    def __getitem__(self, place: slice) -> list[Settings]: ...

    def __getitem__(self, place: int | slice) -> Settings | list[Settings]:
        if isinstance(place, slice):
            return [self[index] for index in range(*place.indices(len(self)))]
        return plain(self.grid[place])


class Sampler:
    """Settings drawn independently, each parameter from its list or its distribution.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> settings = Sampler({"C": uniform(1.0, 2.0), "kernel": ["rbf"]})(np.random.default_rng(0))
    >>> 1.0 <= settings["C"] <= 3.0, type(settings["C"]) is float, settings["kernel"]
    (True, True, 'rbf')
    """

    def __init__(self, distributions: Any) -> None:
        self.distributions = distributions

    def __call__(self, rng: Generator) -> Settings:
        """One setting."""
        legacy = RandomState(rng.bit_generator)  # scikit-learn and scipy's distributions take no Generator
        return plain(next(iter(ParameterSampler(self.distributions, 1, random_state=legacy))))


def parts(distributions: Any) -> list[Mapping[str, Any]]:
    """The dictionaries of lists and distributions, as a list.

    Examples
    --------
    >>> parts({"C": [1.0]}), parts([{"C": [1.0]}, {}])
    ([{'C': [1.0]}], [{'C': [1.0]}, {}])
    """
    return [distributions] if isinstance(distributions, Mapping) else list(distributions)


def pool(distributions: Any) -> Grid | Sampler:
    """The pool of settings: a finite list if all parameters have lists, as in scikit-learn; else a law.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> type(pool({"C": [1.0, 2.0]})).__name__, type(pool({"C": uniform()})).__name__
    ('Grid', 'Sampler')
    >>> pool({"C": []})
    Traceback (most recent call last):
    ValueError: Parameter grid for parameter 'C' need to be a non-empty sequence, got: []
    """
    ParameterSampler(distributions, 1)  # raises on bad distributions
    dictionaries = parts(distributions)
    if not dictionaries:
        raise ValueError("param_distributions must hold at least one dictionary, got an empty list")
    listed = [{name: values for name, values in one.items() if not hasattr(values, "rvs")} for one in dictionaries]
    grid = Grid(listed)  # raises on bad lists
    endless = any(len(one) < len(other) for one, other in zip(listed, dictionaries, strict=True))
    return grid if not endless and len(grid) <= MOST_LISTED else Sampler(distributions)


def described(values: Any) -> str:
    """A description of a list or a distribution.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> described(loguniform(0.001, 10.0)), described(["rbf", "linear"]), described(range(100))
    ('loguniform(0.001, 10.0)', "['rbf', 'linear']", '100 values')
    """
    if hasattr(values, "rvs"):
        frozen = getattr(values, "dist", None)
        name = getattr(frozen, "name", "") or type(values).__name__
        arguments = [repr(one) for one in getattr(values, "args", ())]
        arguments += [f"{key}={one!r}" for key, one in getattr(values, "kwds", {}).items()]
        return f"{'loguniform' if name == 'reciprocal' else name}({', '.join(arguments)})"
    text = without_addresses(repr(list(values)))
    return text if len(text) <= _MOST_CHARACTERS and not isinstance(values, range) else f"{len(values)} values"


def by_value(values: Any) -> Any:
    """A list, or the name and arguments of a scipy distribution: everything that identifies it, without its generator.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> by_value(uniform(0.0, 2.0)), by_value(["rbf"])
    (('uniform', (0.0, 2.0), {}), ['rbf'])
    """
    name = getattr(getattr(values, "dist", None), "name", None)
    return values if name is None else (name, values.args, values.kwds)


def without_addresses(text: str) -> str:
    """The text without memory addresses, which differ between processes.

    Examples
    --------
    >>> without_addresses("<function f at 0x7f0012>")
    '<function f>'
    """
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def in_words(distributions: Any) -> str:
    """A description of all parameters.

    Examples
    --------
    >>> in_words([{"C": [1, 2], "kernel": ["rbf"]}, {}])
    "C from [1, 2], kernel from ['rbf']; or all at their defaults"
    """

    def one(dictionary: Mapping[str, Any]) -> str:
        found: Iterable[str] = (f"{name} from {described(values)}" for name, values in dictionary.items())
        return ", ".join(found) or "all at their defaults"

    return "; or ".join(one(dictionary) for dictionary in parts(distributions))
