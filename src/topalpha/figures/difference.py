"""The interval for the difference of two candidates, closing while a duel goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topalpha.algorithms.duel import Duel
from topalpha.confidence.pairs import bet
from topalpha.figures.canvas import Axes, chosen, dressed, patch, sample
from topalpha.figures.style import BLACK, LEADER, TARGET
from topalpha.standing import Source, origin_of
from topalpha.validate import require

# Margins that are compared; a finer grid would not be seen.
_GRID = np.linspace(-1.0, 1.0, 1001)


def advantages(differences: Sequence[float], parts: Mapping[float, float], needed: float, items: int) -> NDArray[Any]:
    """After each difference the least margin of the grid that the wealth has rejected: an upper bound, never rising.

    Examples
    --------
    >>> bounds = advantages([-1.0] * 30, {0.05: 1.0}, 20.0, 100)
    >>> bool(bounds[0] > bounds[10] > bounds[29] < 0.0)
    True
    """
    wealth = np.array(list(parts.values()))[:, None] * np.ones(len(_GRID))
    total, squares, bound, found = 0.0, 0.0, 1.0, []
    for seen, difference in enumerate(differences):
        left = (items * _GRID - total) / (items - seen)
        most = 0.9 / np.maximum(1.0 - left, 1e-12)
        for place, target in enumerate(parts):
            size = np.minimum(bet(target, total, squares, seen, items), most)
            wealth[place] *= np.where(left > 1.0, np.inf, 1.0 + size * (left - difference))
        rejected = np.flatnonzero(wealth.sum(axis=0) >= needed)
        total += difference
        squares += difference * difference
        if len(rejected):
            bound = min(bound, float(_GRID[rejected[0]]))
        if seen + 1 == items:
            bound = total / items
        found.append(bound)
    return np.array(found)


def difference(source: Source, name: str | None = None, *, axes: Axes | None = None) -> Axes:
    """The score of the second candidate less that of the first: its interval while a duel goes on.

    Parameters
    ----------
    source, name
        As for :func:`topalpha.standing.standing`: a duel, its file, or its verdict.
    axes
        Where to draw; a new pyplot figure unless given.

    Examples
    --------
    >>> from topalpha import duel
    >>> from topalpha.figures import difference, new_axes
    >>> found = duel(2, 5, range(1, 101), lambda divisor, number: number % divisor == 0, seed=0, progress="none")
    >>> difference(found, axes=new_axes()).get_xlabel()
    'examples that both were evaluated on'
    """
    search = origin_of(source, name).present()
    algorithm: Any = search.algorithm
    require(isinstance(algorithm, Duel), "source", "be a duel", search.traits.name)
    history, one = search.history, algorithm.first - 1
    apart = algorithm.differences(history, one, 1 - one) if history.arms == 2 else []
    require(len(apart) > 0, "source", "have an example that both candidates were evaluated on", 0)
    unit, items, seen = abs(search.model.factor), algorithm.items, np.arange(1, len(apart) + 1)
    high = unit * advantages(apart, algorithm.parts(one), algorithm.needed, items)
    low = -unit * advantages([-value for value in apart], algorithm.parts(1 - one), algorithm.needed, items)
    axes = chosen(axes)
    axes.fill_between(seen, low, high, linewidth=0.0, **LEADER.area)
    axes.plot(seen, unit * np.cumsum(apart) / seen, linewidth=1.8, **LEADER.line)
    axes.axhline(0.0, color=BLACK, linewidth=1.0)
    asked = (-algorithm.margin,) if algorithm.gate else (-algorithm.epsilon, algorithm.epsilon)
    for level in asked:
        axes.axhline(unit * level, linewidth=1.2, **TARGET.line)
    axes.set_xlim(0.0, len(apart) * 1.02)
    begin = len(apart) // 15  # at first the interval is all there is
    lowest = min(float(low[begin]), unit * asked[0])
    highest = max(float(high[begin]), unit * asked[-1])
    room = 0.1 * (highest - lowest)
    axes.set_ylim(lowest - room, highest + room)
    word = "margin" if algorithm.gate else "ε"
    handles = [
        sample("difference so far", linewidth=1.8, **LEADER.line),
        patch("its interval", **LEADER.area),
        sample(f"{word} = {unit * abs(asked[-1]):g}", linewidth=1.2, **TARGET.line),
    ]
    title = f"{len(apart):,} of {items:,} examples: the second candidate's score less the first's"
    return dressed(axes, title, "examples that both were evaluated on", "difference of scores", handles, 3)
