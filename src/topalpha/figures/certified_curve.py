"""The certified curve: the proved epsilon for each alpha, all at once."""

from __future__ import annotations

from topalpha.figures.canvas import Axes, chosen, dressed, patch, sample
from topalpha.figures.labels import arms, of_status
from topalpha.figures.style import PROVED, TARGET
from topalpha.standing import Source, standing
from topalpha.validate import require


def claims_curve(source: Source, name: str | None = None, *, axes: Axes | None = None) -> Axes:
    """The claims about the arm, or each chosen arm: the epsilon that is proved for each top fraction; and the target.

    A claim for one alpha holds for every larger alpha and every larger epsilon. So everything above and to the right of
    the steps is proved, all at once, with probability at least 1 - delta.

    Parameters
    ----------
    source, name
        As for :func:`topalpha.standing.standing`; a search that has proved something, stopped or not.
    axes
        Where to draw; a new pyplot figure unless given.

    Examples
    --------
    >>> from topalpha import search
    >>> from topalpha.figures import claims_curve, new_axes
    >>> found = search(lambda rng: rng.random(), lambda p, rng: float(rng.random() < p), alpha=0.1, epsilon=0.1,
    ...                pulls=1500, progress="none")
    >>> claims_curve(found, axes=new_axes()).get_ylabel()
    'ε: by how much it may fall short'
    """
    now = standing(source, name)
    require(bool(now.claims), "source", "come from a search that has proved something", of_status(now))
    axes = chosen(axes)
    alphas = [claim.alpha for claim in now.claims]
    epsilons = [claim.epsilon for claim in now.claims]
    left, top = 0.8 * min(alphas[0], now.alpha), 1.15 * max(epsilons[0], now.epsilon)
    x, y = [*alphas, 1.0], [*epsilons, epsilons[-1]]
    axes.fill_between(x, y, top, step="post", linewidth=0.0, **PROVED.area)
    axes.vlines(alphas[0], epsilons[0], top, linewidth=1.8, **PROVED.line)
    axes.step(x, y, where="post", linewidth=1.8, **PROVED.line)
    axes.plot(alphas, epsilons, markersize=6, zorder=3.0, **PROVED.points)
    axes.plot([now.alpha], [now.epsilon], markersize=13, markerfacecolor="none", zorder=4.0, **TARGET.points)
    axes.set_xscale("log")
    axes.set_xlim(left, 1.0)
    axes.set_ylim(0.0, top)
    # The target's own alpha is a tick; usual ticks that would overlap it are left out.
    usual = (1e-4, 1e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
    room = (1.0 / left) ** 0.08
    ticks = sorted([now.alpha, *(tick for tick in usual if left <= tick and not 1 / room < tick / now.alpha < room)])
    axes.set_xticks(ticks, [f"{100.0 * tick:.4g}%" for tick in ticks])
    axes.minorticks_off()
    asked = {"markersize": 11, "markerfacecolor": "none", **TARGET.points}
    handles = [
        sample("smallest proved ε", linewidth=1.8, markersize=6, **PROVED.line | {"marker": PROVED.marker}),
        patch("proved, all at once", **PROVED.area),
        sample(f"asked for: α = {now.alpha:.4g}, ε = {now.epsilon:.4g}", **asked),
    ]
    best = "best (smallest)" if now.minimise else "top"
    assert now.about is not None
    whom = now.selection if now.stopped and len(now.selection) > 1 else (now.about,)
    verb = "is" if len(whom) == 1 else "are each"
    sure = f"With probability at least {1.0 - now.delta:.10g}, {arms(whom)} {verb} within ε of the {best} α"
    return dressed(axes, sure, "α: the fraction of all candidates", "ε: by how much it may fall short", handles, 3)
