"""Pictures of reservoirs and studies, and the looks that all pictures share."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from marks import quick
from pictures import bars, contrast, curves, faults, luminance, plain_looks
from topalpha import Study, design, parse_reservoir, simulate
from topalpha.figures import errors, new_axes, reservoir, sweep
from topalpha.figures import style as looks
from topalpha.figures.style import GREY, LIMIT, LIMIT_EXACT, LINE, Look, style
from topalpha.reservoirs import Scipy
from topalpha.theory import relaxed_lower_bound

LAW = "conditioned(beta(1,1),0.8)"


def study(algorithm="cc-lucb", delta=0.1, *, wrong=0, runs=40, cost=1000, stopped=True, **changes) -> Study:
    """A study with these figures, as if it had been run."""
    values = {"alpha": 0.1, "epsilon": 0.1, "family": "bernoulli", "reservoir": LAW, **changes}
    return Study(
        algorithm=algorithm,
        delta=delta,
        arms=10,
        seed=0,
        seconds=1.0,
        supremum=0.8,
        threshold=0.62,
        threshold_alpha=0.72,
        pulls=np.arange(runs) - (runs - 1) // 2 + cost,
        means=np.where(np.arange(runs) < wrong, 0.1, 0.79),
        stopped=np.full(runs, stopped),
        **values,
    )


def cut_off(whole: Study, runs: int) -> Study:
    """The same, with the last runs cut off."""
    return replace(whole, stopped=np.arange(whole.runs) < whole.runs - runs)


STUDIES = [study(name, delta, cost=cost * round(-100 * math.log(delta)))
           for name, cost in (("cc-lucb", 3), ("joint-lucb", 2)) for delta in (0.01, 0.05, 0.2)]  # fmt: skip


# The reservoir


def test_the_partition_of_a_uniform_law_is_even():
    axes = reservoir("uniform(0,1)", 0.25, 0.1, axes=new_axes())
    segments = [one.get_segments() for one in axes.collections if hasattr(one, "get_segments")]
    across = sorted(tuple(line[:, 0]) + tuple(line[:, 1]) for part in segments for line in part if len(line) == 2)
    # From the axis to the curve at 1 - i/4, and down to the boundary b_i = 1 - i/4.
    expected = [(0.0, x, x, x) for x in (0.25, 0.5, 0.75)] + [(x, x, 0.0, x) for x in (0.25, 0.5, 0.75)]
    np.testing.assert_allclose(across, sorted(expected))
    graph = curves(axes)[("black", "-", "None")].get_xydata()
    np.testing.assert_allclose(graph[:, 0], graph[:, 1])
    edge = next(line for line in axes.lines if line.get_linestyle() == LINE.dash)
    assert edge.get_xdata() == pytest.approx([0.65, 0.65])
    assert [text for text in map(lambda one: one.get_text(), axes.texts) if "S" in text] == [
        f"$S^{{{block}}}$" for block in (1, 2, 3, 4)
    ]


@pytest.mark.parametrize("law", ["beta(1,2)", "mixture(0.7*uniform(0,0.4),0.3*dirac(0.8))", "two-point(0.2,0.6,0.1)"])
def test_the_graph_of_any_law_is_its_distribution_function(law):
    reading = parse_reservoir(law)
    axes = reservoir(law, 0.15, axes=new_axes())
    graph = curves(axes)[("black", "-", "None")].get_xydata()
    for x, height in graph[1:-1:37]:
        assert reading.cdf_left(x) - 1e-9 <= height <= reading.cdf(x) + 1e-9
    assert np.all(np.diff(graph, axis=0) >= 0.0)
    assert faults(axes) == []


@pytest.mark.parametrize("alpha", quick([0.3, 0.05, 0.001], [0.05]))
@pytest.mark.parametrize(
    "law", ["dirac(0.5)", "discrete(0.1,0.2,0.3)", "beta(0.5,8)", Scipy(scipy.stats.norm(0.0, 1.0))]
)
def test_laws_with_atoms_without_ends_and_many_blocks_are_legible(law, alpha):
    axes = reservoir(law, alpha, 0.05, axes=new_axes())
    assert faults(axes) == []
    assert np.isfinite([*axes.get_xlim(), *axes.get_ylim()]).all()
    assert len(axes.get_children()) < 200


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((3, 0.1), r"law must be a Reservoir or the text of one, got 3"),
        (("beta(1,2)", 2.0), r"alpha must lie strictly between 0 and 1, got 2\.0"),
        (("beta(1,2)", 0.1, -1.0), r"epsilon must be non-negative and finite, got -1\.0"),
        (("beta(1;2)",), r"reservoir must consist of names"),
    ],
)
def test_wrong_laws_and_targets_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        reservoir(*arguments, axes=new_axes())


# Pulls against the target


def test_a_sweep_shows_means_errors_and_both_lower_bounds():
    axes = sweep(STUDIES, axes=new_axes())
    for place, name in enumerate(("cc-lucb", "joint-lucb")):
        mine = [one for one in STUDIES if one.algorithm == name]
        look = style(place)
        curve = curves(axes)[(look["color"], look["linestyle"], look["marker"])]
        np.testing.assert_allclose(curve.get_xydata(), [(one.delta, one.pulls.mean()) for one in mine])
    half = 2.0 * np.std(np.arange(40), ddof=1) / math.sqrt(40)
    np.testing.assert_allclose(bars(axes)[:, 2] - bars(axes)[:, 1], 2.0 * half)
    target = curves(axes)[(LIMIT.colour, LIMIT.dash, "None")].get_xydata()
    exact = curves(axes)[(LIMIT_EXACT.colour, LIMIT_EXACT.dash, "None")].get_xydata()
    for x, y in target[::13]:
        assert (
            y == relaxed_lower_bound(parse_reservoir(LAW), 0.1, 0.1, x, design("cc-lucb", 0.1, 0.1, 0.1).family).value
        )
    assert (target[0, 0], target[-1, 0]) == pytest.approx((0.01, 0.2))

    # Theorem 1 by hand: blocks of measure alpha of a uniform law on (0, 0.8) end at 0.8 (1 - i alpha).
    def divergence(p, q):
        return p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))

    edges = [0.8 * (1.0 - 0.1 * i) for i in range(10)]
    total = sum(1.0 / divergence(b, 0.8) for b in edges[2:]) + 1.0 / divergence(0.8, edges[2])
    for x, y in exact[::13]:
        assert y == pytest.approx(math.log(1.0 / (2.4 * x)) * total)


@pytest.mark.parametrize("against", ["alpha", "epsilon", "delta"])
def test_pulls_may_be_drawn_against_any_number_of_the_target(against):
    some = [replace(study(cost=cost), **{against: value}) for value, cost in ((0.02, 900), (0.05, 500), (0.1, 300))]
    axes = sweep(some, axes=new_axes())
    assert axes.get_xlabel() == {"alpha": "α", "epsilon": "ε", "delta": "δ"}[against]
    look = style(0)
    curve = curves(axes)[(look["color"], look["linestyle"], look["marker"])]
    np.testing.assert_allclose(curve.get_xydata()[:, 0], [0.02, 0.05, 0.1])
    assert faults(axes) == []
    assert len(set(plain_looks(axes))) == len(plain_looks(axes))


def test_a_sweep_of_real_runs():
    law = parse_reservoir(LAW)
    runs = [simulate(design("cc-lucb", 0.2, 0.1, delta), law, runs=30, limit=400) for delta in (0.05, 0.3)]
    axes = sweep(runs, axes=new_axes())
    look = style(0)
    curve = curves(axes)[(look["color"], look["linestyle"], look["marker"])]
    assert curve.get_ydata().tolist() == [one.pulls.mean() for one in runs]
    assert any(one.unfinished for one in runs)
    hollow = curves(axes)[(look["color"], "", look["marker"])]
    assert hollow.get_xdata().tolist() == [one.delta for one in runs if one.unfinished]


def test_a_sweep_marks_those_studies_whose_runs_were_cut_off_and_no_others():
    some = [study(delta=delta) for delta in (0.01, 0.05, 0.2)]
    some[1] = cut_off(some[1], 3)
    axes = sweep(some, axes=new_axes())
    look = style(0)
    drawn = curves(axes)
    assert drawn[(look["color"], look["linestyle"], look["marker"])].get_fillstyle() == "full"
    hollow = drawn[(look["color"], "", look["marker"])]
    assert hollow.get_markerfacecolor() == "white"
    assert hollow.get_xydata().tolist() == [[0.05, some[1].pulls.mean()]]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels[:2] == ["cc-lucb", "hollow: runs were cut off, the true mean is larger"]
    assert faults(axes) == []
    assert len(set(plain_looks(axes))) == len(plain_looks(axes))
    whole = sweep([study(delta=delta) for delta in (0.01, 0.05)], axes=new_axes())
    assert not any("hollow" in text.get_text() for text in whole.get_legend().get_texts())
    assert (look["color"], "", look["marker"]) not in curves(whole)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"reservoir": "two-point(0.2,0.6,0.1)"}, "the reservoir has atoms"),
        ({"reservoir": "Scipy"}, "reservoir must"),
        ({"family": "normal"}, "family must"),
    ],
)
def test_where_there_is_no_lower_bound_the_reason_is_said(change, reason):
    axes = sweep([study(delta=delta, **change) for delta in (0.05, 0.2)], axes=new_axes())
    (text,) = axes.texts
    assert " ".join(text.get_text().split()).startswith(f"No lower bound: {reason}")
    assert not {(LIMIT.colour, LIMIT.dash, "None"), (LIMIT_EXACT.colour, LIMIT_EXACT.dash, "None")} & set(curves(axes))


@pytest.mark.parametrize(
    ("target", "beginning"),
    [
        ([{"delta": 0.05, "epsilon": 0.5}, {"delta": 0.2, "epsilon": 0.5}], "No lower bound for this α, ε, δ"),
        ([{"epsilon": 0.5}, {"epsilon": 0.1}], "In places no lower bound for this α, ε, δ"),
    ],
)
def test_where_one_of_the_lower_bounds_is_missing_the_reason_is_said(target, beginning):
    axes = sweep([study(**change) for change in target], axes=new_axes())
    assert ((LIMIT.colour, LIMIT.dash, "None") in curves(axes)) == beginning.startswith("In places")
    assert (LIMIT_EXACT.colour, LIMIT_EXACT.dash, "None") in curves(axes)
    (text,) = axes.texts
    assert " ".join(text.get_text().split()).startswith(f"{beginning}: no mean of the family lies above 1.")
    assert not sweep(STUDIES, axes=new_axes()).texts[:]


def test_blocks_that_are_not_shown_are_counted():
    title = reservoir("beta(1,2)", 0.001, axes=new_axes()).get_title(loc="left")
    assert title.replace("\n", " ").endswith("cut into 1,000 blocks of measure α = 0.001; the top 40 are shown")
    assert "shown" not in reservoir("beta(1,2)", 0.05, axes=new_axes()).get_title(loc="left")


@pytest.mark.parametrize(
    ("studies", "sentence"),
    [
        ([], r"studies must be a Study or several, got \[\]"),
        ("studies.json", r"studies must be a Study or several, got 'studies.json'"),
        ([study(), 3], r"studies must be a Study or several, got 3"),
        (
            [study(), study("lucb++")],
            r"studies must differ in one of alpha, epsilon and delta, .*, got 'no difference'",
        ),
        ([study(), study(alpha=0.2, delta=0.2)], r"studies must differ in one of .*, got 'delta, alpha'"),
        ([study(), study(delta=0.2, reservoir="beta(1,2)")], r"studies must have one reservoir, got 'beta"),
    ],
)
def test_studies_that_do_not_go_together_are_refused(studies, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        sweep(studies, axes=new_axes())


# Errors


def test_errors_have_exact_intervals_and_stand_beside_the_line():
    some = [study(delta=delta, wrong=wrong, runs=200) for delta, wrong in ((0.01, 0), (0.05, 3), (0.2, 30))]
    some += [study("joint-lucb", 0.2, wrong=200, runs=200)]
    axes = errors(some, axes=new_axes())
    drawn = bars(axes)
    floor = axes.get_ylim()[0]
    shift = 1.07**-0.5
    for (x, low, high), (delta, wrong) in zip(drawn, ((0.01, 0), (0.05, 3), (0.2, 30)), strict=False):
        exact = scipy.stats.beta.ppf(0.025, wrong, 201 - wrong) if wrong else floor
        assert (x, low, high) == pytest.approx(
            (delta * shift, exact, scipy.stats.beta.ppf(0.975, wrong + 1, 200 - wrong))
        )
    assert drawn[3] == pytest.approx((0.2 / shift, scipy.stats.beta.ppf(0.025, 200, 1), 1.0))
    line = curves(axes)[(LIMIT.colour, LIMIT.dash, "None")].get_xydata()
    assert line[0][0] == line[0][1]
    assert line[-1][0] == line[-1][1]
    hollow = [line for line in axes.lines if line.get_fillstyle() == "none" and len(line.get_xdata())]
    assert [one.get_xdata().tolist() for one in hollow] == [[pytest.approx(0.01 * shift)]]
    filled = [line for line in axes.lines if line.get_marker() == style(0)["marker"] and line not in hollow]
    assert filled[0].get_ydata().tolist() == [0.015, 0.15]


def test_runs_without_an_answer_are_neither_right_nor_wrong():
    law = parse_reservoir(LAW)
    none = simulate(design("cc-lucb", 0.1, 0.1, 0.05), law, runs=20, limit=60)
    assert (none.unfinished, none.errors.count) == (20, 0)
    axes = errors(none, axes=new_axes())
    assert len(bars(axes)) == 0, "nothing is known"
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert not any("no error in any run" in label for label in labels)
    assert "crossed: 20 runs in all were cut off, and are left out" in labels
    (cross,) = [line for line in axes.lines if line.get_marker() == "x"]
    assert cross.get_xdata().tolist() == [pytest.approx(0.05)]
    assert faults(axes) == []
    some = cut_off(study(delta=0.2, wrong=10, runs=200), 100)
    axes = errors([some, study(delta=0.05, wrong=3, runs=200)], axes=new_axes())
    (_, rate) = next(line for line in axes.lines if line.get_marker() == style(0)["marker"]).get_ydata()
    assert rate == 0.1, "10 of the 100 that answered"
    low, high = bars(axes)[1][1:]
    assert (low, high) == pytest.approx((scipy.stats.beta.ppf(0.025, 10, 91), scipy.stats.beta.ppf(0.975, 11, 90)))
    (cross,) = [line for line in axes.lines if line.get_marker() == "x"]
    assert cross.get_xydata().tolist() == [[pytest.approx(0.2), 0.1]]
    assert len(set(plain_looks(axes))) == len(plain_looks(axes))


@pytest.mark.parametrize("deltas", [(0.01, 0.1), (0.1, 0.11, 0.8)])
def test_moved_points_are_measured_against_their_own_delta(deltas):
    names = ("cc-lucb", "joint-lucb", "lucb", "kl-lucb", "p2", "jhr", "bch")
    some = [study(name, delta, wrong=5) for name in names for delta in deltas]
    axes = errors(some, axes=new_axes())
    line = curves(axes)[(LIMIT.colour, LIMIT.dash, "None")].get_xydata()
    assert np.all(np.diff(line[:, 0]) > 0.0)
    places = np.sort([x for one in axes.lines for x in one.get_xdata() if one.get_marker() == "_"])
    expected = np.repeat(deltas, len(names))
    np.testing.assert_allclose(np.interp(places, *line.T), expected, rtol=1e-12)
    assert len(set(places)) == len(places)
    assert np.all(np.abs(np.log(places / expected)) < 0.5 * np.log(1.6) + 1e-9)
    assert axes.get_xlim()[1] > places[-1]


def test_errors_without_any_and_of_a_single_study():
    axes = errors(study(runs=50), axes=new_axes())
    assert faults(axes) == []
    assert axes.get_ylim()[0] > 0.0
    axes = errors([study(), study(epsilon=0.2, reservoir="beta(1,2)")], axes=new_axes())
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels[:2] == [f"cc-lucb, {LAW}, ε = 0.1", "cc-lucb, beta(1,2), ε = 0.2"]
    with pytest.raises(ValueError, match=r"^studies must be a Study or several, got None$"):
        errors(None, axes=new_axes())


@pytest.mark.parametrize("function", [sweep, errors])
def test_studies_are_legible(function):
    axes = function(STUDIES, axes=new_axes())
    assert faults(axes) == []
    assert len(set(plain_looks(axes))) == len(plain_looks(axes))


# Looks


def roles():
    return {name: value for name, value in vars(looks).items() if isinstance(value, Look)}


def apart(one: Look, other: Look) -> bool:
    """Whether a reader without colours tells them apart."""
    return (one.marker, one.dash, one.hatch) != (other.marker, other.dash, other.hatch)


def test_roles_differ_without_colours_and_all_colours_stand_out_from_white():
    # Those that are never in one picture may look alike: a lower bound and the line of a race.
    together = (
        ("LEADER", "CHALLENGER", "OTHER", "LINE", "REACH", "END"),
        ("PROVED", "TARGET"),
        ("LIMIT", "LIMIT_EXACT"),
    )
    assert {name for names in together for name in names} == set(roles())
    for names in together:
        for one, other in itertools.combinations(names, 2):
            assert apart(roles()[one], roles()[other]), (one, other)
    for one in roles().values():
        assert contrast(one.colour) >= 3.0
    for colour in (*looks.COLOURS, GREY):
        assert contrast(colour) >= 3.0


def test_curves_differ_without_colours_as_many_as_a_picture_can_hold():
    plain = [(one["marker"], one["linestyle"]) for one in map(style, range(22))]
    assert len(set(plain)) == 22
    assert len({tuple(style(place).values()) for place in range(60)}) == 60


def test_what_a_reader_could_mistake_is_found():
    """The checks themselves: looks that differ by colour alone, pale colours, texts that collide or are cut off."""
    assert not apart(Look("#0072B2", "o", "-"), Look("#D55E00", "o", "-"))
    assert contrast("#F0E442") < 3.0
    assert contrast("black") == pytest.approx(21.0)
    assert luminance("white") == pytest.approx(1.0)
    axes = new_axes()
    axes.plot([0.0, 1.0], label="one")
    axes.plot([1.0, 0.0], label="other")
    axes.legend()
    assert len(set(plain_looks(axes))) == 1
    axes.text(0.5, 0.5, "on one another")
    axes.text(0.51, 0.5, "and so not legible")
    axes.figure.text(0.9, 0.02, "much longer than the room that there is to the right of it")
    found = " ".join(faults(axes))
    assert "'on one another' lies on 'and so not legible'" in found
    assert "'much longer than the room that there is to the right of it' is cut off" in found
