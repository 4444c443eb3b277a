"""Parts shared by pictures of studies: the choice of studies, curves of mean pulls, and ticks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from topalpha.figures.canvas import Axes
from topalpha.simulation import Study
from topalpha.validate import require

Studies: TypeAlias = Study | Iterable[Study]

#: Symbols of the target's parameters on axes.
SIGNS = {"alpha": "α", "epsilon": "ε", "delta": "δ"}


def several(studies: Studies) -> list[Study]:
    """One study or several, as a list.

    Examples
    --------
    >>> several([])
    Traceback (most recent call last):
    ValueError: studies must be a Study or several, got []
    """
    words = "be a Study or several"
    require(isinstance(studies, Study | Iterable) and not isinstance(studies, str), "studies", words, studies)
    found = [studies] if isinstance(studies, Study) else list(studies)
    wrong = [one for one in found if not isinstance(one, Study)]
    require(bool(found) and not wrong, "studies", words, wrong[0] if wrong else found)
    return found


def pulls_curve(
    axes: Axes, x: Sequence[float], means: Sequence[float], errors: Sequence[float], cut: Sequence[bool], **look: Any
) -> None:
    """Draw mean pulls with bars of two standard errors; markers are hollow if runs were cut off.

    Examples
    --------
    >>> from topalpha.figures import new_axes
    >>> from topalpha.figures.style import LEADER
    >>> axes = new_axes()
    >>> pulls_curve(axes, [0.1, 0.2], [90.0, 50.0], [2.0, 1.0], [True, False], **LEADER.curve)
    >>> axes.lines[-1].get_xdata().tolist(), axes.lines[-1].get_markerfacecolor()
    ([0.1], 'white')
    """
    axes.errorbar(x, means, yerr=[2.0 * error for error in errors], **look)
    places = [place for place, one in enumerate(cut) if one]
    if places:
        bare = {name: value for name, value in look.items() if name not in ("capsize", "label")}
        hollow = bare | {"linestyle": "none", "markerfacecolor": "white", "zorder": 3.0}
        axes.plot([x[place] for place in places], [means[place] for place in places], **hollow)


def plain_ticks(axes: Axes, values: Sequence[float]) -> None:
    """Label the horizontal axis with the values themselves, leaving out values that stand too close together.

    Examples
    --------
    >>> from topalpha.figures import new_axes
    >>> axes = new_axes()
    >>> plain_ticks(axes, [0.01, 0.0101, 0.1])
    >>> axes.get_xticks().tolist()
    [0.01, 0.1]
    """
    kept: list[float] = []
    for value in values:
        if not kept or value >= kept[-1] * (values[-1] / values[0]) ** 0.07:
            kept.append(value)
    axes.set_xticks(kept, [f"{value:g}" for value in kept])
    axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
