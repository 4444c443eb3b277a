"""The example and the page about choices on a test set: they run, and print what was measured."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace as Namespace

import numpy as np
import pytest
from click.testing import CliRunner

from studies.prompt_choice import page
from tests.support.folders import ROOT
from topalpha.cli import main

pytest.importorskip("sklearn")

EXAMPLES, PAGE = ROOT / "examples", ROOT / "docs" / "prompt_choice.md"
TEXT = PAGE.read_text(encoding="utf-8")
FENCES = re.findall(r"^```([^\n]*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """What the page calls the folder examples/: its scripts can be imported, its table is there."""
    shutil.copy(EXAMPLES / "prompt_scores.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    yield tmp_path
    sys.modules.pop("prompt_choice", None)


@pytest.mark.slow
def test_blocks_of_python_run_and_give_the_figures_of_the_page(folder):
    assert {info for info, _ in FENCES} <= {"", "python", "python needs sklearn"}
    space = {"__name__": "__main__"}
    for info, block in FENCES:
        if info:
            exec(compile(block, str(PAGE), "exec"), space)
    chosen, found = space["chosen"], space["found"]
    assert f"{chosen.index} {chosen.score} {chosen.evaluations} of {chosen.full_evaluations}" in TEXT
    assert f"{found.evaluations} of {found.full_evaluations}" in TEXT
    assert chosen.statement in TEXT
    assert found.statement in TEXT
    assert f"It drew {len(found.scores)} prompts" in TEXT
    assert space["audit"].passed
    check_the_sketch(space)


def check_the_sketch(space):
    """With a stand-in for the service, of which one call fails."""
    asked = []

    async def create(model, temperature, messages):
        asked.append(messages)
        if len(asked) == 3:
            raise ConnectionError
        number = int(messages[1]["content"].split()[-1])
        said = f"It is {number + ('wrongly' in messages[0]['content'])}."
        return Namespace(choices=[Namespace(message=Namespace(content=said))])

    space["client"] = Namespace(chat=Namespace(completions=Namespace(create=create)))
    space["name"] = "stand-in"
    questions = [{"text": f"Repeat {number}", "answer": str(number)} for number in range(20)]
    best = space["choose"](["Answer wrongly.", "Answer."], questions)
    assert best.candidate == "Answer."
    assert best.certificate.failures == {"retry": 1}
    assert len(asked) >= best.evaluations + 1


def test_the_commands_of_the_page_are_commands(folder):
    lines = [line for info, block in FENCES if not info for line in block.splitlines() if line.startswith("topalpha ")]
    lines += re.findall(r"`(topalpha [^`\n]+)`", TEXT)
    assert len(lines) >= 3
    for line in lines:
        name, *arguments = shlex.split(line)[1:]
        main.commands[name].make_context(name, arguments)


def test_the_links_of_the_page_lead_somewhere():
    for target in re.findall(r"\]\(([^)]+)\)", TEXT):
        path, _, place = target.partition("#")
        file = PAGE.parent / path if path else PAGE
        assert file.is_file(), target
        if place:
            titles = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert place in {re.sub(r"[^\w\- ]", "", one.strip().lower()).replace(" ", "-") for one in titles}, target


def test_the_page_is_what_was_measured(folder):
    """Every table and sentence between the marks follows from the results file."""
    results = json.loads((page.KEPT / "results.json").read_text(encoding="utf-8"))
    parts = page.parts(results)
    assert len(parts) == 7
    for name, part in parts.items():
        assert f"<!-- {name} -->\n{part}\n<!-- end of {name} -->" in TEXT
    for case in results["cases"].values():
        ours = [one for one in case["rules"] if one["rule"] in ("select (cc-lucb)", "select (joint-lucb)")]
        assert all(one["verdict"] == "compatible" for one in ours)
        assert all(one["evaluations"]["most"] <= one["full_evaluations"] for one in ours)


@pytest.mark.slow
def test_the_command_prints_what_the_page_says(folder):
    output = CliRunner().invoke(main, ["scores", "prompt_scores.csv"]).stdout
    rows = [line.split() for line in output.splitlines() if line.startswith(("select (", "25 examples", "race at"))]
    assert len(rows) == 3
    printed = [line.split() for line in TEXT.splitlines()]
    assert all(row in printed for row in rows)


def test_the_script(monkeypatch, capsys, folder):
    from examples import prompt_choice

    monkeypatch.setattr(sys, "argv", ["prompt_choice.py", "--list", "6", "--epsilon", "0.1"])
    prompt_choice.main()
    assert "within 0.1 of the best of a list of 6 prompts" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["prompt_choice.py", "--record", "again.csv"])
    prompt_choice.main()
    assert Path("again.csv").read_bytes() == (EXAMPLES / "prompt_scores.csv").read_bytes()
    drawn = [prompt_choice.draw(np.random.default_rng(seed)) for seed in range(3)]
    together = prompt_choice.scores(drawn)
    for row, prompt in enumerate(drawn):
        apart = [prompt_choice.passes(prompt, question) for question in prompt_choice.QUESTIONS]
        assert together[row].tolist() == apart
