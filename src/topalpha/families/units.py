"""Reward models in the user's units, and their translation for the algorithms.

Algorithms maximise, and know rewards in [0, 1] or of a few families. A :class:`Model` maps rewards in the user's units
to those of a family and back, checks them, and states the assumptions of the guarantee in plain words.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from topalpha.families import (
    Bernoulli,
    Gamma,
    Gaussian,
    LowVariance,
    Mirrored,
    Normal,
    PassFail,
    checked,
    checked_model,
    describe,
    parse_family,
    read_numbers,
)
from topalpha.families.protocols import RewardModel
from topalpha.validate import flag, real, require, whole

# Families that still hold if a failed pull counts as the worst reward.
_BOUNDED = (Bernoulli, LowVariance, PassFail)
_NOT_ROBUST = "for other laws the error is not controlled."


class Model(NamedTuple):
    """A family of rewards in the user's units; build it with :func:`reward_model`.

    The family's reward is (reward - offset) / factor; the factor is negative if rewards are minimised.
    :func:`reward_model` builds the same model from ``text`` and ``minimise``.

    Examples
    --------
    >>> model = reward_model("range(0,20)", minimise=True)
    >>> model.to_internal(5.0), model.to_user(0.75), model.epsilon(1.0), model.worst
    (0.75, 5.0, 0.05, 20.0)
    >>> model.assumptions
    ('Rewards lie in [0, 20]; nothing else is assumed about their law.',)
    """

    family: RewardModel
    offset: float
    factor: float
    text: str

    @property
    def minimise(self) -> bool:
        """Whether rewards are minimised."""
        return self.factor < 0.0

    @property
    def worst(self) -> float | None:
        """The worst possible reward, as which a failed pull may count; None if that would leave the family."""
        return self.offset if isinstance(self.family, _BOUNDED) else None

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions of the guarantee, in sentences."""
        family = self.family.family if isinstance(self.family, Mirrored) else self.family
        sentence = _law(family, *self._range())
        if isinstance(self.family, Mirrored) and not self.minimise:
            sentence = sentence.replace("Rewards follow", "Rewards, with the sign reversed, follow")
        limit = 1.0 if isinstance(family, _BOUNDED) else math.inf
        if family.highest < limit:  # never with a flipped range: see reward_model
            turned = isinstance(self.family, Mirrored) and not self.minimise
            side = f"is below {-family.highest:g}" if turned else f"exceeds {family.highest:g}"
            return sentence, f"No candidate's mean {side}."
        return (sentence,)

    def to_internal(self, reward: float) -> float:
        """The reward in the family's units."""
        return (reward - self.offset) / self.factor + 0.0  # never -0.0

    def to_user(self, mean: float) -> float:
        """A mean of the family in the user's units."""
        return self.offset + self.factor * mean

    def epsilon(self, epsilon: float) -> float:
        """A distance between means, in the family's units."""
        return epsilon / abs(self.factor)

    def check(self, reward: float) -> None:
        """Raise ``ValueError``, in the user's units, unless the reward is possible."""
        number = real("reward", reward)
        if isinstance(self.family, Bernoulli | LowVariance):
            low, high = self._range()
            require(low <= number <= high, "reward", f"lie in [{low:g}, {high:g}]", reward)
        elif isinstance(self.family, Mirrored) and self.minimise:
            self.family.family.check(number)
        else:  # normal and pass-fail rewards stay such rewards when flipped
            self.family.check(number)

    def _range(self) -> tuple[float, float]:
        """The family's 0 and 1 in the user's units, the smaller first."""
        ends = (self.offset, self.offset + self.factor)
        return min(ends), max(ends)


