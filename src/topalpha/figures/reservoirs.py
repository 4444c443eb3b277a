"""A reservoir with its partition into blocks of measure alpha: the paper's Figure 1."""

from __future__ import annotations

import math

import numpy as np

from topalpha.figures.canvas import Axes, Numbers, bars, chosen, dressed, note, patch, sample
from topalpha.figures.style import BLUE, GREY, LEADER, LINE, VERMILION, paler
from topalpha.reservoirs import Reservoir, in_words, parse
from topalpha.theory import partition
from topalpha.validate import fraction, real, require

#: The number of points of the curve, and the most blocks that are shaded and named.
POINTS, BLOCKS = 600, 40


def reservoir(law: Reservoir | str, alpha: float = 0.1, epsilon: float = 0.0, *, axes: Axes | None = None) -> Axes:
    """The distribution function G of an arm's mean, cut into blocks of measure alpha from the top.

    Each step of alpha on the vertical axis gives, through G, a block S¹, S², ... of arms; the last one may be smaller.
    If there are very many blocks, only the top ones are shown, and the title says so. The boundaries are b_0 = μ* and
    b_i = G^{-1}(1 - i α) (:func:`topalpha.theory.partition`). An (alpha, delta)-correct algorithm must find S¹; with an
    epsilon, means down to the line before it are acceptable too.

    Parameters
    ----------
    law
        A reservoir, or text that :func:`topalpha.parse_reservoir` reads.
    alpha, epsilon
        The target.
    axes
        Where to draw; a new pyplot figure unless given.

    Examples
    --------
    >>> from topalpha.figures import new_axes, reservoir
    >>> reservoir("beta(1,2)", 0.2, axes=new_axes()).get_ylabel()
    'G, the fraction of arms with at most this mean'
    """
    law = parse(law) if isinstance(law, str) else law
    require(isinstance(law, Reservoir), "law", "be a Reservoir or the text of one", law)
    alpha, epsilon = fraction("alpha", alpha), real("epsilon", epsilon)
    require(0.0 <= epsilon < math.inf, "epsilon", "be non-negative and finite", epsilon)
    axes = chosen(axes)
    edges = np.array(partition(law, alpha))
    x, heights = _curve(law)
    left, right = _ends(law, x)
    shown = np.clip(edges, left, right)
    axes.plot(x, heights, color="black", linewidth=2.0, zorder=3.0)
    for block in range(min(len(edges) - 1, BLOCKS)):
        _block(axes, law, block, shown[block + 1], shown[block], alpha, right - left)
    levels = np.maximum(0.0, 1.0 - alpha * np.arange(1, min(len(edges) - 1, BLOCKS)))
    inner = shown[1 : len(levels) + 1]
    # From the vertical axis to the curve, and from there down to the boundary.
    axes.hlines(levels, left, inner, color=GREY, linewidth=0.8, linestyle=":")
    bars(axes, inner, np.zeros(len(inner)), levels, colors=GREY, linewidths=0.8, linestyles=":")
    handles = [
        sample("G", color="black", linewidth=2.0),
        patch("S¹, the top α", **LEADER.area),
        patch("S², S³, …: blocks of measure α", facecolor=paler(GREY, 0.18), edgecolor=GREY),
    ]
    if epsilon > 0.0:
        edge = law.top(alpha) - epsilon
        axes.axvline(edge, linewidth=1.6, **LINE.line | {"color": VERMILION})
        share = 100.0 * law.acceptable(alpha, epsilon)
        label = f"within ε = {epsilon:g} of the top α: {share:.3g}% of the arms"
        handles.append(sample(label, linewidth=1.6, **LINE.line | {"color": VERMILION}))
    if (np.diff(shown) == 0.0).any():
        note(axes, "Blocks that fall into an atom are single means, or empty.", "left")
    _marks(axes, edges, shown, right - left)
    pad = 0.02 * (right - left)
    axes.set_xlim(left - pad, right + pad)
    axes.set_ylim(0.0, 1.03)
    blocks = len(edges) - 1
    title = f"{in_words(law)}, cut into {blocks:,} blocks of measure α = {alpha:g}"
    if blocks > BLOCKS:
        title += f"; the top {BLOCKS} are shown"
    return dressed(axes, title, "mean of an arm", "G, the fraction of arms with at most this mean", handles, above=18.0)


def _curve(law: Reservoir) -> tuple[Numbers, Numbers]:
    """Points on the graph of G, jumps and flat parts included: both quantiles of many levels."""
    levels = np.linspace(0.0, 1.0, POINTS + 1)
    ends = [(law.lower_quantile(float(p)), law.upper_quantile(float(p))) for p in levels[1:-1]]
    x = np.array([law.infimum, *(end for pair in ends for end in pair), law.supremum])
    heights = np.array([0.0, *np.repeat(levels[1:-1], 2), 1.0])
    return x[np.isfinite(x)], heights[np.isfinite(x)]


def _ends(law: Reservoir, x: Numbers) -> tuple[float, float]:
    """The limits of the horizontal axis: the support, or nearly all of it if it is unbounded."""
    left, right = float(x[0]), float(x[-1])
    if left == right:
        return left - 0.5, right + 0.5
    return left, right


def _block(axes: Axes, law: Reservoir, block: int, low: float, high: float, alpha: float, width: float) -> None:
    """Draw one block: shaded under the curve, and named if there is room."""
    if high <= low:
        return  # an atom of at least alpha: the block is a single mean
    x = np.linspace(low, high, 60)
    heights = [law.cdf(float(one)) for one in x]
    look = LEADER.area if block == 0 else {"facecolor": paler(GREY, 0.28 if block % 2 else 0.1), "edgecolor": "none"}
    axes.fill_between(x, 0.0, heights, linewidth=0.0, zorder=1.5, **look)
    if high - low > 0.04 * width and heights[-1] > 0.12:
        text = f"$S^{{{block + 1}}}$"
        colour = BLUE if block == 0 else "black"
        ground = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
        height = max(0.03, 0.5 * min(heights))
        axes.text(0.5 * (low + high), height, text, ha="center", va="center", color=colour, bbox=ground, zorder=3.0)


def _marks(axes: Axes, edges: Numbers, shown: Numbers, width: float) -> None:
    """Name the boundaries on the upper edge, as far as there is room, from the top."""
    last = math.inf
    for place, (edge, x) in enumerate(zip(edges, shown, strict=True)):
        if last - x < 0.055 * width or not math.isfinite(edge):
            continue
        last = x
        name = r"$b_0=\mu^*$" if place == 0 else f"$b_{{{place}}}$"
        axes.annotate(name, (x, 1.03), (0.0, 2.0), textcoords="offset points", ha="center", va="bottom", fontsize=8.5,
                      annotation_clip=False)  # fmt: skip
