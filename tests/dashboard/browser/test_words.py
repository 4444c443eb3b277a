"""What the page says is true: of whom something is proved, and who may still beat the leader."""

from math import inf

import pytest

import topalpha
from tests.support.streaming import serving
from tests.support.viewing import bars, drawn, pump, shown, text, visible
from tests.support.waiting import until
from topalpha.storage import Storage, read

TASK = {"alpha": 0.1, "epsilon": 0.1, "delta": 0.05, "algorithm": "cc-lucb", "family": "normal", "minimise": False}
PROGRESS = {"pulls": 30, "in_flight": 0, "arms": 3, "leader": 1, "mean": 0.75, "low": None, "high": None}
PROGRESS |= {"gap": None, "unresolved": 2, "left": None, "paused": False, "claims": [], "about": 1, "bounded": True}
TARGET = {"alpha": 0.1, "epsilon": 0.1, "delta": 0.1, "seed": 3, "progress": "none"}


def draw(rng):
    return round(float(0.3 + 0.4 * rng.random()), 4)


def pull(candidate, rng):
    return float(rng.random() < candidate)


@pytest.fixture(scope="module")
def dashboard(browser, tmp_path_factory):
    """A dashboard on a file with searches of all kinds."""
    path = tmp_path_factory.mktemp("words") / "searches.db"
    topalpha.search(draw, pull, **TARGET, algorithm="joint-lucb", storage=path, name="joint")
    topalpha.search(draw, pull, **TARGET, algorithm="p2", storage=path, name="p2", pulls=300)
    # After 750 pulls another arm leads than the one with the largest lower bound.
    topalpha.search(draw, pull, **TARGET, algorithm="cc-lucb", storage=path, name="early", pulls=750)
    with Storage(path) as storage:
        record = storage.create("infinite", {"task": TASK})
        for arm in range(3):
            record.add_arm(arm, "abc"[arm])
        record.snapshot(
            [(0, 10, 0.25, -inf, inf, 0), (1, 10, 0.75, -inf, inf, 0), (2, 10, 0.5, -inf, 0.6, 0)], PROGRESS
        )
    with serving(path) as found:
        yield found


@pytest.fixture
def opened(view, dashboard):
    def opened(name):
        page = view(f"{dashboard.address}#name={name}")
        drawn(page)
        shown(page, "name", name)
        return page

    return opened


def test_while_bounds_are_infinite_everyone_contests(opened):
    page = opened("infinite")
    assert bars(page) == [[], [2, 3], [1]]
    assert "no finite lower bound yet, so that every other arm may still beat it" in text(page, "race-summary")
    assert "2 arms still in question" in text(page, "pulls-note")
    assert visible(page, "legend-rival")
    assert not visible(page, "legend-line")


def test_once_it_has_stopped_nobody_contests(opened, dashboard):
    page = opened("joint")
    recording = read(dashboard.path, "joint")
    places = bars(page)
    assert len(recording.snapshot) > 51, "there are more than are drawn"
    assert (len(places[0]), places[1], len(places[2])) == (50, [], 1)
    assert f"{len(recording.snapshot) - 51} other arms not" in text(page, "race-shown")
    # The bounds of some are over the line, or this would be no test.
    assert "other arms are above it" in text(page, "race-summary")
    assert "weighed all arms together" in text(page, "race-summary")
    assert "in question" not in text(page, "pulls-note")
    assert not visible(page, "legend-rival")
    assert text(page, "legend-other") == "the others"


@pytest.mark.slow
def test_without_bounds_none_are_drawn(opened):
    page = opened("p2")
    assert bars(page) == [[], [], []]
    assert page.evaluate("document.getElementById('race').layout.shapes.length") == 3, "there is a line"
    assert "no bounds for single arms" in text(page, "race-summary")
    assert "no bounds" in text(page, "leader-note")
    assert "in question" not in text(page, "pulls-note")
    for mark in ("legend-rival", "legend-line"):
        assert not visible(page, mark)
    until(lambda: page.locator("#arms tbody tr").count() or pump(page))
    assert page.locator("#arms tbody td[data-column=lower]").first.inner_text() == "none"


def test_in_the_end_the_certificate_alone_speaks(opened, dashboard):
    page = opened("early")
    recording = read(dashboard.path, "early")
    certificate = recording.certificate
    arm, proved = certificate["arm"], certificate["claims"][0]
    best = max(recording.snapshot, key=lambda row: row.mean).arm
    assert arm == recording.progress["leader"] != best, "the best mean is named, so that this is no test"
    reached = f"{proved['epsilon']:.4g}"
    assert float(text(page, "gap")) == float(f"{proved['epsilon'] - 0.1:.4g}")
    assert f"Arm {arm} is proved to be within {reached} of the top 10%" in text(page, "gap-note")
    assert f"Arm {arm} is within {reached}" in text(page, "curve-summary")
    assert text(page, "leader") == f"Arm {arm}"
    assert text(page, "leader-title") == "Arm of the certificate"
    assert f"Arm {arm} is named by the certificate" in text(page, "race-summary")
    # Those who contested the leader need not contest this one: one number is told, and it is the race's.
    assert "in question" not in text(page, "pulls-note")
    assert f"of {len(bars(page)[1])} other arms are above it" in text(page, "race-summary")
    until(lambda: page.locator("#arms tbody tr").count() or pump(page))
    assert page.locator("#arms tbody tr.leads td").first.inner_text() == str(arm)


def weighing(path, name, more):
    """A search that weighs all arms together and runs still, with these figures."""
    task = {**TASK, "algorithm": "joint-lucb", "family": "bernoulli"}
    rows = [(0, 40, 0.25, 0.2, 0.86, 0), (1, 40, 0.75, 0.7, 0.9, 0), (2, 9, 0.5, 0.0, 0.75, 0)]
    figures = {"pulls": 89, "low": 0.7, "high": 0.9, "unresolved": 1, "line": 0.8}
    with Storage(path) as storage:
        record = storage.create(name, {"task": task})
        record.snapshot(rows, {**PROGRESS, **figures, **more})
    return serving(path)


def test_what_decides_is_drawn_where_all_arms_are_weighed_together(view, tmp_path):
    with weighing(tmp_path / "one.db", "weighed", {"evidence": 0.625, "rest": 0.86, "left": 120}) as found:
        page = view(found.address)
        drawn(page)
        assert page.evaluate(
            "document.getElementById('race').layout.shapes.slice(3).map(one => one.y0)"
        ) == pytest.approx([0.8, 0.86])
        assert visible(page, "legend-rest")
        assert "together they leave at best 0.86 to the others, the dotted line" in text(page, "race-summary")
        assert "62% of the needed evidence is there" in text(page, "race-summary")
        assert text(page, "left") == "120"
        # The others run from their averages to their upper bounds; the axis is about the line, not about the worst.
        paths = page.evaluate("document.getElementById('race').layout.shapes.slice(0, 3).map(one => one.path)")
        assert paths == ["M2,0.5L2,0.75", "M3,0.25L3,0.86", "M1,0.7L1,0.9"]
        low, high = page.evaluate("document.getElementById('race').layout.yaxis.range")
        assert 0.6 < low < 0.7
        assert 0.9 < high < 1.0


def test_a_file_of_an_earlier_version_says_what_it_does_not_know(view, tmp_path):
    with weighing(tmp_path / "one.db", "earlier", {}) as found:
        page = view(found.address)
        drawn(page)
        assert "This file does not say how near that is" in text(page, "race-summary")
        assert not visible(page, "legend-rest")
        assert "needed evidence" not in text(page, "left-note")
        assert text(page, "left") == "Not known now"
