"""How a search stands has one answer: the progress line, the file, the page, the pictures and the certificate agree."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, nullcontext

import numpy as np
import pytest
from click.testing import CliRunner

from tests.support import records
from topalpha import Refuted, Search, Task, design, parse_reservoir, search, verify
from topalpha.algorithms import ALGORITHMS as REGISTERED
from topalpha.algorithms import prior_knowledge
from topalpha.ask_tell import stand
from topalpha.certificate import certify
from topalpha.cli import main
from topalpha.dashboard.states import figures, finite
from topalpha.dashboard.watching import Channel
from topalpha.session import Progress, survey
from topalpha.standing import standing
from topalpha.storage import listing, read

EASY = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "progress": "none"}
#: One leader or several, bounds with each arm's own clock or with that of all, evidence that is weighed together, none.
ALGORITHMS = {
    "joint-lucb": {},
    "joint-one-phase": {},
    "cc-lucb": {},
    "kl-lucb": {},
    "cc-lucb-k": {"k": 3},
    "lucb-k-m": {"k": 2},
    "p2": {},
}


#: Algorithms that drop arms on the way, by bounds that they no longer have at the stop.
DROPS = ("cc-lucb-streaming", "p2-batched")


def draw(rng):
    return float(rng.random())


def toss(candidate, rng):
    return float(rng.random() < candidate)


def cost(candidate, rng):
    return 10.0 * toss(candidate, rng)


def told(algorithm, pulls, minimise=False):
    """A search and its task, after so many rewards."""
    task = Task(0.3, 0.3, 0.2, algorithm=algorithm, options=ALGORITHMS[algorithm], minimise=minimise)
    found = Search(task.design(), model=task.model)
    while found.told < pulls and (pull := found.ask()) is not None:
        found.tell(pull, float(hash((pull.arm, pull.number)) % 11 < pull.arm % 11))
    return found, task


@pytest.mark.parametrize("minimise", [False, True])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_progress_counts_whom_the_standing_counts(algorithm, minimise):
    for pulls in (5, 40, 100, 10**6):
        found, _ = told(algorithm, pulls, minimise)
        progress, now = survey(found), standing(found)
        assert progress.unresolved == len(now.challengers)
        assert not set(now.selection) & set(now.challengers)
        if found.stopped:
            break
    assert found.stopped or algorithm == "p2"


def test_those_chosen_and_those_not_drawn_contest_nobody():
    found, _ = told("cc-lucb-k", 40)
    assert survey(found).unresolved == 23, "26 arms, of which 3 are chosen"
    found, _ = told("cc-lucb", 5)
    assert survey(found).unresolved == 4, "5 of 10 arms are drawn, and one of them leads"


@pytest.mark.parametrize("minimise", [False, True])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_best_of_the_others_is_that_of_the_certificate(algorithm, minimise):
    for pulls in (5, 40, 100, 10**6):
        found, task = told(algorithm, pulls, minimise)
        certificate = certify(found, task, "stopped" if found.stopped else "pulls")
        now = standing(found)
        assert (certificate.arm, certificate.claims) == (now.about, now.claims)
        if certificate.others_at_best is None:
            assert 0 in now.pulls or now.drawn < now.wanted
        else:
            assert certificate.others_at_best == now.others_at_best
        if found.stopped and now.bounded:
            outside = [row for row in now.rows if row.arm not in certificate.selection]
            best = min(row.lower for row in outside) if minimise else max(row.upper for row in outside)
            assert now.others_at_best == best
            break


@pytest.mark.parametrize("pulls", [5, 40, 100, None])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_page_is_told_what_the_pictures_show(algorithm, pulls, tmp_path):
    """Of a search that has ended both speak of the arms that it returned."""
    path, limit = tmp_path / "searches.db", 400 if algorithm == "p2" and pulls is None else pulls
    how = {**EASY, "epsilon": 3.0, "family": "range(0,10)", "minimise": True, "storage": path}
    result = search(draw, cost, **how, algorithm=algorithm, options=ALGORITHMS[algorithm], pulls=limit)
    now, recording = standing(path), read(path, log=False)
    said = figures(recording)
    assert (now.leader, now.selection) == (result.arm, result.selection)
    assert said["unresolved"] == len(now.challengers)
    assert said["over"] == len(now.above)
    assert said["line"] == now.line
    assert (said["leader"], tuple(said["selection"])) == (now.leader, now.selection)
    channel = Channel()
    channel.show(recording)
    (message,) = channel.since(0)[1]
    told = json.loads(message.partition(b"data: ")[2])
    assert [row[0] for row in told["rows"] if row[-1]] == list(now.challengers)
    assert verify(path) == result.certificate
    kept, shown = recording.progress, Progress.of(now).to_dict()
    assert {key: value for key, value in kept.items() if key != "history" and value != shown[key]} == {}
    assert (kept["leader"], kept["selection"]) == (result.certificate.arm, list(result.certificate.selection))


def test_a_file_of_before_is_read_by_the_same_rule(tmp_path):
    """What is shown of it comes from the figures of its arms."""
    path = records.unpacked(tmp_path, "0.2.0.db")
    for one in listing(path):
        recording = read(path, one.name, log=False)
        if one.name in ("failed", "costs", "costs so far", "killed"):  # some figures are older than others
            continue
        now, said = standing(path, one.name), figures(recording)
        assert (said["unresolved"], said["over"], said["line"]) == (
            len(now.challengers),
            len(now.above),
            finite(now.line),
        )
        shown = CliRunner().invoke(main, ["show", str(path), "--name", one.name, "--json", "-"])
        (told,) = json.loads(shown.stdout)["searches"]
        assert told["standing"]["unresolved"] == said["unresolved"]


@pytest.mark.parametrize(("algorithm", "pulls", "former"), [("cc-lucb", 5, 9), ("cc-lucb-k", 40, 25)])
def test_another_count_that_a_file_of_before_kept_is_verified_and_not_shown(algorithm, pulls, former, tmp_path):
    """Up to 0.2.0 those chosen beside the leader counted, and arms that were not drawn."""
    path = tmp_path / "searches.db"
    search(draw, toss, **EASY, algorithm=algorithm, options=ALGORITHMS[algorithm], storage=path, pulls=pulls)
    counted = len(standing(path).challengers)
    remove = ", ".join(f"'$.{key}'" for key in ("wanted", "selection", "line", "over"))
    for count in (former, former + 1):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(
                f"UPDATE progress SET data = json_set(json_remove(data, {remove}), '$.unresolved', {count})"
            )
        with pytest.raises(Refuted, match="unresolved of the progress") if count > former else nullcontext():
            verify(path)
        assert figures(read(path, log=False))["unresolved"] == counted


@pytest.mark.parametrize("change", ["line', 0.123", "over', 99", "unresolved', 99", "selection', json('[1, 2]')"])
def test_a_standing_that_the_pulls_do_not_bear_out_is_refused(change, tmp_path):
    path = tmp_path / "searches.db"
    search(draw, toss, **EASY, storage=path, pulls=60)
    verify(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE progress SET data = json_set(data, '$.{change})")
    with pytest.raises(Refuted, match="of the progress must be what the record bears out"):
        verify(path)


def test_a_certificate_of_several_arms_as_it_was_written_before_is_verified(tmp_path):
    """Up to 0.2.0 the best of the others was that of all arms but the first, chosen or not: a weaker bound."""
    path = tmp_path / "searches.db"
    found = search(draw, toss, **EASY, algorithm="cc-lucb-k", options={"k": 3}, storage=path)
    now = standing(found)
    former = max(row.upper for row in now.rows if row.arm != found.arm)
    assert former > found.certificate.others_at_best
    for others, refused in ((former, False), (former + 1e-9, True), (now.others_at_best - 1e-9, True)):
        claimed = {**found.certificate.to_dict(), "others_at_best": others}
        with pytest.raises(Refuted, match="others_at_best must be") if refused else nullcontext():
            assert verify(path, certificate=claimed).others_at_best == others


@pytest.mark.parametrize("algorithm", [one.name for one in REGISTERED if one.guarantee == "fixed-confidence"])
def test_what_decides_meets_the_line_at_the_stop_of_every_algorithm(algorithm):
    rng = np.random.default_rng(3)
    law = parse_reservoir("two-point(0.2,0.8,0.4)")
    options = prior_knowledge(algorithm, law, 0.4, 0.4)
    found, means = Search(design(algorithm, 0.4, 0.4, 0.3, **options)), law.sample(2000, rng)
    gaps = []
    while (pull := found.ask()) is not None and found.told < 3000:
        found.tell(pull, float(rng.random() < means[pull.arm]))
        if found.told % 50 == 0 and stand(found, proved=False).bounded and found.history.arms >= found.algorithm.arms:
            now = stand(found, proved=False)
            gaps.append(now.rest - now.line)
    now = stand(found, proved=False)
    if not now.bounded or not now.stopped:
        pytest.skip("no bounds, or a search too long for this test")
    assert now.evidence == 1.0
    assert now.rest <= now.line + 1e-9
    if not now.joined and algorithm not in DROPS:
        assert now.reach <= now.line + 1e-9
    assert all(gap > -1e-9 for gap in gaps[:-1])
