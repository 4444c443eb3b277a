"""Reward families: what is known about one arm's rewards."""

from __future__ import annotations

from topalpha.core import RewardFamily
from topalpha.families.bernoulli import Bernoulli
from topalpha.families.exponential import Exponential
from topalpha.families.gamma import Gamma
from topalpha.families.gaussian import Gaussian
from topalpha.families.poisson import Poisson
from topalpha.validate import choice, require

__all__ = [
    "FAMILIES",
    "Bernoulli",
    "Exponential",
    "Gamma",
    "Gaussian",
    "Poisson",
    "checked",
    "describe",
    "parse_family",
]

#: Every family by name; a name is what :func:`parse_family` reads.
FAMILIES: dict[str, type[Bernoulli | Gaussian | Poisson | Exponential | Gamma]] = {
    "bernoulli": Bernoulli,
    "gaussian": Gaussian,
    "poisson": Poisson,
    "exponential": Exponential,
    "gamma": Gamma,
}

_SHAPE = "be a name with numbers, such as gamma(shape=2,highest=3)"


def parse_family(text: str) -> Bernoulli | Gaussian | Poisson | Exponential | Gamma:
    """Read a family and its parameters from text such as ``gamma(shape=2,highest=3)`` or ``gamma(2,3)``.

    Examples
    --------
    >>> parse_family("gaussian(sigma=0.5)")
    Gaussian(sigma=0.5, highest=inf)
    >>> parse_family("laplace")
    Traceback (most recent call last):
    ValueError: family must be one of bernoulli, gaussian, poisson, exponential, gamma, got 'laplace'
    """
    name, opened, inside = text.strip().partition("(")
    kind = FAMILIES[choice("family", name.strip(), FAMILIES)]
    if opened:
        require(inside.endswith(")"), "family", _SHAPE, text)
    numbers = _parameters(text, kind._fields, inside.removesuffix(")"))
    missing = [field for field in kind._fields if field not in numbers and field not in kind._field_defaults]
    require(not missing, "family", f"say its {' and '.join(missing)}", text)
    family = kind(**numbers)
    family.check_parameters()
    return family


def _parameters(text: str, fields: tuple[str, ...], inside: str) -> dict[str, float]:
    """The numbers by field; those without a name come first, in the order of the fields."""
    numbers: dict[str, float] = {}
    named = False
    for place, part in enumerate(inside.split(",") if inside.strip() else []):
        field, equals, digits = part.rpartition("=")
        require(bool(equals) or (not named and place < len(fields)), "family", _SHAPE, text)
        named = named or bool(equals)
        field = field.strip() if equals else fields[place]
        require(field in fields, "family", f"have no parameters but {', '.join(fields)}", text)
        require(field not in numbers, "family", f"say its {field} once", text)
        try:
            numbers[field] = float(digits)
        except ValueError:
            raise ValueError(f"family must {_SHAPE}, got {text!r}") from None
    return numbers


def describe(family: RewardFamily) -> str:
    """The text from which :func:`parse_family` makes this family again; parameters at their defaults are left out.

    Examples
    --------
    >>> describe(Gaussian(sigma=0.5)), describe(Bernoulli())
    ('gaussian(sigma=0.5)', 'bernoulli')
    """
    names = {kind: name for name, kind in FAMILIES.items()}
    kind = type(family)
    if kind not in names:
        return kind.__name__
    parameters = [
        f"{field}={getattr(family, field)!r}"
        for field in kind._fields
        if getattr(family, field) != kind._field_defaults.get(field)
    ]
    return names[kind] + (f"({','.join(parameters)})" if parameters else "")


def checked(family: RewardFamily | None) -> RewardFamily:
    """The family, Bernoulli if there is none, with its parameters checked.

    Examples
    --------
    >>> checked(None)
    Bernoulli(highest=1.0)
    >>> checked(Gaussian(sigma=-1.0))
    Traceback (most recent call last):
    ValueError: sigma must be positive and finite, got -1.0
    """
    if family is None:
        return Bernoulli()
    require(isinstance(family, RewardFamily), "family", "be a reward family (parse_family reads one from text)", family)
    family.check_parameters()
    return family
