"""The picture of pulls against the target, with lower bounds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topalpha.families import checked, parse_family
from topalpha.figures.canvas import Axes, chosen, dressed, note, sample
from topalpha.figures.studies import SIGNS, Studies, plain_ticks, pulls_curve, several
from topalpha.figures.style import LIMIT, LIMIT_EXACT, looks
from topalpha.reservoirs import in_words, parse
from topalpha.simulation import Study, standard_error
from topalpha.theory import lower_bound, relaxed_lower_bound
from topalpha.validate import choice, require

#: Parameters that pulls may be drawn against.
PARAMETERS = ("delta", "alpha", "epsilon")

#: The number of points of a lower bound's curve.
_STEPS = 40


def sweep(studies: Studies, against: str | None = None, *, axes: Axes | None = None) -> Axes:
    """Mean pulls against delta, alpha or epsilon, one curve per algorithm, with lower bounds for all algorithms.

    Bars are two standard errors to either side; a hollow marker means that runs of this study were cut off, and that
    the true mean is larger. The dashed curve is the lower bound on the expected pulls of every
    (alpha, epsilon, delta)-correct algorithm (:func:`topalpha.theory.relaxed_lower_bound`). The dotted curve is the
    paper's Theorem 1 for epsilon = 0; an algorithm with a positive epsilon may go below it. A bound that does not apply
    is left out, with the reason.

    Parameters
    ----------
    studies
        The results of several calls of :func:`topalpha.simulate`: one reservoir, targets that differ in one parameter.
    against
        The parameter on the horizontal axis; by default the one that differs.
    axes
        Where to draw; a new pyplot figure unless given.

    Examples
    --------
    >>> from topalpha import design, parse_reservoir, simulate
    >>> from topalpha.figures import new_axes, sweep
    >>> law = parse_reservoir("beta(1,2)", at_most=0.8)
    >>> studies = [simulate(design("cc-lucb", 0.1, 0.1, delta), law, runs=20) for delta in (0.05, 0.2)]
    >>> sweep(studies, axes=new_axes()).get_xlabel()
    'δ'
    """
    found = several(studies)
    values = {name: sorted({getattr(one, name) for one in found}) for name in PARAMETERS}
    if against is None:
        differing = [name for name in PARAMETERS if len(values[name]) > 1]
        words = "differ in one of alpha, epsilon and delta, or be given with against"
        require(len(differing) == 1, "studies", words, ", ".join(differing) or "no difference")
        against = differing[0]
    choice("against", against, PARAMETERS)
    others = [name for name in PARAMETERS if name != against]
    for name in ("reservoir", "family", *others):
        different = sorted({str(getattr(one, name)) for one in found})
        require(len(different) == 1, "studies", f"have one {name}", ", ".join(different))
    axes = chosen(axes)
    handles = []
    for algorithm, one_look in looks(one.algorithm for one in found).items():
        some = sorted((one for one in found if one.algorithm == algorithm), key=lambda one: getattr(one, against))
        x = [getattr(one, against) for one in some]
        y = [float(one.pulls.mean()) for one in some]
        errors = [standard_error(one.pulls) or 0.0 for one in some]
        look = {**one_look.curve, "markersize": 6, "linewidth": 1.5}
        pulls_curve(axes, x, y, errors, [one.unfinished > 0 for one in some], capsize=3, **look)
        handles.append(sample(algorithm, **look))
    if any(one.unfinished for one in found):
        hollow = {"linestyle": "none", "marker": "o", "color": "black", "fillstyle": "none"}
        handles.append(sample("hollow: runs were cut off, the true mean is larger", markersize=6, **hollow))
    axes.set(xscale="log", yscale="log")
    axes.yaxis.set_major_formatter("{x:,g}")
    handles += _limits(axes, found[0], against, values[against])
    plain_ticks(axes, values[against])
    one = found[0]
    fixed = ", ".join(f"{SIGNS[name]} = {getattr(one, name):g}" for name in others)
    title = f"Pulls against {SIGNS[against]}. Pool: {in_words(one.reservoir)}; {one.family} rewards; {fixed}"
    return dressed(axes, title, SIGNS[against], "mean pulls of a run", handles)


def _limits(axes: Axes, study: Study, against: str, values: Sequence[float]) -> list[object]:
    """Draw both lower bounds where they apply; return their legend entries."""
    target = {name: getattr(study, name) for name in PARAMETERS}
    grid = np.geomspace(values[0], values[-1], _STEPS) if len(values) > 1 else np.array(values)
    try:
        law, family = parse(study.reservoir), checked(parse_family(study.family))
    except ValueError as error:
        note(axes, f"No lower bound: {error}.")
        return []
    handles: list[object] = []
    missing: list[tuple[str, str]] = []
    for look, label in ((LIMIT, "lower bound for this α, ε, δ"), (LIMIT_EXACT, "lower bound for ε = 0 (Theorem 1)")):
        heights, reasons = [], []
        for value in grid:
            at = {**target, against: float(value)}
            if look is LIMIT:
                bound = relaxed_lower_bound(law, at["alpha"], at["epsilon"], at["delta"], family)
            else:
                bound = lower_bound(law, at["alpha"], at["delta"], family)
            heights.append(np.nan if bound.value is None or bound.value <= 0.0 else bound.value)
            if bound.void:
                reasons.append(bound.reason)
        drawn = bool(np.isfinite(heights).any())
        if drawn:
            axes.plot(grid, heights, linewidth=1.6, **look.line)
            handles.append(sample(label, linewidth=1.6, **look.line))
        if reasons:
            missing.append((f"In places no {label}" if drawn else f"No {label}", reasons[0]))
    if missing:
        which, reason = missing[0]
        note(axes, f"{which if handles else 'No lower bound'}: {reason}.")
    return handles