def _law(family: RewardModel, low: float, high: float) -> str:
    """The assumption about the law of a candidate's rewards."""
    if isinstance(family, PassFail):
        order = "in its own random order; the claim is about the score on these items."
        return f"Each candidate is scored on the same {family.items} items, {order}"
    if isinstance(family, Bernoulli | LowVariance):
        return f"Rewards lie in [{low:g}, {high:g}]; nothing else is assumed about their law."
    if isinstance(family, Gaussian):
        return f"Rewards are normal, or sub-Gaussian, with standard deviation {family.sigma:g} or less."
    if isinstance(family, Normal):
        return f"Rewards are normal with one unknown variance per candidate; {_NOT_ROBUST}"
    if isinstance(family, Gamma):
        return f"Rewards follow a gamma law of shape {family.shape:g}; {_NOT_ROBUST}"
    return f"Rewards follow a law of the family {describe(family).partition('(')[0]}; {_NOT_ROBUST}"


def reward_model(family: str | RewardModel | None = None, *, minimise: bool = False, items: int | None = None) -> Model:
    """Build a model from the user's description of the rewards.

    Parameters
    ----------
    family
        A family, or text that :func:`topalpha.parse_family` reads, Bernoulli by default. Two more texts are
        ``range(lo,hi)``, rewards of which only the range is known, and ``low-variance(lo,hi)``.
    minimise
        Whether to minimise rewards. A ``highest`` mean of rewards in [0, 1] or of Gaussian rewards then does not help the
        bounds, and is ignored.
    items
        The size of the test set, for ``pass-fail``.

    Examples
    --------
    >>> reward_model().family
    Bernoulli(highest=1.0)
    >>> reward_model("poisson(3)", minimise=True)
    Model(family=Mirrored(family=Poisson(highest=3.0)), offset=0.0, factor=-1.0, text='poisson(highest=3.0)')
    >>> reward_model(items=200).assumptions[0]
    'Each candidate is scored on the same 200 items, in its own random order; the claim is about the score on these items.'
    """  # noqa: E501 - the sentence is one line
    inner, low, high, text = _read(family, items)
    if not flag("minimise", minimise):
        return Model(inner, low, high - low, text)
    if isinstance(inner, Bernoulli | LowVariance):
        return Model(type(inner)(), high, low - high, text)
    if isinstance(inner, PassFail):
        return Model(inner, 1.0, -1.0, text)
    if isinstance(inner, Gaussian | Normal):
        return Model(Gaussian(inner.sigma) if isinstance(inner, Gaussian) else inner, 0.0, -1.0, text)
    require(not isinstance(inner, Mirrored), "family", "not be mirrored if minimise is set", text)
    return Model(Mirrored(checked(inner)), 0.0, -1.0, text)


def _read(family: str | RewardModel | None, items: int | None) -> tuple[RewardModel, float, float, str]:
    """The family, its 0 and 1 in the user's units, and the text of the model."""
    if items is not None:
        model = PassFail(whole("items", items))
        model.check_parameters()
        same = family is None or family == model or (isinstance(family, str) and _names(family, model))
        require(same, "family", f"be {describe(model)} or left out if items is {items}", family)
        return model, 0.0, 1.0, describe(model)
    if not isinstance(family, str):
        model_given = checked_model(family)
        return model_given, 0.0, 1.0, describe(model_given)
    name, opened, inside = family.strip().partition("(")
    name = name.strip()
    if name == "range" or (name == "low-variance" and opened and "highest" not in inside):
        require(inside.endswith(")"), "family", f"be {name}(lo,hi) with two numbers", family)
        ends = read_numbers(family, ("lo", "hi"), inside.removesuffix(")"))
        require(len(ends) == 2, "family", f"be {name}(lo,hi) with two numbers", family)
        low, high = ends["lo"], ends["hi"]
        finite = -math.inf < low < high < math.inf and high - low < math.inf
        require(finite, "family", "have a finite range with lo below hi", family)
        law: RewardModel = Bernoulli() if name == "range" else LowVariance()
        return law, low, high, f"{name}(lo={low!r},hi={high!r})"
    parsed = parse_family(family)
    return parsed, 0.0, 1.0, describe(parsed)


def _names(text: str, model: PassFail) -> bool:
    """Whether the text names this model, or leaves its size open."""
    return text.strip() == "pass-fail" or (text.strip().startswith("pass-fail") and parse_family(text) == model)
