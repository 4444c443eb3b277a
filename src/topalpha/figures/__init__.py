"""Pictures of searches, reservoirs and studies, by matplotlib (the extra ``plot``), which each call loads.

Every function returns the axes that it drew on: the given axes, or new ones. Parts of a picture differ in colour, and
also in marker, dash or hatching. Arms are candidates, pulls are evaluations.

=====================  =======================================================================
:func:`intervals`      the bounds of all arms, the leader, its challengers, and the line
:func:`pulls`          the number of pulls of each arm
:func:`race`           the leader and its rivals against the pulls spent
:func:`claims_curve`   the proved epsilon for each alpha
:func:`difference`     of a duel: the interval for the difference, closing
:func:`reservoir`      a reservoir and its blocks of measure alpha
:func:`sweep`          pulls against delta, alpha or epsilon, with lower bounds
:func:`errors`         errors against delta, with exact intervals
=====================  =======================================================================

:func:`new_axes` makes axes outside any window, :func:`save` writes a picture to a file, :func:`svg` to a page.

>>> from topalpha import search
>>> from topalpha.figures import intervals, new_axes
>>> found = search(lambda rng: rng.random(), lambda p, rng: float(rng.random() < p), alpha=0.2, epsilon=0.2,
...                progress="none")
>>> axes = intervals(found, axes=new_axes())
>>> axes.get_xlabel()
'arms by rank, the largest mean first'
"""

from topalpha.figures.all_arms import intervals, pulls
from topalpha.figures.canvas import new_axes, save, svg
from topalpha.figures.certified_curve import claims_curve
from topalpha.figures.difference import difference
from topalpha.figures.error_rates import errors
from topalpha.figures.race import race
from topalpha.figures.reservoirs import reservoir
from topalpha.figures.sweep import sweep

#: The pictures of a single search, by their names on the command line.
KINDS = {"race": race, "intervals": intervals, "pulls": pulls, "claims": claims_curve, "difference": difference}

__all__ = [
    "KINDS",
    "canvas",
    "claims_curve",
    "difference",
    "errors",
    "intervals",
    "new_axes",
    "pulls",
    "race",
    "reservoir",
    "save",
    "studies",
    "style",
    "svg",
    "sweep",
]
