"""The task of a search: its target and its assumptions about rewards, ready for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

from topalpha.families.units import Model
from topalpha.former_rules import RULES, SUBSTITUTES, rules_module
from topalpha.rules.protocol import Algorithm
from topalpha.validate import (
    LONGEST_LIST,
    choice,
    flag,
    fraction,
    number_in,
    plain,
    positive,
    require,
    seed_number,
    suggesting,
    whole,
    words,
)

#: Actions for a pull that gives no reward.
ON_ERROR = ("raise", "retry", "worst")
#: Actions for a pull that began and never answered.
ON_LOST = ("again", "worst")


@dataclass(frozen=True)
class Task:
    """A target and the assumptions under which it is to be reached.

    Attributes
    ----------
    alpha, epsilon, delta
        The target: a mean within epsilon of the top alpha fraction, with probability at least 1 - delta.
    family
        The reward model, as text: ``bernoulli``, ``range(-1,3)``, ``normal``, ...
    minimise
        Whether small rewards (costs, losses) are good.
    algorithm, options
        The algorithm and its options; by default the one that suits the rewards.
    pool
        The size of a finite list of candidates; 0 for an endless pool.
    items
        The size of a finite test set; 0 if there is none.
    seed
        Seed of all random choices.
    about
        The law that the claim is about, in words, for the certificate.
    on_error
        What happens to a pull that fails: ``raise``, ``retry`` or count the ``worst`` reward.
    on_lost
        What happens to a pull that began and never answers: evaluate it ``again``, or count the ``worst`` case in its
        arm's upper bound and in its lower bound.
    rules
        The number of the rules that decide: those of today, or those that a record was made by.

    Examples
    --------
    >>> task = Task(0.05, 2.0, 0.05, family="range(0,100)", algorithm="cc-lucb")
    >>> task.design().epsilon, task.design().arms
    (0.02, 114)
    >>> Task.from_dict(task.to_dict()) == task
    True
    """

    alpha: float
    epsilon: float
    delta: float
    family: str = "bernoulli"
    minimise: bool = False
    algorithm: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    pool: int = 0
    items: int = 0
    seed: int = 0
    about: str = ""
    on_error: str = "raise"
    on_lost: str = "again"
    rules: int = RULES

    def __post_init__(self) -> None:
        named = isinstance(self.options, Mapping) and all(isinstance(name, str) for name in self.options)
        require(named, "options", "be a mapping of names to values", self.options)
        known = type(self.rules) is int and self.rules in (*SUBSTITUTES, RULES)
        require(known, "rules", f"be a whole number from 1 to {RULES}, or topalpha newer", self.rules)
        checked = {
            "alpha": fraction("alpha", self.alpha),
            # A whole number stays whole, as in files.
            "epsilon": self.epsilon if type(self.epsilon) is int else positive("epsilon", self.epsilon),
            "delta": fraction("delta", self.delta),
            "family": words("family", self.family),
            "minimise": flag("minimise", self.minimise),
            "algorithm": words("algorithm", self.algorithm),
            "options": plain(self.options),
            "pool": whole("pool", self.pool, 0, LONGEST_LIST),
            "items": whole("items", self.items, 0),
            "seed": seed_number("seed", self.seed),
            "about": words("about", self.about),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        require("pool" not in self.options, "options", "not name a pool, which is the size of the list", self.options)
        if not self.algorithm:
            object.__setattr__(self, "algorithm", self._algorithms.default_for(self.model.family))
        choice("on_error", self.on_error, ON_ERROR)
        choice("on_lost", self.on_lost, ON_LOST)
        self.design()  # an impossible one is refused here
        if self.on_error == "worst":
            bounded = self.model.worst is not None
            require(bounded, "on_error", f"be raise or retry: {self.model.text} rewards have no worst value", "worst")

    def __getstate__(self) -> dict[str, Any]:
        # The model and the design follow from the fields: a later version must not find those of this one in a pickle.
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Tasks were pickled before their rules had a number.
        self.__dict__.update({"rules": 1} | state)

    @property
    def _algorithms(self) -> Any:
        return rules_module(self.rules, "algorithms")

    @cached_property
    def model(self) -> Model:
        """The conversion of rewards into the algorithm's."""
        units = rules_module(self.rules, "families.units")
        found: Model = units.reward_model(self.family, minimise=self.minimise, items=self.items or None)
        return found

    def design(self) -> Algorithm:
        """The algorithm for this target."""
        return self._designed

    @cached_property
    def _designed(self) -> Algorithm:
        options = dict(self.options)
        if self.pool > 0:
            options["pool"] = self.pool
            finite = "pool" in self._algorithms.entry(self.algorithm).defaults
            require(finite, "draw", f"be a function for {self.algorithm}, which has no proof for a list", self.pool)
        if self._algorithms.entry(self.algorithm).knowledge is not None:
            plain = self.model.factor == 1.0 and self.model.offset == 0.0
            words = f"be plain for {self.algorithm}, whose options are in the units of its rewards"
            require(plain and not self.minimise, "family", words, self.family)
        epsilon = self.model.epsilon(positive("epsilon", self.epsilon))
        target = self.alpha, epsilon, self.delta, self.model.family
        algorithm: Algorithm = self._algorithms.design(self.algorithm, *target, **options)
        if self.on_lost == "worst":
            algorithm = rules_module(self.rules, "algorithms.enduring").enduring(algorithm)
        return algorithm

    @property
    def law(self) -> str:
        """The subject of the claim, in words."""
        if self.about:
            return self.about
        if self.pool == 1:
            return "the list of 1 candidate"
        return f"the list of {self.pool} candidates" if self.pool else "the pool"

    @property
    def proof(self) -> str:
        """The place of the algorithm's proof."""
        proof: str = self._algorithms.entry(self.algorithm).proof
        return proof

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON, without what records had no entry for at first: ``on_lost="again"``, ``rules=1``."""
        values = asdict(self)
        if self.on_lost == "again":
            del values["on_lost"]
        if self.rules == 1:
            del values["rules"]
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Task:
        """The task from the result of :meth:`to_dict`, also from records made before inputs were checked."""
        known = {one.name for one in fields(cls)}
        missing = {"alpha", "epsilon", "delta"} - set(values)
        require(set(values) <= known and not missing, "task", f"have the entries {', '.join(sorted(known))}", values)
        return cls(**{"rules": 1} | {name: _understood(name, value) for name, value in values.items()})


Task.__init__ = suggesting(Task.__init__)  # type: ignore[method-assign]


def _understood(name: str, value: Any) -> Any:
    """A recorded value as it was interpreted: numbers could be text, and any true value was True."""
    if name == "options" and isinstance(value, Mapping):
        return {option: _understood("", one) for option, one in value.items()}
    if name == "minimise":
        return bool(value)
    if name == "about":
        return str(value) if value else ""
    if name in ("", "alpha", "epsilon", "delta") and isinstance(value, str):
        with suppress(ValueError):
            return number_in(name, value)
    return value
