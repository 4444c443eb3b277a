"""Reservoirs, which arms (candidates) are drawn from: laws of the arms' means, on the host only.

>>> from topalpha.reservoirs import parse
>>> round(parse("beta(1,2)", at_most=0.95).top(0.05), 12)
0.771144150173
"""

from topalpha.reservoirs.atoms import Dirac, Discrete, Empirical, TwoPoint
from topalpha.reservoirs.base import SAME_HEIGHT, Reservoir
from topalpha.reservoirs.item_scores import Scores
from topalpha.reservoirs.mixture import Mixture
from topalpha.reservoirs.smooth import Beta, Scipy, Uniform
from topalpha.reservoirs.text import parse
from topalpha.reservoirs.truncated import Clipped, Conditioned
from topalpha.reservoirs.words import in_words

__all__ = [
    "SAME_HEIGHT",
    "Beta",
    "Clipped",
    "Conditioned",
    "Dirac",
    "Discrete",
    "Empirical",
    "Mixture",
    "Reservoir",
    "Scipy",
    "Scores",
    "TwoPoint",
    "Uniform",
    "in_words",
    "parse",
    "text",
]
