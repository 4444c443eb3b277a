"""Pictures of searches: what is drawn is what the search says, and readers can tell it apart."""

from __future__ import annotations

import math
import random
import subprocess
import sys
import warnings
from dataclasses import replace
from itertools import product
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from marks import quick
from pictures import bars, curves, faults, plain_looks
from topalpha import Certificate, Refuted, Search, Session, Task, design, figures, search, select
from topalpha.cli import main
from topalpha.figures import KINDS, claims_curve, intervals, new_axes, pulls, race
from topalpha.figures.style import CHALLENGER, END, LEADER, LINE, OTHER, PROVED, REACH
from topalpha.report import html
from topalpha.standing import standing, timeline
from topalpha.storage import Storage, read

EASY = {"alpha": 0.2, "epsilon": 0.25, "delta": 0.2, "seed": 3, "progress": "none"}


def draw(rng):
    return rng.random()


def pull(candidate, rng):
    return float(rng.random() < candidate)


def cost(candidate, rng):
    return float(np.clip(rng.normal(12.0 * candidate, 2.0), 0.0, 20.0))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file with four searches: stopped, stopped by joint evidence, for costs, ended early."""
    path = tmp_path_factory.mktemp("figures") / "searches.db"
    common = {**EASY, "storage": path, "interval": 1.0}
    search(draw, pull, **common, algorithm="cc-lucb", name="stopped")
    search(draw, pull, **common, name="joint")
    costs = {"algorithm": "cc-lucb", "family": "range(0,20)", "minimise": True, "name": "costs"}
    search(draw, cost, **{**common, "epsilon": 4.0}, **costs)
    search(draw, pull, **common, algorithm="cc-lucb", pulls=50, name="early")
    return path


@pytest.fixture(scope="module")
def many():
    """A search of 10,000 arms that has just begun to tell them apart."""
    found, source, means = Search(design("cc-lucb", 0.000575, 0.05, 0.05)), random.Random(0), []
    assert found.algorithm.arms >= 9_900
    while found.told < found.algorithm.arms + 4_000:
        one = found.ask()
        if one.number == 0:
            means.append(0.9 * source.random())
        found.tell(one, float(source.random() < means[one.arm]))
    return found


NAMES = ["stopped", "joint", "costs", "early"]


def by_mean(now):
    key = now.mean if now.minimise else -now.mean
    return sorted(range(now.drawn), key=lambda arm: (key[arm], arm))


def look(axes, one, marker="None"):
    return curves(axes)[(one.colour, one.dash, marker)]


def points(axes, one):
    return curves(axes)[(one.colour, "", one.marker)].get_xydata()


# Intervals


@pytest.mark.parametrize("name", NAMES)
def test_intervals_are_the_bounds_of_every_arm_in_the_order_of_their_means(file, name):
    now = standing(file, name)
    axes = intervals(file, name, axes=new_axes())
    drawn = bars(axes)
    order = by_mean(now)
    np.testing.assert_array_equal(drawn[:, 0], np.arange(1, now.drawn + 1))
    np.testing.assert_array_equal(drawn[:, 1], now.lower[order])
    np.testing.assert_array_equal(drawn[:, 2], now.upper[order])
    (x, mean), *_ = points(axes, LEADER)
    assert (order[int(x) - 1], mean) == (now.leader, now.mean[now.leader])
    beyond = {order[int(x) - 1] for x, _ in points(axes, CHALLENGER)} if now.above else set()
    assert beyond == set(now.above)


@pytest.mark.parametrize(("name", "sign"), [("stopped", 1), ("joint", 1), ("costs", -1), ("early", 1)])
def test_the_line_is_the_leader_s_bound_and_epsilon(file, name, sign):
    session = Session.replayed(read(file, name))
    bound = session.model.to_user(session.lower(session.best))
    others = [session.model.to_user(session.upper(arm)) for arm in range(session.history.arms)]
    others.pop(session.best)
    expected = bound + sign * session.task.epsilon
    beyond = sum(sign * (value - expected) > 1e-9 for value in others)
    axes = intervals(file, name, axes=new_axes())
    assert look(axes, LINE).get_ydata() == pytest.approx([expected, expected])
    marked = points(axes, CHALLENGER) if beyond else []
    assert len(marked) == beyond
    assert (beyond == 0) == (name in ("stopped", "costs")), "cc-lucb stops when no bound is beyond the line"


def test_ten_thousand_arms_are_few_objects_and_show_the_widest_of_neighbours(many):
    now = standing(many)
    axes = intervals(now, axes=new_axes())
    assert len(axes.get_children()) < 40
    ranks = np.empty(now.drawn)
    ranks[by_mean(now)] = np.arange(now.drawn)
    groups = [(OTHER, ~np.isin(now.arm, [now.leader, *now.above])), (CHALLENGER, np.isin(now.arm, now.above))]
    stairs = [one for one in axes.patches if hasattr(one, "get_data") and one.get_data().baseline is not None]
    assert len(stairs) == sum(which.any() for _, which in groups)
    for drawn, (_, which) in zip(stairs, [pair for pair in groups if pair[1].any()], strict=True):
        values, edges, baseline = drawn.get_data()
        for low, high, top, bottom in zip(edges[:-1], edges[1:], values, baseline, strict=True):
            inside = which & (ranks + 1 >= low) & (ranks + 1 < high)
            assert math.isnan(top) == (not inside.any())
            if inside.any():
                assert (top, bottom) == (now.upper[inside].max(), now.lower[inside].min())


@pytest.mark.parametrize(
    ("family", "minimise"),
    quick(product(["normal", "poisson", "gaussian(1.0)"], [False, True]), [("poisson", True)]),
)
def test_infinite_bounds_leave_the_picture_and_break_nothing(family, minimise, tmp_path):
    task = Task(0.3, 0.5, 0.2, family=family, minimise=minimise, algorithm="cc-lucb")
    found = Search(task.design(), model=task.model)
    for number, one in enumerate(found.ask_many(60)):
        found.tell(one, float(one.arm % 4))
        if number in (2, 59):
            for kind in ("race", "intervals", "pulls"):
                axes = KINDS[kind](found, axes=new_axes())
                assert np.isfinite([*axes.get_xlim(), *axes.get_ylim()]).all()
                assert axes.get_ylim()[1] - axes.get_ylim()[0] < 100.0
                figures.save(axes, tmp_path / "picture.png")
                assert faults(axes) == []


@pytest.mark.parametrize("minimise", quick([False, True], [True]))
def test_all_arms_of_a_selection_are_leaders(tmp_path, minimise):
    path = tmp_path / "several.db"
    settings = {**EASY, "algorithm": "cc-lucb-k", "options": {"k": 3}, "minimise": minimise, "storage": path}
    found = search(draw, pull, **settings)
    assert found.stopped
    chosen = set(found.selection)
    assert len(chosen) == 3
    now = standing(path)
    bounds = [now.row(arm).upper if minimise else now.row(arm).lower for arm in chosen]
    expected = max(bounds) - 0.25 if minimise else min(bounds) + 0.25
    assert (now.selection, now.line, now.above) == (found.selection, pytest.approx(expected), ())
    outside = [now.row(arm).lower if minimise else now.row(arm).upper for arm in set(range(now.drawn)) - chosen]
    assert now.others_at_best == (min(outside) if minimise else max(outside))
    axes = intervals(path, axes=new_axes())
    order = by_mean(now)
    assert {order[int(x) - 1] for x, _ in points(axes, LEADER)} == chosen
    assert look(axes, LINE).get_ydata() == pytest.approx([expected] * 2)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    first, second, third = found.selection
    assert f"the 3 chosen, arms {first}, {second} and {third}" in labels
    assert not any("beyond the line" in label or "the leader" in label for label in labels)
    assert {order[int(x) - 1] for x, _ in points(pulls(path, axes=new_axes()), LEADER)} == chosen
    title = claims_curve(path, axes=new_axes()).get_title(loc="left")
    assert f"arms {first}, {second} and {third} are each within" in " ".join(title.split())
    timed = race(path, axes=new_axes())
    assert look(timed, LINE).get_ydata()[-1] == pytest.approx(expected)
    for one in (axes, timed):
        assert faults(one) == []


# Pulls


@pytest.mark.parametrize("name", NAMES)
def test_pulls_are_those_of_every_arm(file, name):
    now = standing(file, name)
    axes = pulls(file, name, axes=new_axes())
    heights = np.nansum([one.get_data().values for one in axes.patches if hasattr(one, "get_data")], axis=0)
    np.testing.assert_array_equal(heights, now.pulls[by_mean(now)])
    assert heights.sum() == now.total
    assert axes.get_ylim()[1] > now.pulls.max()


def test_pulls_of_any_algorithm():
    found = Search(design("p2", 0.5, 0.9, 0.5))
    found.tell_many([(one, 1.0) for one in found.ask_many(7)])
    assert pulls(found, axes=new_axes()).get_title(loc="left") == "7 pulls of 1 arms: it is still running"
    for function in (intervals, race):
        with pytest.raises(ValueError, match=r"^source must come from an algorithm with bounds at any time, got 'p2'$"):
            function(found, axes=new_axes())


# The race


@pytest.mark.parametrize("name", NAMES)
def test_the_race_is_the_timeline(file, name):
    moments = timeline(file, name, points=60)
    axes = race(file, name, axes=new_axes())
    x = [now.total for now in moments]
    mean = look(axes, LEADER).get_xydata()
    np.testing.assert_array_equal(mean, [(now.total, now.row(now.leader).mean) for now in moments])
    np.testing.assert_array_equal(look(axes, LINE).get_xydata(), np.column_stack([x, [now.line for now in moments]]))
    reach = [now.others_at_best for now in moments]
    np.testing.assert_array_equal(look(axes, REACH).get_xydata(), np.column_stack([x, reach]))
    assert set(look(axes, END).get_xdata()) == {moments[-1].total}
    bounds = {(now.total, row.lower, row.upper) for now in moments for row in now.rows if row.arm != now.leader}
    assert {tuple(bar) for bar in bars(axes)} <= bounds
    assert len(bars(axes)) > 8
    low, high = axes.get_ylim()
    late = [now for now in moments if now.total > 0.2 * moments[-1].total]
    for now in late:
        row = now.row(now.leader)
        assert low <= min(row.lower, now.line, now.others_at_best)
        assert high >= max(row.upper, now.line, now.others_at_best)


def test_the_race_ends_where_the_lines_meet_for_separate_bounds(file):
    for name, sign in (("stopped", 1.0), ("costs", -1.0)):
        axes = race(file, name, axes=new_axes())
        gap = sign * (look(axes, REACH).get_ydata() - look(axes, LINE).get_ydata())
        assert gap[-1] <= 1e-9
        assert (gap[:-1] > 0.0).mean() > 0.9


def test_stored_and_unstored_results_make_the_same_race(file):
    unstored = search(draw, pull, **EASY, algorithm="cc-lucb")
    one, other = race(file, "stopped", axes=new_axes()), race(unstored, axes=new_axes())
    for first, second in zip(one.lines, other.lines, strict=True):
        np.testing.assert_array_equal(first.get_xydata(), second.get_xydata())
    np.testing.assert_array_equal(bars(one), bars(other))
    again = race(timeline(unstored, arms=3), axes=new_axes())
    np.testing.assert_array_equal(bars(again), bars(one))


def test_a_race_of_ten_thousand_arms(many):
    axes = race(many, points=8, axes=new_axes())
    assert len(axes.get_children()) < 40
    assert look(axes, LEADER).get_xdata()[-1] == many.history.t


# What is proved


@pytest.mark.parametrize("name", NAMES)
def test_the_curve_is_what_the_certificate_claims(file, name):
    now = standing(file, name)
    axes = claims_curve(file, name, axes=new_axes())
    np.testing.assert_array_equal(points(axes, PROVED), np.array(now.certificate.claims))
    steps = look(axes, PROVED)
    assert steps.get_drawstyle() == "steps-post"
    assert steps.get_xydata()[-1].tolist() == [1.0, now.claims[-1].epsilon]
    target = next(line for line in axes.lines if line.get_marker() == "*")
    assert target.get_xydata().tolist() == [[now.alpha, now.epsilon]]


@pytest.mark.parametrize("alpha", [0.3, 0.21, 0.007])
def test_the_target_s_alpha_is_a_tick_of_the_curve(alpha):
    found = search(draw, pull, **EASY | {"alpha": alpha, "epsilon": 0.6}, algorithm="cc-lucb")
    axes = claims_curve(found, axes=new_axes())
    labels = {tick: label.get_text() for tick, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)}
    assert labels[alpha] == f"{100 * alpha:g}%"
    assert labels[1.0] == "100%"
    assert faults(axes) == []


def test_wide_letters_in_a_title_are_not_cut(file):
    for name in ("W" * 150, "M m W w " * 20, "探" * 90, "i" * 200):
        axes = pulls(replace(standing(file, "stopped"), name=name), axes=new_axes())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            assert faults(axes) == []


def test_a_leader_that_least_is_proved_of_is_told(file):
    now = standing(file, "early")
    other = next(arm for arm in range(now.drawn) if arm != now.leader)
    for function, source in ((intervals, replace(now, about=other)), (pulls, replace(now, about=other))):
        labels = [text.get_text() for text in function(source, axes=new_axes()).get_legend().get_texts()]
        assert f"the leader, arm {now.leader} (most is proved of arm {other})" in labels
    moments = timeline(file, "early", arms=3)
    moments[-1] = replace(moments[-1], about=other)
    labels = [text.get_text() for text in race(moments, axes=new_axes()).get_legend().get_texts()]
    assert f"mean of the leader (arm {now.leader} at the end) (most is proved of arm {other})" in labels
    same = replace(now, about=now.leader)
    assert not any("most is" in text.get_text() for text in intervals(same, axes=new_axes()).get_legend().get_texts())


def test_without_a_proof_there_is_no_curve():
    found = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    found.tell(found.ask(), 1.0)
    with pytest.raises(
        ValueError, match=r"^source must come from a search that has proved something, got 'it is still run"
    ):
        claims_curve(found, axes=new_axes())


# Sources


def test_a_file_that_is_being_written_a_choice_and_a_single_reward(tmp_path):
    path = tmp_path / "running.db"
    with Session.start(Task(0.2, 0.2, 0.1, algorithm="cc-lucb"), storage=path, name="$x_1 <script>") as session:
        for function in (pulls, intervals, race):
            with pytest.raises(ValueError, match=r"^source must hold a reward at least, got 0$"):
                function(path, axes=new_axes())
        for one in session.ask_many(9):
            session.keep(one.arm, one.arm)
            if one.arm < 7:
                session.tell(one, one.arm / 8.0)
                for function in (pulls, intervals, race):
                    axes = function(path, axes=new_axes())
                    assert "$x_1 <script>" in axes.get_title(loc="left")
                    assert faults(axes) == [], "the name is no mathematics"
    chosen = select([2, 3, 5, 7], range(1, 31), lambda divisor, number: number % divisor == 0, epsilon=0.1)
    for function in KINDS.values():
        assert faults(function(chosen, axes=new_axes())) == []


@pytest.mark.parametrize("kind", KINDS)
def test_other_sources_are_refused(kind, tmp_path):
    with pytest.raises(ValueError, match=r"^source must be a Result, .*, got 3$"):
        KINDS[kind](3, axes=new_axes())
    with pytest.raises(ValueError, match=r"^path must exist, got "):
        KINDS[kind](tmp_path / "nowhere.db", axes=new_axes())


def test_a_moment_with_few_arms_is_not_all_arms(file):
    moment = timeline(file, "stopped", arms=2)[-1]
    with pytest.raises(ValueError, match=r"^source must describe all arms, got '2 of "):
        intervals(moment, axes=new_axes())
    with pytest.raises(ValueError, match=r"^rivals must be at most 4, got 5$"):
        race(file, "stopped", rivals=5)


# Legible


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_off_or_on_top_of_another_and_a_legend_needs_no_colours(file, name, kind):
    axes = KINDS[kind](file, name, axes=new_axes())
    assert faults(axes) == []
    looks = plain_looks(axes)
    assert len(set(looks)) == len(looks), looks


@pytest.mark.parametrize("kind", quick(KINDS, ["race"]))
def test_ten_thousand_arms_are_legible(many, kind):
    axes = race(many, points=4, axes=new_axes()) if kind == "race" else KINDS[kind](many, axes=new_axes())
    assert faults(axes) == []
    looks = plain_looks(axes)
    assert len(set(looks)) == len(looks), looks


def test_axes_of_the_caller_s_own_keep_the_legend_inside(file):
    from matplotlib.figure import Figure

    axes = Figure(figsize=(7.0, 5.0)).add_subplot()
    assert race(file, "stopped", axes=axes) is axes
    axes.figure.canvas.draw()
    inner, legend = axes.get_window_extent(), axes.get_legend().get_window_extent()
    assert inner.x0 <= legend.x0
    assert inner.y0 <= legend.y0


def test_without_axes_pyplot_has_the_figure(file):
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    axes = pulls(file, "stopped")
    try:
        assert axes.figure.number in pyplot.get_fignums()
    finally:
        pyplot.close(axes.figure)


# Files, the command line, and no matplotlib


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.mark.parametrize("ending", quick(["png", "svg", "pdf"], ["svg"]))
def test_the_command_line_draws_every_kind_of_file(file, tmp_path, ending):
    for kind in KINDS:
        target = tmp_path / f"{kind}.{ending}"
        outcome = run("figure", file, "--name", "stopped", "--kind", kind, "-o", target)
        assert (outcome.exit_code, outcome.output.strip()) == (0, str(target))
        before = target.read_bytes()
        assert before[:4] in (b"\x89PNG", b"%PDF", b"<?xm")
        run("figure", file, "--name", "stopped", "--kind", kind, "-o", target)
        assert target.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("-o", "race.gif", "--name", "joint"), "path must end in .png, .svg, .pdf, got 'race.gif'"),
        (("-o", "/nowhere/race.png", "--name", "joint"), "output must name a file that can be written"),
        (("-o", "race.png"), "name must be given unless the file holds one search, got None"),
    ],
)
def test_the_command_line_refuses_in_one_sentence(file, arguments, sentence):
    outcome = run("figure", file, *arguments)
    assert outcome.exit_code == 2
    assert outcome.output.startswith(f"topalpha: {sentence}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("change", "entry"),
    [
        ({"claims": [{"alpha": 0.001, "epsilon": 0.001}]}, "claims"),
        ({"claims": [{"alpha": 0.2, "beta": 1}]}, "claims"),
        ({"arm": 0}, "arm"),
        ({"more": 1}, "more"),
    ],
)
def test_a_certificate_that_was_altered_is_refused(file, tmp_path, kind, change, entry):
    found = read(file, "stopped").certificate
    assert found["arm"] != 0
    forged = tmp_path / "forged.db"
    forged.write_bytes(file.read_bytes())
    with Storage(forged) as storage:
        storage.open("stopped").finish("stopped", found | change)
    outcome = run("figure", forged, "--name", "stopped", "--kind", kind, "-o", tmp_path / "x.png")
    assert outcome.exit_code == 1
    assert outcome.output.startswith(f"topalpha: NOT verified: {entry} must be what the record bears out, got ")
    assert not (tmp_path / "x.png").exists()
    with pytest.raises(Refuted, match=f"^{entry} must"):
        KINDS[kind](forged, "stopped", axes=new_axes())


def test_a_claim_that_is_none_is_refused(file):
    found = read(file, "stopped").certificate
    for wrong in (None, {"alpha": 0.1}, {"alpha": 0.1, "beta": 0.1}, 3):
        with pytest.raises(ValueError, match=r"^claim must have exactly the entries alpha, epsilon, got "):
            Certificate.from_dict(found | {"claims": [wrong]})


def test_a_picture_never_takes_the_place_of_a_record(file, tmp_path):
    record, link, other = tmp_path / "record.db", tmp_path / "link.png", tmp_path / "other.png"
    for one in (record, other):
        one.write_bytes(file.read_bytes())
    link.symlink_to(record)
    beside = tmp_path / "again.png"
    beside.symlink_to(f"{record}-wal")
    for given, target, words in (
        (record, link, f"be a separate file from {str(record)!r}"),
        (link, link, f"be a separate file from {str(link)!r}"),
        (link, beside, f"be a separate file from {str(link)!r}"),
        (other, other, f"be a separate file from {str(other)!r}"),
        (record, other, "not be a storage file"),
    ):
        outcome = run("figure", given, "--name", "stopped", "--kind", "pulls", "-o", target)
        assert (outcome.exit_code, outcome.output) == (2, f"topalpha: output must {words}, got {str(target)!r}\n")
    with pytest.raises(ValueError, match=r"^path must not be a storage file, got "):
        figures.save(new_axes(), link)
    assert record.read_bytes() == other.read_bytes() == file.read_bytes()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["again.png", "link.png", "other.png", "record.db"]


def test_a_picture_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "picture.png"
    target.write_text("before")

    def fail(*given, **named):
        raise OSError(28, "No space left on device")

    axes = new_axes()
    monkeypatch.setattr(axes.figure, "savefig", fail)
    with pytest.raises(OSError, match="No space"):
        figures.save(axes, target)
    assert target.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["picture.png"]


def test_svg_for_a_page_is_one_element(file):
    text = figures.svg(pulls(file, "stopped", axes=new_axes()))
    assert text.startswith("<svg")
    assert text.rstrip().endswith("</svg>")
    assert "<script" not in text
    assert text == figures.svg(pulls(file, "stopped", axes=new_axes()))


@pytest.mark.parametrize(
    ("name", "shown"),
    quick(
        [
            ("a\x01b\x00c", "a\ufffdb\ufffdc"),
            ("\u202etfel\u2066", "\ufffdtfel\ufffd"),
            ("one\nline\ttwo \uffff", "one line two \ufffd"),
            ("探索 \U0001f600", "探索 \U0001f600"),
        ],
        [("one\nline\ttwo \uffff", "one line two \ufffd")],
    ),
)
def test_a_name_may_hold_any_sign(tmp_path, name, shown):
    path = tmp_path / "names.db"
    search(draw, pull, **EASY, algorithm="cc-lucb", pulls=40, storage=path, name=name)
    outcome = run("figure", path, "--kind", "pulls", "-o", tmp_path / "x.svg")
    assert (outcome.exit_code, outcome.stderr) == (0, "")
    ElementTree.parse(tmp_path / "x.svg")
    axes = pulls(path, axes=new_axes())
    assert f"“{shown}”" in " ".join(axes.get_title(loc="left").split())
    assert shown in "".join(ElementTree.fromstring(figures.svg(axes)).itertext())
    assert f"<h1>{shown}</h1>" in html(path)


def test_matplotlib_is_loaded_by_drawing_alone_and_named_where_it_is_missing(file):
    code = (
        "import sys, topalpha.figures, topalpha.cli\n"
        "assert not any(name.startswith('matplotlib') for name in sys.modules)\n"
        "sys.modules['matplotlib'] = None\n"
        "for axes in ({}, {'axes': None}):\n"
        "    try:\n"
        "        topalpha.figures.new_axes() if axes else topalpha.figures.reservoir('beta(1,2)')\n"
        "    except ImportError as error:\n"
        "        print(error)\n"
        f"topalpha.cli.main(['figure', {str(file)!r}, '--name', 'joint', '-o', 'x.png'])"
    )
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    sentence = "figures must be drawn with matplotlib: pip install 'topalpha[plot]'"
    assert outcome.stdout.splitlines() == [sentence] * 2, outcome.stderr
    assert outcome.returncode == 2
    assert outcome.stderr == f"topalpha: {sentence}\n"


def test_the_command_knows_all_kinds():
    from topalpha.cli.figure import KINDS as offered

    assert set(offered) == set(KINDS)
