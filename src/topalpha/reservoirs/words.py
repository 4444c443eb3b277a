"""Reservoirs in words, for titles of pictures and tables."""

from __future__ import annotations

from topalpha.reservoirs.atoms import Atomic, Dirac, TwoPoint
from topalpha.reservoirs.base import Reservoir, number
from topalpha.reservoirs.item_scores import Scores
from topalpha.reservoirs.mixture import Mixture
from topalpha.reservoirs.smooth import Beta, Uniform
from topalpha.reservoirs.text import parse
from topalpha.reservoirs.truncated import Clipped, Conditioned
from topalpha.validate import share

#: The most means that are named one by one.
NAMED = 4


def in_words(reservoir: Reservoir | str) -> str:
    """A reservoir, or the text of one, in words; a text that is not the notation of a reservoir stays as it is.

    Parameters
    ----------
    reservoir
        A reservoir, or text as :func:`topalpha.parse_reservoir` reads it.

    Examples
    --------
    >>> in_words("conditioned(beta(1,2),0.95)")
    'Beta(1,2) up to 0.95'
    >>> in_words("two-point(0.5,0.65,0.12)"), in_words("dirac(0.5)")
    ('12% at 0.65, the rest at 0.5', 'all at 0.5')
    >>> in_words("mixture(0.9*uniform(0,0.4),0.1*dirac(0.8))")
    '90% Uniform(0,0.4), 10% at 0.8'
    >>> in_words("clipped(discrete(0.1,0.3,0.4,0.7,0.9),0.8)")
    '5 means from 0.1 to 0.9, clipped at 0.8'
    """
    if isinstance(reservoir, Reservoir):
        return _words(reservoir)
    try:
        return _words(parse(reservoir))
    except ValueError:
        return reservoir


def _words(law: Reservoir) -> str:
    if isinstance(law, Beta):
        return f"Beta({number(law.a)},{number(law.b)})"
    if isinstance(law, Uniform):
        return f"Uniform({number(law.low)},{number(law.high)})"
    if isinstance(law, Dirac):
        return f"all at {number(law.at)}"
    if isinstance(law, TwoPoint):
        return f"{share(law.probability)} at {number(law.high)}, the rest at {number(law.low)}"
    if isinstance(law, Atomic):
        return _means(law)
    if isinstance(law, Mixture):
        return ", ".join(_part(weight, part) for weight, part in zip(law.weights, law.parts, strict=True))
    if isinstance(law, Conditioned):
        return f"{_inner(law.base)} up to {number(law.at_most)}"
    if isinstance(law, Clipped):
        return f"{_inner(law.base)} clipped at {number(law.at_most)}"
    if isinstance(law, Scores):
        return f"scores on {law.items:,} items, of rates {_words(law.rates)}"
    return law.expression or type(law).__name__


def _inner(law: Reservoir) -> str:
    """The words for a base, with a comma where they have several parts."""
    return _words(law) + ("," if isinstance(law, Atomic | Mixture) and not isinstance(law, Dirac) else "")


def _part(weight: float, law: Reservoir) -> str:
    return f"{share(weight)} {_words(law).removeprefix('all ')}"


def _means(law: Atomic) -> str:
    """The means and their shares; of many only the range."""
    means = law.atoms
    if len(means) > NAMED:
        return f"{len(means):,} means from {number(means[0])} to {number(means[-1])}"
    return ", ".join(f"{share(law.cdf(mean) - law.cdf_left(mean))} at {number(mean)}" for mean in means)
