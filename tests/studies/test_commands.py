"""Studies and benchmarks as commands: they refuse what they do not know."""

import subprocess
import sys

import pytest

from tests.support.folders import ROOT

COMMANDS = (
    "studies.boosting",
    "studies.boosting.rounds",
    "studies.comparison",
    "studies.model_search",
    "studies.model_search.design",
    "studies.model_search.one_search",
    "studies.prompt_choice",
    "studies.recorded_tables",
    "studies.reproduction",
    "benchmarks",
)


def run_module(module, *arguments):
    """A module as a program, as the Makefile runs it."""
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("module", COMMANDS)
def test_scripts_refuse_what_they_do_not_know(module):
    found = run_module(module, "--wrong")
    assert found.returncode == 2
    assert found.stderr.strip().splitlines()[-1].endswith("error: unrecognized arguments: --wrong")


@pytest.mark.slow
def test_benchmarks_say_which_parts_there_are():
    found = run_module("benchmarks", "nope")
    assert found.returncode == 2
    assert "part must be one of start, speed, table, pulls, practice, field, dashboard, page, got nope" in found.stderr
    found = run_module("benchmarks", "--help")
    assert found.returncode == 0
    assert "start, speed, table" in found.stdout
