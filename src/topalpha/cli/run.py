"""``topalpha run`` and ``topalpha resume``: a search over a person's own code."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from topalpha.cli import inputs
from topalpha.cli.code import locate, sibling
from topalpha.cli.output import console, delivery, escape
from topalpha.cli.program import FAILED, refusals, say
from topalpha.cli.trust import allow
from topalpha.validate import require

if TYPE_CHECKING:
    from topalpha.ask_tell import Result

_PROGRESS = click.Choice(["auto", "live", "lines", "none"])
_ON_ERROR = click.Choice(["raise", "retry", "worst"])
_ON_LOST = click.Choice(["again", "worst"])
_EXECUTORS = click.Choice(["threads", "processes"])


def running_options(command: Any) -> Any:
    """How a search runs."""
    options = (
        click.option("--executor", type=_EXECUTORS, help="Where pulls run; one at a time unless given."),
        click.option("--workers", type=inputs.WORKERS, help="How many threads or processes."),
        click.option("--width", type=inputs.WIDTH, help="Pulls in flight at once; as many as workers unless given."),
        click.option("--pulls", type=inputs.COUNT, help="Budget: end after so many pulls."),
        click.option("--seconds", type=inputs.POSITIVE, help="Budget: end after so many seconds."),
        click.option("--cost", type=inputs.POSITIVE, help="Budget: end when the cost of pulls reaches this."),
        click.option("--cost-of", type=inputs.POSITIVE, help="What one pull costs."),
        click.option("--retries", type=inputs.COUNT, default=3, show_default=True, help="With --on-error retry."),
        click.option("--timeout", type=inputs.POSITIVE, help="Seconds after which a pull counts as failed."),
        click.option(
            "--patience",
            type=inputs.SECONDS,
            default=60.0,
            show_default=True,
            help="Seconds that pulls in flight are waited for when a budget, a signal or a message ends the search.",
        ),
        click.option("--progress", type=_PROGRESS, default="auto", show_default=True, help="How progress is shown."),
        inputs.json_option,
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command()
@click.argument("function", metavar="MODULE:FUNCTION")
@click.option("--draw", metavar="MODULE:NAME", help="Draws candidates, or is a list of them; MODULE:draw unless given.")
@click.option("--candidates", metavar="FILE", help="A JSON list of candidates, in place of a function that draws them.")
@click.option("--items", metavar="FILE", help="A JSON list of test items: a pull is pass or fail on one of them.")
@inputs.target_options
@click.option("--family", help="Rewards: bernoulli, range(lo,hi), normal, ...; see `topalpha list`.")
@click.option("--minimise", is_flag=True, help="Rewards are costs: small ones are good.")
@click.option("--algorithm", type=inputs.AlgorithmName(), help="See `topalpha list`; the default suits the rewards.")
@inputs.option_option
@inputs.seed_option
@click.option("--about", default="", help="Which law candidates are drawn from, in words, for the certificate.")
@click.option("--on-error", type=_ON_ERROR, default="raise", show_default=True, help="What a failed pull leads to.")
@click.option("--on-lost", type=_ON_LOST, default="again", show_default=True, help="What a pull without answer counts.")
@click.option("--storage", metavar="FILE", help="Keep everything in this file, to resume and to verify.")
@click.option("--name", default="search", show_default=True, help="Of the search in that file.")
@click.option("--pickle", is_flag=True, help="Pickle candidates that JSON cannot hold.")
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
    """Search over your own code: FUNCTION evaluates a candidate once and returns its reward.

    Candidates come from the function `draw` of the same module, or from --draw or --candidates.

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


@click.command()
@click.argument("file")
@click.option("--name", help="Which search, if the file holds several.")
@click.option("--function", metavar="MODULE:FUNCTION", help="What evaluates a candidate; as recorded unless given.")
@click.option("--draw", metavar="MODULE:NAME", help="What draws candidates; as recorded unless given.")
@click.option("--allow-code", is_flag=True, help="Run the code that FILE names, and load its pickles, without asking.")
@click.option("--allow-pickle", is_flag=True, help="Load candidates that were pickled; they can run any code.")
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
    """Go on with the search in FILE, with the code that it was started with.

    What was evaluated is not evaluated again. FILE names the code, and whoever wrote FILE chose that name: on a
    terminal you are shown what would be imported, and asked; in a script it needs --allow-code, or --function and
    --draw. Candidates that were pickled need --allow-code or --allow-pickle.
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
    """The code to go on with, and which parts of it the file names: a person who names code trusts it already."""
    known = isinstance(kept, Mapping) and isinstance(kept.get("pull"), str)
    require(known or bool(function), "function", "be given, for the search was not started by `topalpha run`", function)
    code: dict[str, str | None] = dict.fromkeys(("pull", "draw", "candidates", "items"))
    for part in code:
        value = kept.get(part) if known else None
        require(value is None or isinstance(value, str), "code", "name functions and files by text", kept)
        code[part] = value
    listed = code["candidates"] is not None
    require(not (listed and draw), "draw", f"be left out, for candidates are those of {code['candidates']!r}", draw)
    named = {} if function else {"function": str(code["pull"])}
    own = bool(draw) or (bool(function) and code["draw"] is None)
    code["pull"] = function or code["pull"]
    code["draw"] = draw or code["draw"] or sibling(str(code["pull"]), "draw")
    return code, named if own or listed else {**named, "draw": str(code["draw"])}


def _code(code: Mapping[str, str | None]) -> tuple[Any, Any, list[Any] | None]:
    """What draws candidates, what evaluates them, and the test items if there are any."""
    pull = locate(str(code["pull"]))
    candidates, items = code.get("candidates"), code.get("items")
    source = _list(candidates, "candidates") if candidates is not None else locate(str(code["draw"]), "draw")
    return source, pull, None if items is None else _list(items, "items")


def _list(path: str, name: str) -> list[Any]:
    """The JSON list in a file."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{name} must be a file with a JSON list, got {path!r} ({error})") from None
    require(isinstance(found, list) and len(found) > 0, name, "be a JSON list that is not empty", path)
    return list(found)


def _deliver(json_target: str | None, start: Callable[[], Result], *spared: str | None) -> int:
    """Run a search, and say what came of it; the JSON is none of the files that are ``spared``."""
    from topalpha.execution import PullFailed, exit_code
    from topalpha.storage import RecordLost

    logging.basicConfig(format="%(message)s")
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
                    # It was said when it was noticed, while pulls may still have been under way.
                    result, code = error.result, FAILED
        except PullFailed as error:
            say(str(error))
            if error.result is None:
                return FAILED
            result, code = error.result, FAILED
        try:
            deliver(result.to_dict())
        finally:  # what was found is said even if the file cannot be written any more
            if json_target != "-":
                show(result)
    if result.certificate is not None:
        code = exit_code(result.certificate.reason) or code
    return code


def show(result: Result) -> None:
    """The statement, then the figures."""
    from rich.table import Table

    certificate = result.certificate
    page = console()
    page.print(f"[bold]{escape(result.statement)}[/bold]")
    if certificate is None:
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("candidate", escape(str(certificate.candidate)))
    table.add_row("spent", f"{certificate.pulls:,} pulls of {certificate.arms:,} candidates")
    table.add_row("its mean", f"{certificate.mean:.4g}, at worst {_number(certificate.at_worst)}")
    table.add_row("others", f"at best {_number(certificate.others_at_best)}")
    for number, assumption in enumerate(certificate.assumptions):
        table.add_row("assumed" if number == 0 else "", escape(assumption))
    page.print(table)


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"
