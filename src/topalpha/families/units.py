"""Reward models as users state them: their text, their units, and their translation for the algorithms.

Algorithms maximise, and know rewards in [0, 1] or of a few families. :func:`parse_family` reads a family from text,
:func:`describe` writes it. A :class:`Model` maps rewards in the user's units to those of a family and back, checks
them, and states the assumptions of the guarantee in plain words.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any, NamedTuple

from topalpha.families.bernoulli import Bernoulli
from topalpha.families.gamma import Gamma
from topalpha.families.gaussian import Gaussian
from topalpha.families.graded import Graded
from topalpha.families.low_variance import LowVariance
from topalpha.families.mirrored import Mirrored
from topalpha.families.normal import Normal
from topalpha.families.pass_fail import PassFail
from topalpha.families.protocols import RewardFamily, RewardModel
from topalpha.validate import choice, flag, plain, quoted, real, require, whole, words

#: One-parameter families (or rewards that one dominates), each in the file of its name. Every algorithm takes them.
FAMILIES: dict[str, Any] = {
    name: getattr(import_module(f"{__package__}.{name}"), name.title())
    for name in ("bernoulli", "gaussian", "poisson", "exponential", "gamma")
}

#: Every reward model by the name that :func:`parse_family` reads. The models after the one-parameter families have
#: bounds for cc-lucb and lucb++, and all but ``normal`` also have evidence for joint-lucb.
MODELS: dict[str, Any] = {
    **FAMILIES,
    "pass-fail": PassFail,
    "graded": Graded,
    "normal": Normal,
    "low-variance": LowVariance,
    "mirrored": Mirrored,
}

#: Models of which only the range of rewards is known, as :func:`reward_model` reads them.
RANGES = ("low-variance(lo,hi)", "range(lo,hi)")
# What a refusal names; whoever wants the others knows them.
_USEFUL = (*RANGES, "bernoulli", "normal", "gaussian(sigma)", "poisson", "exponential", "gamma(shape)")

_NAMES = {kind: name for name, kind in MODELS.items()}
_SHAPE = "be a name with numbers, such as gamma(shape=2,highest=3)"

# Families that still hold if a failed pull counts as the worst reward.
_BOUNDED = (Bernoulli, LowVariance, PassFail, Graded)
# Rewards from a finite set of items.
_ON_ITEMS = (PassFail, Graded)
_NOT_ROBUST = "for other laws the error is not controlled."


def parse_family(text: str) -> RewardModel:
    """Read a family and its parameters from text such as ``gamma(shape=2,highest=3)`` or ``gamma(2,3)``.

    Parameters
    ----------
    text
        A name, and in parentheses its parameters, by name or in their order; ``topalpha list`` prints all.

    Examples
    --------
    >>> parse_family("gaussian(sigma=0.5)")
    Gaussian(sigma=0.5, highest=inf)
    >>> parse_family("mirrored(poisson(3))")
    Mirrored(family=Poisson(highest=3.0))
    >>> parse_family("laplace")
    Traceback (most recent call last):
    ValueError: family must be one of bernoulli, gaussian, ..., mirrored, got 'laplace'
    """
    name, opened, inside = words("family", text).strip().partition("(")
    kind = MODELS[choice("family", name.strip(), MODELS)]
    if opened:
        require(inside.endswith(")"), "family", _SHAPE, text)
    family: RewardModel
    if kind is Mirrored:
        require(bool(opened), "family", "name the mirrored family, as in mirrored(poisson(3))", text)
        try:
            family = Mirrored(checked(parse_family(inside.removesuffix(")"))))
        except RecursionError:
            raise ValueError(f"family must be nested less deeply, got {quoted(text)}") from None
    else:
        numbers: dict[str, Any] = read_numbers(text, kind._fields, inside.removesuffix(")"))
        missing = [field for field in kind._fields if field not in numbers and field not in kind._field_defaults]
        require(not missing, "family", f"give its {' and '.join(missing)}", text)
        if kind in _ON_ITEMS:
            items = numbers["items"]
            numbers["items"] = int(items) if items.is_integer() else items
        family = kind(**numbers)
    family.check_parameters()
    return family


def read_numbers(text: str, fields: tuple[str, ...], inside: str) -> dict[str, float]:
    """The numbers by field; numbers without a name come first, in the order of the fields.

    Examples
    --------
    >>> read_numbers("gamma(2,highest=3)", ("shape", "highest"), "2,highest=3")
    {'shape': 2.0, 'highest': 3.0}
    """
    numbers: dict[str, float] = {}
    named = False
    for place, part in enumerate(inside.split(",") if inside.strip() else []):
        field, equals, digits = part.rpartition("=")
        require(bool(equals) or (not named and place < len(fields)), "family", _SHAPE, text)
        named = named or bool(equals)
        field = field.strip() if equals else fields[place]
        require(field in fields, "family", f"have no parameters except {', '.join(fields)}", text)
        require(field not in numbers, "family", f"give its {field} once", text)
        try:
            numbers[field] = float(digits)
        except ValueError:
            raise ValueError(f"family must {_SHAPE}, got {text!r}") from None
    return numbers


def describe(family: RewardModel) -> str:
    """The text from which :func:`parse_family` builds this family again; parameters at their defaults are left out.

    Examples
    --------
    >>> describe(Gaussian(sigma=0.5)), describe(Bernoulli()), describe(parse_family("mirrored(poisson(3))"))
    ('gaussian(sigma=0.5)', 'bernoulli', 'mirrored(poisson(highest=3.0))')
    """
    kind: Any = type(family)
    if kind not in _NAMES:
        return str(kind.__name__)
    if isinstance(family, Mirrored):
        return f"mirrored({describe(family.family)})"
    parameters = [
        f"{field}={getattr(family, field)!r}"
        for field in kind._fields
        if getattr(family, field) != kind._field_defaults.get(field)
    ]
    return _NAMES[kind] + (f"({','.join(parameters)})" if parameters else "")


def checked_model(family: RewardModel | None) -> RewardModel:
    """The model, Bernoulli by default, with its parameters checked.

    Examples
    --------
    >>> checked_model(None)
    Bernoulli(highest=1.0)
    >>> checked_model(PassFail(0))
    Traceback (most recent call last):
    ValueError: items must be a whole number of at least 1, got 0
    """
    if family is None:
        return Bernoulli()
    made = isinstance(family, RewardModel) and not isinstance(family, type)
    require(made, "family", "be a reward family (parse_family reads one from text)", family)
    family.check_parameters()
    own: RewardModel = _plain(family)
    return own


def _plain(family: Any) -> Any:
    """The same family with plain Python numbers as parameters, for :func:`describe`."""
    if isinstance(family, Mirrored):
        inner = _plain(family.family)
        return family if inner is family.family else Mirrored(inner)
    given = {name: getattr(family, name) for name in getattr(family, "_fields", ())}
    own = {name: plain(value) for name, value in given.items() if plain(value) is not value}
    return family._replace(**own) if own else family


def checked(family: RewardModel | None) -> RewardFamily:
    """The family, Bernoulli by default, with its parameters checked; it must be a one-parameter family.

    Examples
    --------
    >>> checked(Normal())
    Traceback (most recent call last):
    ValueError: family must be a one-parameter family for this algorithm; use cc-lucb, got 'normal'
    """
    model = checked_model(family)
    if not isinstance(model, RewardFamily):
        condition = "be a one-parameter family for this algorithm; use cc-lucb"
        raise ValueError(f"family must {condition}, got {describe(model)!r}")
    return model


def unit_rewards(family: RewardModel | None) -> Bernoulli:
    """Bernoulli rewards, whose bounds cover all rewards in [0, 1], as Hoeffding's inequality does.

    Examples
    --------
    >>> unit_rewards(Gaussian(0.5))
    Traceback (most recent call last):
    ValueError: family must be bernoulli, which covers all rewards in [0, 1], got 'gaussian(sigma=0.5)'
    """
    model = checked_model(family)
    if not isinstance(model, Bernoulli):
        raise ValueError(f"family must be bernoulli, which covers all rewards in [0, 1], got {describe(model)!r}")
    return model


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

    def check_epsilon(self, epsilon: float) -> None:
        """Raise ``ValueError`` unless two means can be further apart than this.

        Examples
        --------
        >>> reward_model().check_epsilon(5.0)
        Traceback (most recent call last):
        ValueError: epsilon must be smaller than the range of rewards, [0, 1], got 5.0; another range is stated as
        low-variance(lo,hi) or range(lo,hi)
        """
        if isinstance(self.family, _BOUNDED):
            low, high = self._range()
            if not epsilon < high - low:
                words = f"be smaller than the range of rewards, [{low:g}, {high:g}]"
                raise ValueError(f"epsilon must {words}, got {quoted(epsilon)}{self.other_range}")

    @property
    def other_range(self) -> str:
        """A clause for errors: how to state another range of rewards. Empty without a range."""
        ranged = isinstance(self.family, Bernoulli | LowVariance)
        return f"; another range is stated as {' or '.join(RANGES)}" if ranged else ""

    def check(self, reward: float) -> None:
        """Raise ``ValueError``, in the user's units, unless the reward is possible."""
        number = real("reward", reward)
        if isinstance(self.family, Bernoulli | LowVariance | Graded):
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
    if isinstance(family, PassFail | Graded):
        order = "in its own random order; the claim is about the score on these items."
        ends = f" from {low:g} to {high:g}" if isinstance(family, Graded) else ""
        return f"Each candidate is scored{ends} on the same {family.items} items, {order}"
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
        The size of the test set, for ``pass-fail``, its default, and ``graded`` or ``graded(lo,hi)``: scores in [0, 1] or
        from lo to hi.

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
    if isinstance(inner, _ON_ITEMS):
        return Model(inner, high, low - high, text)
    if isinstance(inner, Gaussian | Normal):
        return Model(Gaussian(inner.sigma) if isinstance(inner, Gaussian) else inner, 0.0, -1.0, text)
    require(not isinstance(inner, Mirrored), "family", "not be mirrored if minimise is set", text)
    return Model(Mirrored(checked(inner)), 0.0, -1.0, text)


