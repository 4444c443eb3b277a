"""Reward families: assumptions about the rewards of one arm."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from topalpha.families.bernoulli import Bernoulli
from topalpha.families.exponential import Exponential
from topalpha.families.gamma import Gamma
from topalpha.families.gaussian import Gaussian
from topalpha.families.low_variance import LowVariance
from topalpha.families.mirrored import Mirrored
from topalpha.families.normal import Normal
from topalpha.families.pass_fail import PassFail
from topalpha.families.poisson import Poisson
from topalpha.families.protocols import RewardFamily, RewardModel
from topalpha.validate import choice, plain, quoted, require, words

__all__ = [
    "FAMILIES",
    "MODELS",
    "Bernoulli",
    "Exponential",
    "Gamma",
    "Gaussian",
    "LowVariance",
    "Mirrored",
    "Normal",
    "PassFail",
    "Poisson",
    "checked",
    "checked_model",
    "describe",
    "parse_family",
    "read_numbers",
]

#: One-parameter families (or rewards that one dominates), each in the file of its name. Every algorithm takes them.
FAMILIES: dict[str, Any] = {
    name: getattr(import_module(f"topalpha.families.{name}"), name.title())
    for name in ("bernoulli", "gaussian", "poisson", "exponential", "gamma")
}

#: Every reward model by the name that :func:`parse_family` reads. The models after the one-parameter families have
#: bounds for cc-lucb and lucb++, and all but ``normal`` also have evidence for joint-lucb.
MODELS: dict[str, Any] = {
    **FAMILIES,
    "pass-fail": PassFail,
    "normal": Normal,
    "low-variance": LowVariance,
    "mirrored": Mirrored,
}

_SHAPE = "be a name with numbers, such as gamma(shape=2,highest=3)"


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
        if kind is PassFail:
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
    >>> describe(Gaussian(sigma=0.5)), describe(Bernoulli()), describe(Mirrored(Poisson(3.0)))
    ('gaussian(sigma=0.5)', 'bernoulli', 'mirrored(poisson(highest=3.0))')
    """
    names = {kind: name for name, kind in MODELS.items()}
    kind: Any = type(family)
    if kind not in names:
        return str(kind.__name__)
    if isinstance(family, Mirrored):
        return f"mirrored({describe(family.family)})"
    parameters = [
        f"{field}={getattr(family, field)!r}"
        for field in kind._fields
        if getattr(family, field) != kind._field_defaults.get(field)
    ]
    return names[kind] + (f"({','.join(parameters)})" if parameters else "")


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
