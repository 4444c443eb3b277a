"""Checks of an algorithm: its parameters, its design, and every way to run it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from topalpha.families.protocols import RewardFamily
from topalpha.reservoirs import Reservoir
from topalpha.rules.protocol import Algorithm, BlockAlgorithm
from topalpha.testing.drivers import Outcome, check_same, compiled, interpreted, replayed, searched
from topalpha.testing.ensure import ensure


def check_parameters(parameters: Any, path: str = "") -> None:
    """Raise unless this is a NamedTuple with at least one field, each a scalar or again such a tuple.

    Parameters
    ----------
    parameters
        A reward family, an algorithm, or another argument of compiled code.
    path
        Its name in the error; by default its class.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> check_parameters(Bernoulli())
    >>> check_parameters([1.0])
    Traceback (most recent call last):
    AssertionError: list must be a NamedTuple
    """
    name = path or type(parameters).__name__
    ensure(isinstance(parameters, tuple) and hasattr(parameters, "_fields"), f"{name} must be a NamedTuple")
    ensure(len(parameters) > 0, f"{name} must have at least one field: compiled code takes no empty tuple")
    for field, value in zip(parameters._fields, parameters, strict=True):
        if isinstance(value, tuple):
            check_parameters(value, f"{name}.{field}")
        else:
            ensure(type(value) in (bool, int, float), f"{name}.{field} must be a bool, int or float, got {value!r}")


def check_design(design: Callable[..., Algorithm], family: RewardFamily | None = None, **options: Any) -> None:
    """Raise unless ``design(alpha, epsilon, delta, family)`` refuses bad targets with a clear ``ValueError``.

    Whole numbers in place of reals must give the same types, because compiled code distinguishes them. ``options`` are
    options that the design requires, for example a budget.

    Parameters
    ----------
    design
        The registered ``design`` of an algorithm.
    family
        An argument of ``design``.
    **options
        Arguments of ``design``.

    Examples
    --------
    >>> from topalpha.algorithms import entry
    >>> check_design(entry("joint-lucb").design)
    """
    bad: list[tuple[str, tuple[Any, ...]]] = []
    for value in (0.0, 1.0, -0.1, 1.5, math.nan, math.inf, "much", None):
        bad.append(("alpha", (value, 0.1, 0.1)))
        bad.append(("delta", (0.1, 0.1, value)))
    for value in (-0.1, math.nan, math.inf, "much", None):
        bad.append(("epsilon", (0.1, value, 0.1)))
    for name, target in bad:
        try:
            design(*target, family, **options)
        except ValueError as error:
            ensure(str(error).startswith(name), f"the refusal of {target} must name {name}, says {error}")
        else:
            raise AssertionError(f"design must refuse {target}: {name} is wrong")
    one, other = design(0.1, 1, 0.1, family, **options), design(0.1, 1.0, 0.1, family, **options)
    ensure(one == other, "design must not care whether a number is whole")
    for left, right in zip(_leaves(one), _leaves(other), strict=True):
        ensure(type(left) is type(right), f"design must coerce its numbers, got {left!r} and {right!r}")


def _leaves(parameters: Any) -> Iterable[Any]:
    for value in parameters:
        if isinstance(value, tuple):
            yield from _leaves(value)
        else:
            yield value


def check_algorithm(
    algorithm: Algorithm, reservoir: Reservoir, seed: int = 0, run: int = 0, most: int = 200_000
) -> Outcome:
    """Run an algorithm in every possible way, raise unless all agree bit for bit, and return the common outcome.

    Parameters
    ----------
    algorithm, reservoir
        The result of ``design``, and the law of the arms' means.
    seed, run
        The seed of a study, and the number of the run in it.
    most
        The most pulls of a run.

    Examples
    --------
    >>> from topalpha import design
    >>> from topalpha.reservoirs import Uniform
    >>> check_algorithm(design("kl-lucb", 0.1, 0.2, 0.1), Uniform(0.0, 0.95)).t > 30
    True
    """
    check_parameters(algorithm)
    ensure(isinstance(algorithm, Algorithm), f"{type(algorithm).__name__} must have every member of Algorithm")
    traits = algorithm.traits
    ensure(min(traits.columns, traits.width, algorithm.arms) >= 1, "columns, width and arms must be at least 1")
    ensure(isinstance(traits.name, str) and len(traits.name) > 0, "an algorithm must have a name")
    ensure(not traits.blocks or isinstance(algorithm, BlockAlgorithm), "an algorithm of blocks must have observe_block")
    plain, record = interpreted(algorithm, reservoir, seed, run, most)

    again, asked = searched(algorithm, reservoir, seed, run)
    check_same(plain, again, "interpreted and searched")
    ensure(record == asked, "a search must ask for the same pulls in the same order")
    forgetful, _ = searched(algorithm, reservoir, seed, run, forget=0.1)
    check_same(plain, forgetful, "searched with and without memory")
    check_same(plain, replayed(algorithm, record, seed, run), "interpreted and replayed")

    check_same(plain, compiled(algorithm, reservoir, seed, run), "interpreted and compiled")
    check_same(plain, compiled(algorithm, reservoir, seed, run, slices=1), "interpreted and compiled pull by pull")
    check_same(plain, compiled(algorithm, reservoir, seed, run, slices=97), "interpreted and compiled in slices")
    check_same(
        plain, compiled(algorithm, reservoir, seed, run, slices=23, forget=0.3), "compiled with and without memory"
    )
    return plain
