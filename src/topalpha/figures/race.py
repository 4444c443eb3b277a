"""The race over time: the leader's interval, its rivals' bounds, and the two lines that meet at the stop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topalpha.figures import labels
from topalpha.figures.canvas import Axes, Numbers, bars, chosen, dressed, patch, sample, span
from topalpha.figures.style import BLACK, END, GREEN, GREY, LEADER, LINE, PURPLE, REACH, Look
from topalpha.standing import Source, Standing, timeline
from topalpha.validate import require, whole

#: The default number of rivals that are shown, and the number of moments for each.
RIVALS, MOMENTS = 2, 12
#: The vertical axis covers the leader and both lines after this fraction of the pulls; before, they may be far apart.
LATE = 0.6

#: The looks of rivals, by their number of pulls.
_RIVALS = (Look(GREEN, "o", ":"), Look(PURPLE, "s", ":"), Look(GREY, "X", ":"), Look(BLACK, "P", ":"))


def race(
    source: Source,
    name: str | None = None,
    *,
    points: int = 60,
    rivals: int = RIVALS,
    axes: Axes | None = None,
) -> Axes:
    """The bounds of the leader and its rivals against the pulls spent.

    The band is the interval of the leader at each moment. The dashed line is its lower bound plus epsilon, the
    dash-dotted line the best mean of any other arm that the evidence leaves open. The search stops when the two meet.
    With separate bounds the dash-dotted line is the highest upper bound of any other arm; a rule that joins the
    evidence of all arms leaves less open than that. Bars run from the mean to the upper bound of the rivals with the
    most pulls. Very wide early bounds leave the picture. For costs all of this is upside down.

    Parameters
    ----------
    source, name
        As for :func:`topalpha.standing.timeline`, which runs the search again; or its result.
    points
        The number of moments.
    rivals
        The number of rivals that are shown, at most 4.
    axes
        Where to draw; a new pyplot figure unless given.

    Examples
    --------
    >>> from topalpha import search
    >>> from topalpha.figures import new_axes, race
    >>> found = search(lambda rng: rng.random(), lambda p, rng: float(rng.random() < p), alpha=0.2, epsilon=0.2,
    ...                algorithm="cc-lucb", progress="none")
    >>> race(found, axes=new_axes()).get_xlabel()
    'pulls'
    """
    rivals = whole("rivals", rivals, 0)
    require(rivals <= len(_RIVALS), "rivals", f"be at most {len(_RIVALS)}", rivals)
    # One more than are shown: the leader usually is among the arms with the most pulls.
    moments = timeline(source, name, points=points, arms=rivals + 1)
    last = moments[-1]
    require(last.bounded, "source", "come from an algorithm with bounds at any time", last.algorithm)
    axes = chosen(axes)
    x = np.array([now.total for now in moments], dtype=float)
    leads = [now.row(now.leader) for now in moments if now.leader is not None]
    mean = np.array([row.mean for row in leads], dtype=float)
    lower, upper = np.array([row.lower for row in leads]), np.array([row.upper for row in leads])
    line = np.array([now.line for now in moments], dtype=float)
    left_open = np.array([_open(now) for now in moments])
    shown = _chosen_rivals(moments, rivals)
    late = x >= LATE * x[-1]
    low, high = span(mean[late], lower[late], upper[late], line[late], left_open[late])
    beyond = high - low
    lower, upper = np.maximum(lower, low - beyond), np.minimum(upper, high + beyond)
    # Where nothing is known yet the line comes from outside of the picture.
    left_open = np.clip(left_open, low - beyond, high + beyond)
    axes.fill_between(x, lower, upper, zorder=1.5, **LEADER.area)
    axes.plot(x, mean, linewidth=2.0, zorder=3.0, **LEADER.line)
    handles = [
        sample(
            f"mean of the leader (arm {last.leader} at the end){labels.proved_of_another(last)}",
            linewidth=2.0,
            **LEADER.line,
        ),
        patch("its interval", **LEADER.area),
    ]
    label = labels.line(last).replace("their", f"the {len(last.selection):,} leaders'")
    bounds = ((line, LINE, label), (left_open, REACH, labels.rest(last)))
    for values, look, label in bounds:
        if np.isfinite(values).any():
            axes.plot(x, _finite(values), linewidth=1.6, zorder=3.2, **look.line)
            handles.append(sample(label, linewidth=1.6, **look.line))
    to = "down to" if last.minimise else "up to"
    for look, arm in zip(_RIVALS, shown, strict=False):
        if _rival(axes, moments, arm, look, beyond):
            handles.append(
                sample(
                    f"arm {arm}, {to} its bound{', chosen too' if arm in last.selection else ''}",
                    markersize=5,
                    linewidth=1.2,
                    **_solid(look),
                )
            )
    axes.axvline(x[-1], linewidth=1.2, zorder=1.0, **END.line)
    word = {"stopped": "the stop", "running": "now"}.get(last.status, "the end")
    handles.append(sample(f"{word}, after {last.total:,} pulls", linewidth=1.2, **END.line))
    axes.set_ylim(low, high)
    axes.set_xlim(0.0, x[-1] * 1.03)
    axes.xaxis.get_major_formatter().set_scientific(False)
    title = f"The race{labels.named(last)}: {last.drawn:,} arms, {last.total:,} pulls; {labels.of_status(last)}"
    return dressed(axes, title, "pulls", labels.rewards(last), handles)


def _open(now: Standing) -> float:
    """The best mean of any other arm that is left open; infinite while nothing is shown."""
    nothing = -np.inf if now.minimise else np.inf
    found = now.rest if now.joined or now.rest is not None else now.reach
    return nothing if found is None else found


def _chosen_rivals(moments: Sequence[Standing], count: int) -> list[int]:
    """The arms with most pulls at the end, other than the leader."""
    last = moments[-1]
    order = np.argsort(-last.pulls, kind="stable")
    return [int(arm) for arm in last.arm[order] if arm != last.leader][:count]


def _rival(axes: Axes, moments: Sequence[Standing], arm: int, look: Look, beyond: float) -> bool:
    """Draw one rival, from mean to bound, at some moments when it did not lead; return whether there are any."""
    # Each rival has its own moments, so that bars do not hide one another.
    start = 1 + _RIVALS.index(look) * max(1, len(moments) // (MOMENTS * len(_RIVALS)))
    picked = moments[start :: max(1, len(moments) // MOMENTS)]
    rows = [(now.total, now.row(arm)) for now in picked if arm in now.arm and arm != now.leader]
    rows = [(total, row) for total, row in rows if row.mean is not None]
    if not rows:
        return False
    x = np.array([total for total, _ in rows], dtype=float)
    mean = np.array([row.mean for _, row in rows], dtype=float)
    if moments[-1].minimise:
        end = np.maximum([row.lower for _, row in rows], mean - 2.0 * beyond)
    else:
        end = np.minimum([row.upper for _, row in rows], mean + 2.0 * beyond)
    bars(axes, x, mean, end, colors=look.colour, linewidths=1.2, zorder=2.5)
    axes.plot(x, mean, markersize=5, zorder=2.6, **look.points)
    return True


def _solid(look: Look) -> dict[str, str]:
    return {"color": look.colour, "marker": look.marker, "linestyle": "-"}


def _finite(values: Numbers) -> Numbers:
    """The values with NaN in place of infinite ones, which leaves a gap."""
    return np.where(np.isfinite(values), values, np.nan)