def _read(family: str | RewardModel | None, items: int | None) -> tuple[RewardModel, float, float, str]:
    """The family, its 0 and 1 in the user's units, and the text of the model."""
    if items is not None:
        return _read_on_items(family, whole("items", items))
    if not isinstance(family, str):
        model_given = checked_model(family)
        return model_given, 0.0, 1.0, describe(model_given)
    name, opened, inside = family.strip().partition("(")
    name = name.strip()
    if name == "range" or (name == "low-variance" and opened and "highest" not in inside):
        low, high = _read_range(family, name, inside)
        law: RewardModel = Bernoulli() if name == "range" else LowVariance()
        return law, low, high, f"{name}(lo={low!r},hi={high!r})"
    require(name in MODELS, "family", f"be one of {', '.join(_USEFUL)}", family)
    parsed = parse_family(family)
    return parsed, 0.0, 1.0, describe(parsed)


def _read_range(text: str, name: str, inside: str) -> tuple[float, float]:
    """The two ends of the range in a text such as ``range(0,20)``."""
    require(inside.endswith(")"), "family", f"be {name}(lo,hi) with two numbers", text)
    try:
        ends = read_numbers(text, ("lo", "hi"), inside.removesuffix(")"))
    except ValueError:
        ends = {}
    require(len(ends) == 2, "family", f"be {name}(lo,hi) with two numbers", text)
    low, high = ends["lo"], ends["hi"]
    finite = -math.inf < low < high < math.inf and high - low < math.inf
    require(finite, "family", "have a finite range with lo below hi", text)
    return low, high


def _read_on_items(family: str | RewardModel | None, items: int) -> tuple[RewardModel, float, float, str]:
    """The model of scores on a test set: pass or fail unless they are graded."""
    name, opened, inside = family.strip().partition("(") if isinstance(family, str) else ("", "", "")
    graded = name.strip() == "graded" or isinstance(family, Graded)
    model: RewardModel = Graded(items) if graded else PassFail(items)
    model.check_parameters()
    if graded and "," in inside:
        low, high = _read_range(str(family), "graded", inside)
        return model, low, high, f"graded(lo={low!r},hi={high!r})"
    given: Any = parse_family(family) if isinstance(family, str) and opened else family
    named = given is None or (not opened and name.strip() in ("pass-fail", "graded"))
    same = named or (type(given) is type(model) and given == model)
    require(same, "family", f"be pass-fail, graded or graded(lo,hi) for {items} items", family)
    return model, 0.0, 1.0, describe(model)
