"""``topalpha show``, ``verify`` and ``export``: the contents of a file of searches."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from topalpha.cli.inputs import COUNT, json_option, needs
from topalpha.cli.output import Column, console, delivery, escape, tabulate, written
from topalpha.cli.program import FAILED, Command, Refused, refusals, say, section
from topalpha.storage.outputs import refused, writable
from topalpha.storage.plain_text import plain
from topalpha.validate import LONGEST_LIST

if TYPE_CHECKING:
    from rich.console import Console

    from topalpha.storage import Overview, Recording

_UNVERIFIED = "Not verified: this is what the file says; topalpha verify computes it again from the evaluations."
name_option = section("Input", click.option("--name", help="Which search, if the file holds several."))


def composed(output: str, file: str, write: Callable[[], object]) -> int:
    """Write a file computed from a record, and print its name; a certificate that disagrees is a failure."""
    from topalpha.session import Refuted

    with refusals():
        writable("output", output, file)  # before the work
        try:
            write()
        except Refuted as error:
            say(f"NOT verified: {error}")
            return FAILED
        except ImportError as error:
            raise Refused(str(error)) from error
        except OSError as error:
            raise refused("output", output, error) from error
    click.echo(output)
    return 0


@click.command(cls=Command)
@click.argument("file")
@name_option
@section(
    "Output",
    click.option(
        "--arms", type=COUNT, default=10, show_default=True, help="How many candidates to list, the best first."
    ),
)
@json_option
def show(file: str, name: str | None, arms: int, json_target: str | None) -> None:
    """Show the searches in FILE, also while they run.

    One search is shown in full: its best candidates with their bounds.
    """
    from topalpha.storage import names, read

    with delivery(json_target, file) as deliver:
        with refusals():
            known = names(file)
            found = [read(file, one, log=False) for one in known if name is None or one == name]
            if name is not None and not found:
                read(file, name, log=False)
        needs("arms", "--name, where there are several searches", len(found) <= 1)
        deliver({"searches": [_summary(one) for one in found]})
    if json_target != "-":
        page = console()
        for one in found:
            _describe(page, file, one, arms if len(found) == 1 else 0)
        page.print(_UNVERIFIED)


def _summary(one: Recording) -> dict[str, Any]:
    return {
        "verified": False,
        "name": one.name,
        "status": one.status,
        "alive": _overview(one).alive(),
        "created": one.created,
        "progress": one.progress,
        "standing": _standing(one),
        "certificate": one.certificate,
        "config": one.config,
    }


def _standing(one: Recording) -> dict[str, Any]:
    """Whom it returns, the line that the bounds of the others must cross, and how many have not."""
    from topalpha.ask_tell import contest_of

    selection, around = contest_of(one)
    line = around.line if around.line is not None and isfinite(around.line) else None
    contested = 0 if one.status == "stopped" else len(around.above)
    return {"selection": selection, "line": line, "unresolved": contested, "over": len(around.above)}


def _describe(page: Console, file: str, one: Recording, arms: int) -> None:
    page.print(f"[bold]{escape(one.name)}[/bold]: {escape(_state(one))}, created {escape(one.created)}")
    now = _standing(one)
    if one.status == "running" and now["selection"]:
        several = len(now["selection"]) > 1
        who = " and ".join(_names(file, one, now["selection"], _places(one)).values())
        bounded = (one.progress or {}).get("bounded") is not False
        contested = f", contested by {now['unresolved']:,} others" if bounded else ""
        page.print(escape(f"{who} {'lead' if several else 'leads'}{contested}."))
    if _silent(one) is not None:
        page.print("It has not ended: topalpha resume goes on with it.")
    elif one.status not in ("running", "stopped"):
        page.print("It ended before its target was proved: topalpha resume goes on with it.")
    if isinstance(statement := (one.certificate or {}).get("statement"), str):
        page.print(escape(statement))
    if arms and one.snapshot:
        page.print()
        _best(page, file, one, arms)
        page.print("\nLower and upper are the bounds that the algorithm compares, each at its own confidence level.")
    page.print()


def _best(page: Console, file: str, one: Recording, arms: int) -> None:
    """The table of the best candidates."""
    task = one.config.get("task")
    if isinstance(task, Mapping) and task.get("minimise"):
        rows = sorted(one.snapshot, key=lambda row: (row.mean is None, row.mean or 0.0, row.upper))
    else:
        rows = sorted(one.snapshot, key=lambda row: (row.mean is None, -(row.mean or 0.0), -row.lower))
    places = _places(one)
    columns = (
        Column("arm", rank=3 if places else 0),
        *[Column("index")] * bool(places),
        Column("pulls", rank=1),
        Column("mean"),
        Column("lower"),
        Column("upper"),
        Column("in flight", rank=2),
        Column("candidate", left=True),
    )
    known = _names(file, one, [row.arm for row in rows[:arms]])
    cells = [
        (
            str(row.arm),
            *[str(places.get(row.arm, ""))] * bool(places),
            f"{row.pulls:,}",
            "" if row.mean is None else f"{row.mean:.4g}",
            f"{row.lower:.4g}",
            f"{row.upper:.4g}",
            str(row.pending),
            escape(known[row.arm]),
        )
        for row in rows[:arms]
    ]
    tabulate(page, columns, cells)


def _overview(one: Recording) -> Overview:
    from topalpha.storage import Overview

    return Overview(one.name, one.status, one.created, one.config, one.progress, one.updated)


def _silent(one: Recording) -> str | None:
    """For how long a search that has not ended has given no sign of life; None if it is alive, or never ran."""
    if one.status != "running" or one.updated is None or _overview(one).alive():
        return None
    seconds = max(0.0, time.time() - one.updated)
    for unit, size in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2.0 * size:
            return f"for {seconds / size:,.0f} {unit}"
    return f"for {seconds:,.0f} seconds"


def _state(one: Recording) -> str:
    """How the search stands, and what it has spent."""
    silent = _silent(one)
    if silent is not None:
        status = f"no sign of life {silent} (killed, or left by its program)"
    elif one.status == "running":
        status = "not started" if one.updated is None else "paused" if _overview(one).paused else "running"
    else:
        status = "stopped" if one.status == "stopped" else "ended early"
    if not one.progress:
        return f"{status}, no evaluations yet"
    return f"{status}, {_count(one.progress, 'pulls')} evaluations of {_count(one.progress, 'arms')} candidates"


def _places(one: Recording) -> dict[int, int]:
    """Where the candidates stand in the list that they come from, by arm; empty without a list."""
    from topalpha.execution import place_in_list

    task = one.config.get("task")
    seed, pool = (task.get("seed"), task.get("pool")) if isinstance(task, Mapping) else (None, None)
    # A file may have been altered.
    if type(seed) is not int or type(pool) is not int or seed < 0 or not 0 < pool <= LONGEST_LIST:
        return {}
    return {row.arm: place_in_list(seed, pool, row.arm) for row in one.snapshot if 0 <= row.arm < pool}


def _names(file: str, one: Recording, arms: Sequence[int], places: Mapping[int, int] | None = None) -> dict[int, str]:
    """What these candidates are called, by arm, perhaps with their places in a list; no pickle is loaded."""
    from topalpha.display.candidate_names import titled_text
    from topalpha.storage import candidates

    texts = candidates(file, one.name, arms)
    return {arm: titled_text(texts.get(arm), arm, (places or {}).get(arm)) for arm in arms}


def _count(progress: Mapping[str, Any], name: str) -> str:
    found = progress.get(name)
    return f"{found:,}" if isinstance(found, int) else "an unknown number of"


@click.command(cls=Command)
@click.argument("file")
@name_option
@section(
    "Input",
    click.option("--certificate", metavar="JSON", help="Another copy of the certificate, to compare with the record."),
    click.option(
        "--allow-pickle", is_flag=True, help="Load pickled candidates to verify them too; this can run any code."
    ),
)
@json_option
def verify(file: str, name: str | None, certificate: str | None, allow_pickle: bool, json_target: str | None) -> int:
    """Check the certificate in FILE against the recorded evaluations.

    It is computed again from them, and refused if it disagrees. The exit code is 1 then.
    """
    from topalpha.session import Refuted
    from topalpha.session import verify as check
    from topalpha.storage.encoding import PICKLED

    with delivery(json_target, file, certificate) as deliver:
        with refusals():
            claimed = None if certificate is None else _certificate(certificate)
        try:
            with refusals(), _let(Refuted):
                proved = check(file, name, claimed, allow_pickle=allow_pickle)
        except _Passed as passed:
            say(f"NOT verified: {passed}")
            deliver({"verified": False, "reason": str(passed)})
            return FAILED
        unsure = ["name", "created", *([] if proved.reason == "stopped" else ["reason"])]
        deliver({"verified": True, "certificate": proved.to_dict(), "not_verified": unsure})
    if json_target != "-":
        page = console()
        page.print(f"Verified: {proved.pulls:,} evaluations replayed.\n[bold]{escape(proved.statement)}[/bold]")
        ended = "" if proved.reason == "stopped" else ", and why it ended"
        page.print(f"Not verified, because no evaluation confirms them: the search's name, when it began{ended}.")
        if proved.candidate == PICKLED and not allow_pickle:
            page.print("The candidates are pickles, which were not loaded: they are not verified.")
    return 0


class _Passed(Exception):
    """Carries one kind of error past the handler of invalid input."""


@contextmanager
def _let(kind: type[ValueError]) -> Iterator[None]:
    try:
        yield
    except kind as error:
        raise _Passed(str(error)) from error


def _certificate(path: str) -> dict[str, Any]:
    from topalpha.storage.encoding import from_json

    try:
        found = from_json(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"certificate must be a file with a JSON object, got {path!r} ({error})") from None
    if isinstance(found, dict) and isinstance(found.get("certificate"), dict):
        found = found["certificate"]  # as `topalpha run --json` writes it
    if not isinstance(found, dict):
        raise ValueError(f"certificate must be a file with a JSON object, got {path!r}")
    return found


@click.command(cls=Command)
@click.argument("file")
@name_option
@section(
    "Output",
    click.option("--csv", "target", metavar="CSV", required=True, help="Write to this file, or to stdout if -."),
    click.option(
        "--what", type=click.Choice(["pulls", "arms"]), default="pulls", show_default=True, help="One row each."
    ),
)
def export(file: str, name: str | None, target: str, what: str) -> None:
    """Write the evaluations or the candidates of a search as CSV.

    Evaluations (pulls) as they are written here can be the pilot of topalpha plan --pilot. Candidates are called arms.
    """
    from topalpha.storage import read

    with _writing(target, file) as stream:
        with refusals():
            recording = read(file, name)
        rows = _pulls(recording) if what == "pulls" else _arms(recording)
        if stream.isatty():
            rows = ([plain(str(cell)) for cell in row] for row in rows)
        csv.writer(stream, lineterminator="\n").writerows(rows)


def _pulls(recording: Recording) -> Iterator[Sequence[Any]]:
    """Rows in the order in which rewards were told; ``number`` counts the pulls of one candidate."""
    yield ("sequence", "order", "candidate", "number", "reward")
    numbers: list[int] = []
    counts: dict[int, int] = {}
    for arm, _ in recording.asks:
        numbers.append(counts.get(arm, 0))
        counts[arm] = numbers[-1] + 1
    for sequence, (order, reward) in enumerate(recording.tells):
        yield (sequence, order, recording.asks[order][0], numbers[order], repr(reward))


def _arms(recording: Recording) -> Iterator[Sequence[Any]]:
    yield ("candidate", "pulls", "mean", "value")
    rewards: dict[int, list[float]] = {}
    for order, reward in recording.tells:
        rewards.setdefault(recording.asks[order][0], []).append(reward)
    for arm, raw in enumerate(recording.arms):
        own = rewards.get(arm, [])
        value = raw if isinstance(raw, str) else "(pickled)"
        yield (arm, len(own), repr(sum(own) / len(own)) if own else "", value)


@contextmanager
def _writing(target: str, file: str) -> Iterator[TextIO]:
    if target == "-":
        yield sys.stdout
        return
    with written("csv", target, file) as draft, draft.open("w", encoding="utf-8", newline="") as stream:
        yield stream
