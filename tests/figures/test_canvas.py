"""Axes and files of pictures: legible, written whole or not at all, and no matplotlib before a picture is drawn."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from tests.support.drawn_searches import EASY, NAMES, draw, pull, run
from tests.support.marks import quick
from tests.support.pictures import faults, plain_looks
from topalpha import figures, search
from topalpha.figures import KINDS, new_axes, pulls, race
from topalpha.report import html
from topalpha.report.pictures import SIZE

#: The pictures of any search; one is of duels alone.
OF_SEARCHES = [kind for kind in KINDS if kind != "difference"]


@pytest.mark.parametrize("kind", OF_SEARCHES)
@pytest.mark.parametrize("name", quick(NAMES, ["joint", "early"]))
def test_nothing_is_cut_off_or_on_top_of_another_and_a_legend_needs_no_colours(file, name, kind):
    axes = KINDS[kind](file, name, axes=new_axes())
    assert faults(axes) == []
    looks = plain_looks(axes)
    assert len(set(looks)) == len(looks), looks


@pytest.mark.parametrize("kind", OF_SEARCHES)
@pytest.mark.parametrize("name", ["joint"])
def test_nothing_is_cut_off_at_the_size_of_a_report(file, name, kind):
    axes = KINDS[kind](file, name, axes=new_axes(*SIZE))
    axes.set_title("", loc="left")
    assert faults(axes) == []
    page, legend = axes.figure.bbox, axes.get_legend().get_window_extent()
    assert page.x0 <= legend.x0
    assert legend.x1 <= page.x1


@pytest.mark.parametrize("kind", quick(OF_SEARCHES, ["race"]))
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
    sentence = "figures must be drawn with matplotlib: pip install '.[plot]' in a clone of topalpha"
    assert outcome.stdout.splitlines() == [sentence] * 2, outcome.stderr
    assert outcome.returncode == 2
    assert outcome.stderr == f"topalpha: {sentence}\n"
