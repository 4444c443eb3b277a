"""`topalpha figure`: it draws every kind of file, and refuses in one sentence."""

from __future__ import annotations

import pytest

from tests.support.drawn_searches import run
from tests.support.marks import quick
from topalpha.figures import KINDS


@pytest.mark.parametrize("ending", quick(["png", "svg", "pdf"], ["svg"]))
def test_the_command_line_draws_every_kind_of_file(file, tmp_path, ending):
    for kind in sorted({*KINDS} - {"difference"}):  # that one is of duels
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


def test_the_command_knows_all_kinds():
    from topalpha.cli.figure import KINDS as offered

    assert set(offered) == set(KINDS)
