"""`topalpha plan`, and the sentences in which it refuses."""

from __future__ import annotations

from click.testing import CliRunner

from topalpha.cli.plan import plan as command
from topalpha.cli.program import Program

MAIN = Program("topalpha", commands={"plan": command})


def call(*arguments: str, code: int = 0):
    result = CliRunner().invoke(MAIN, ["plan", *arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def refused(*arguments: str) -> str:
    result = call(*arguments, code=2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line.removeprefix("topalpha: ")
