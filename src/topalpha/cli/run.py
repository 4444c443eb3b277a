"""``topalpha run`` and ``topalpha resume``: a search with the user's own functions."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from topalpha.cli import inputs
from topalpha.cli.code import locate, sibling
from topalpha.cli.output import console, delivery, escape, facts
from topalpha.cli.program import FAILED, Command, fitted, refusals, say, section
from topalpha.cli.trust import allow
from topalpha.validate import require

if TYPE_CHECKING:
    from topalpha.ask_tell import Result

_PROGRESS = click.Choice(["auto", "live", "lines", "none"])
_ON_ERROR = click.Choice(["raise", "retry", "worst"])
_ON_LOST = click.Choice(["again", "worst"])
_EXECUTORS = click.Choice(["threads", "processes"])


def running_options(command: Any) -> Any:
    """Options that say how a search runs."""
    sections = (
        section(
            "Evaluations",
            click.option("--executor", type=_EXECUTORS, help="Where evaluations run; one at a time unless given."),
            click.option("--workers", type=inputs.WORKERS, help="How many threads or processes."),
            click.option("--width", type=inputs.WIDTH, help="Evaluations in flight at once; by default one a worker."),
            click.option("--timeout", type=inputs.POSITIVE, help="Seconds after which an evaluation counts as failed."),
            click.option("--retries", type=inputs.COUNT, default=3, show_default=True, help="With --on-error retry."),
        ),
        section(
            "Budget",
            click.option("--pulls", type=inputs.COUNT, help="End after this many evaluations."),
            click.option("--seconds", type=inputs.POSITIVE, help="End after this many seconds."),
            click.option("--cost", type=inputs.POSITIVE, help="End when the total cost reaches this."),
            click.option("--cost-of", type=inputs.POSITIVE, help="The cost of one evaluation."),
            click.option(
                "--patience",
                type=inputs.SECONDS,
                default=60.0,
                show_default=True,
                help="Seconds to wait for evaluations in flight when a budget, a signal or a message ends the search.",
            ),
        ),
        section(
            "Output",
            click.option("--progress", type=_PROGRESS, default="auto", show_default=True, help="How it is shown."),
        ),
        inputs.json_option,
    )
    for options in reversed(sections):
        command = options(command)
    return command


@click.command(cls=Command)
@click.argument("function", metavar="MODULE:FUNCTION")
@section(
    "Candidates and examples",
    click.option(
        "--draw", metavar="MODULE:NAME", help="Function to draw candidates, or a list; MODULE:draw unless given."
    ),
    click.option(
        "--candidates", metavar="FILE", help="A JSON list of candidates, in place of a function that draws them."
    ),
    click.option(
        "--items", metavar="FILE", help="A JSON list of examples: an evaluation is pass or fail on one of them."
    ),
    click.option("--about", default="", help="Where candidates come from, in words, for the certificate."),
)
@inputs.target_options
@inputs.rewards_options
@inputs.algorithm_option(None, "Its name; the default suits the rewards.")
@inputs.seed_option("Algorithm")
@section(
    "Record",
    click.option("--storage", metavar="FILE", help="Record the search in this file, to resume and to verify."),
    click.option("--name", default="search", show_default=True, help="The name of the search in that file."),
    click.option("--pickle", is_flag=True, help="Pickle candidates that JSON cannot hold."),
)
@section(
    "Evaluations",
    click.option("--on-error", type=_ON_ERROR, default="raise", show_default=True, help="When an evaluation fails."),
    click.option("--on-lost", type=_ON_LOST, default="again", show_default=True, help="When one never ends."),
)
@running_options
def run(
    function: str,
    draw: str | None,
    candidates: str | None,
    items: str | None,
    algorithm: str | None,
    options: tuple[str, ...],
    json_target: str | None,
    **settings: Any,
) -> int:
    """Search with your own functions.

    FUNCTION evaluates a candidate once and returns its reward. Candidates come from the function draw of the same
    module, or from --draw or --candidates.

    Example: topalpha run prompts.py:score --alpha 0.1 --executor threads --workers 8 --storage prompts.db
    """
    with refusals():
        require(candidates is None or draw is None, "draw", "not be given together with candidates", draw)
    for option in ("name", "pickle"):
        inputs.needs(option, "--storage", settings["storage"] is not None)
    inputs.needs("retries", "--on-error retry", settings["on_error"] == "retry")
    inputs.needs("cost_of", "--cost", settings["cost"] is not None)
    code = {"pull": function, "draw": draw or sibling(function, "draw"), "candidates": candidates, "items": items}

    def start() -> Result:
        from topalpha.algorithms import default_for, entry
        from topalpha.families.units import reward_model
        from topalpha.running import asearch, search

        source, pull, test = _code(code)
        rewards = reward_model(settings["family"], items=None if test is None else len(test)).family
        chosen = inputs.read_options(entry(algorithm or default_for(rewards)), options)
        arguments = {"items": test, "algorithm": algorithm, "options": chosen, "code": code, **settings}
        if inspect.iscoroutinefunction(pull):
            return asyncio.run(asearch(source, pull, **arguments))
        return search(source, pull, **arguments)

    return _deliver(json_target, start, settings["storage"], candidates, items)


@click.command(cls=Command)
@click.argument("file")
@section(
    "Input",
    click.option("--name", help="Which search, if the file holds several."),
    click.option(
        "--function", metavar="MODULE:FUNCTION", help="The function that evaluates; as recorded unless given."
    ),
    click.option("--draw", metavar="MODULE:NAME", help="The function that draws; as recorded unless given."),
    click.option(
        "--allow-code", is_flag=True, help="Run the code that FILE names, and load its pickles, without asking."
    ),
    click.option("--allow-pickle", is_flag=True, help="Load pickled candidates, which can run any code."),
)
@running_options
def resume(
    file: str,
    name: str | None,
    function: str | None,
    draw: str | None,
    allow_code: bool,
    allow_pickle: bool,
    json_target: str | None,
    **settings: Any,
) -> int:
    """Continue the search in FILE with its own code.

    Recorded evaluations are not repeated. FILE names the code, and FILE may come from anyone: on a terminal you see
    which code would be imported, and are asked; a script needs --allow-code, or --function and --draw. Pickled
    candidates need --allow-code or --allow-pickle.
    """

    def start() -> Result:
        from topalpha.running import aresume
        from topalpha.running import resume as go_on
        from topalpha.storage import read

        recording = read(file, name, log=False)
        task = recording.config.get("task")
        retried = isinstance(task, Mapping) and task.get("on_error") == "retry"
        inputs.needs("retries", "--on-error retry, when the search was begun", retried)
        inputs.needs("cost_of", "--cost", settings["cost"] is not None)
        code, recorded = _recorded(recording.config.get("code"), function, draw)
        allow(file, recorded, recording.pickled and not allow_pickle, allow_code)
        source, pull, test = _code(code)
        rest = {"items": test, "name": name, "allow_pickle": recording.pickled, **settings}
        if inspect.iscoroutinefunction(pull):
            return asyncio.run(aresume(file, source, pull, **rest))
        return go_on(file, source, pull, **rest)

    return _deliver(json_target, start, file)


def _recorded(kept: Any, function: str | None, draw: str | None) -> tuple[dict[str, str | None], dict[str, str]]:
    """The code to continue with, and the parts of it that the file names: users trust code that they name."""
    known = isinstance(kept, Mapping) and isinstance(kept.get("pull"), str)
    require(known or bool(function), "function", "be given for a search not started by `topalpha run`", function)
    code: dict[str, str | None] = dict.fromkeys(("pull", "draw", "candidates", "items"))
    for part in code:
        value = kept.get(part) if known else None
        require(value is None or isinstance(value, str), "code", "name functions and files by text", kept)
        code[part] = value
    listed = code["candidates"] is not None
    require(not (listed and draw), "draw", f"be left out, because candidates come from {code['candidates']!r}", draw)
    named = {} if function else {"function": str(code["pull"])}
    own = bool(draw) or (bool(function) and code["draw"] is None)
    code["pull"] = function or code["pull"]
    code["draw"] = draw or code["draw"] or sibling(str(code["pull"]), "draw")
    return code, named if own or listed else {**named, "draw": str(code["draw"])}


def _code(code: Mapping[str, str | None]) -> tuple[Any, Any, list[Any] | None]:
    """The candidates or the function that draws them, the function that evaluates them, and the items or None."""
    pull = locate(str(code["pull"]))
    candidates, items = code.get("candidates"), code.get("items")
    source = _list(candidates, "candidates") if candidates is not None else locate(str(code["draw"]), "draw")
    return source, pull, None if items is None else _list(items, "items")


def _list(path: str, name: str) -> list[Any]:
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{name} must be a file with a JSON list, got {path!r} ({error})") from None
    require(isinstance(found, list) and len(found) > 0, name, "be a non-empty JSON list", path)
    return list(found)


def _deliver(json_target: str | None, start: Callable[[], Result], *spared: str | None) -> int:
    """Run a search and print its result; the JSON must not replace the files in ``spared``."""
    from topalpha.execution import PullFailed, exit_code
    from topalpha.storage import RecordLost

    lines = _Stderr()
    lines.setFormatter(_Lines())
    logging.basicConfig(handlers=[lines])
    logging.getLogger("topalpha").setLevel(logging.INFO)
    code = 0
    with delivery(json_target, *spared) as deliver:
        try:
            with refusals():
                try:
                    result = start()
                except RecordLost as error:
                    if error.result is None:
                        raise
                    # The loss was reported when it was noticed, perhaps while pulls were running.
                    result, code = error.result, FAILED
        except PullFailed as error:
            say(str(error))
            if error.result is None:
                return FAILED
            result, code = error.result, FAILED
        try:
            deliver(result.to_dict())
        finally:  # show the result even if the file cannot be written any more
            if json_target != "-":
                show(result)
    if result.certificate is not None:
        code = exit_code(result.certificate.reason) or code
    return code


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to what stderr is at that moment: a live line replaces it, and puts messages above itself."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record."""
        self.stream = sys.stderr
        super().emit(record)


class _Lines(logging.Formatter):
    """Messages that fit the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """The message, without the level and the name of the logger."""
        return fitted(super().format(record))


def show(result: Result) -> None:
    """Print the statement, then the figures."""
    certificate = result.certificate
    page = console()
    page.print(f"[bold]{escape(result.statement)}[/bold]")
    if certificate is None:
        return
    rows = [
        ("candidate", escape(str(certificate.candidate))),
        ("spent", f"{certificate.pulls:,} evaluations of {certificate.arms:,} candidates"),
        ("its mean", f"{certificate.mean:.4g}, at worst {_number(certificate.at_worst)}"),
        ("others", f"at best {_number(certificate.others_at_best)}"),
        *(("" if place else "assumed", escape(text)) for place, text in enumerate(certificate.assumptions)),
    ]
    facts(page, rows)


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"
