"""Verification: what a record bears out passes, and whatever was altered in it does not."""

from __future__ import annotations

import json
import math
import random
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from tests.support import records
from tests.support.marks import quick
from topalpha import Certificate, Claim, Refuted, Search, StorageError, Task, design, resume, search, select, verify
from topalpha.ask_tell import fingerprint
from topalpha.session.agreement import FORMER_BOUNDS
from topalpha.storage import read

COSTS = {"family": "range(0,10)", "minimise": True, "algorithm": "cc-lucb", "about": "small costs"}
TASK = Task(0.2, 3.5, 0.1, **COSTS, seed=5, on_error="retry")
EASY = {"alpha": 0.2, "epsilon": 0.2, "delta": 0.1, "progress": "none"}


def draw(rng):
    return rng.random()


def coin(candidate, rng):
    return float(rng.random() < candidate)


def drive(path, name="search", **more):
    return records.drive(path, name, TASK, **more)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("original") / "searches.db"
    drive(path)
    recording = read(path)
    assert recording.status == "stopped"
    assert recording.waits
    assert recording.failures
    assert len(recording.asks) > len(recording.tells), "some pulls were in flight at the stop"
    return path


@pytest.fixture(scope="module")
def early(tmp_path_factory):
    path = tmp_path_factory.mktemp("early") / "searches.db"
    certificate = drive(path, pulls=2 * drive(None).pulls // 3)
    assert (certificate.reason, certificate.proved, len(certificate.claims) > 0) == ("pulls", False, True)
    return path


def altered(path, folder, *changes):
    """A copy of the file with these changes."""
    copy = folder / "altered.db"
    shutil.copy(path, copy)
    with closing(sqlite3.connect(copy)) as connection, connection:
        for change in changes:
            change(connection)
    assert not list(folder.glob("*-wal"))
    return copy


def run(*statements):
    """A change by SQL that does change something."""

    def change(connection):
        for statement in statements:
            assert connection.execute(statement).rowcount > 0, statement

    return change


def edit(column, change, *, name="search"):
    """A change of the JSON in a column."""

    def apply(connection):
        (text,) = connection.execute(f"SELECT {column} FROM searches WHERE name = ?", (name,)).fetchone()
        before = json.loads(text)
        after = json.loads(text)
        change(after)
        assert after != before
        connection.execute(f"UPDATE searches SET {column} = ? WHERE name = ?", (json.dumps(after), name))

    return apply


def setting(**entries):
    return edit("config", lambda config: config["task"].update(entries))


def entry(**entries):
    return edit("certificate", lambda certificate: certificate.update(entries))


def claim(place=0, **entries):
    return edit("certificate", lambda certificate: certificate["claims"][place].update(entries))


def shifted(name, by):
    return edit("certificate", lambda certificate: certificate.update({name: certificate[name] + by}))


def best(connection):
    return json.loads(connection.execute("SELECT certificate FROM searches").fetchone()[0])["arm"]


def reward_of_best(by):
    """The first reward of the recommended arm, larger or smaller."""

    def change(connection):
        (order,) = connection.execute(
            'SELECT min("order") FROM tells JOIN asks USING (search, "order") WHERE arm = ?', (best(connection),)
        ).fetchone()
        connection.execute('UPDATE tells SET reward = reward + ? WHERE "order" = ?', (by, order))

    return change


def swap(connection):
    """The rewards of two pulls, the recommended arm's first and that of another."""
    arm = best(connection)
    query = 'SELECT "order", reward FROM tells JOIN asks USING (search, "order") WHERE arm {} ? LIMIT 1'
    one, other = (connection.execute(query.format(sign), (arm,)).fetchone() for sign in ("=", "!="))
    assert one[1] != other[1]
    connection.executemany('UPDATE tells SET reward = ? WHERE "order" = ?', [(other[1], one[0]), (one[1], other[0])])


def told_otherwise(connection):
    """Two rewards in another order of arrival."""
    connection.execute("UPDATE tells SET sequence = 201 - sequence WHERE sequence IN (100, 101)")


def unless_told(connection):
    """A reward for a pull that was in flight at the end."""
    connection.execute(
        'INSERT INTO tells SELECT search, (SELECT count(*) FROM tells), "order", 5.0 FROM asks '
        'WHERE "order" NOT IN (SELECT "order" FROM tells) ORDER BY "order" LIMIT 1'
    )


LAST_TELL = "DELETE FROM tells WHERE sequence = (SELECT max(sequence) FROM tells)"
MORE = (
    'INSERT INTO asks SELECT search, 1 + max("order"), 0, (SELECT count(*) FROM tells) FROM asks',
    'INSERT INTO tells SELECT search, 1 + max(sequence), (SELECT max("order") FROM asks), 5.0 FROM tells',
)

#: Of the log. Where True follows, a certificate whose digest was computed again must not pass either.
LOG = {
    "a reward changed": (reward_of_best(1.0), True),
    "a reward changed by 1e-12": (reward_of_best(1e-12), False),
    "a reward that cannot be": (reward_of_best(1e3), True),
    "a reward without end": (run("UPDATE tells SET reward = 9e999 WHERE sequence = 50"), True),
    "two rewards swapped": (swap, True),
    "two rewards arrived in another order": (told_otherwise, False),
    "a tell removed": (run("DELETE FROM tells WHERE sequence = 70"), True),
    "the last tell removed": (run(LAST_TELL), True),
    "a tell added": (unless_told, False),
    "a tell of a pull never asked for": (run('UPDATE tells SET "order" = 100000 WHERE sequence = 70'), True),
    "a tell of a negative pull": (run('UPDATE tells SET "order" = -1 WHERE sequence = 70'), True),
    "an ask of another arm": (run('UPDATE asks SET arm = arm + 1 WHERE "order" = 90'), True),
    "an ask of an arm that is not there": (run('UPDATE asks SET arm = 100000 WHERE "order" = 90'), True),
    "an ask of a negative arm": (run('UPDATE asks SET arm = -1 WHERE "order" = 90'), True),
    "an ask planned later": (run('UPDATE asks SET after = after + 40 WHERE "order" = 90'), True),
    "an ask planned before its time": (run('UPDATE asks SET after = 0 WHERE "order" = 90'), True),
    "an ask removed": (run('DELETE FROM asks WHERE "order" = 90'), True),
    "the last pull dropped": (
        run(
            'DELETE FROM tells WHERE "order" = (SELECT max("order") FROM asks)'
            " OR sequence = (SELECT max(sequence) FROM tells)",
            'DELETE FROM asks WHERE "order" = (SELECT max("order") FROM asks)',
        ),
        True,
    ),
    "pulls appended after the stop": (run(*MORE), True),
    "the last wait removed": (run("DELETE FROM waits WHERE sequence = (SELECT max(sequence) FROM waits)"), False),
    "a wait removed in between": (run("DELETE FROM waits WHERE sequence = 0"), False),
    "a wait where none was": (run("INSERT INTO waits SELECT search, 1 + max(sequence), 90, 70 FROM waits"), True),
    "the candidate changed": (
        lambda connection: run(f"UPDATE arms SET candidate = '\"x\"' WHERE arm = {best(connection)}")(connection),
        True,
    ),
    "another candidate changed": (run("UPDATE arms SET candidate = '{\"mean\":0}' WHERE arm = 1"), False),
    "a candidate that is no JSON": (run("UPDATE arms SET candidate = '{' WHERE arm = 1"), True),
    "a candidate that is a pickle": (run("UPDATE arms SET candidate = X'80' WHERE arm = 1"), True),
    "a candidate removed": (run("DELETE FROM arms WHERE arm = 1"), True),
    "failures removed": (run("DELETE FROM failures"), True),
    "a failure added": (
        run("INSERT INTO failures SELECT search, 1 + max(sequence), 0, 0, 'no', 'retry' FROM failures"),
        True,
    ),
    "a failure counted otherwise": (run("UPDATE failures SET action = 'worst' WHERE sequence = 0"), True),
    "everything removed": (run("DELETE FROM tells", "DELETE FROM asks", "DELETE FROM waits"), True),
    "everything removed but the first ask": (
        run("DELETE FROM tells", 'DELETE FROM asks WHERE "order" > 0', "DELETE FROM waits"),
        True,
    ),
}

#: Of what the search was created with; none of them may pass with a digest that was computed again.
CONFIG = {
    "seed": setting(seed=6),
    "alpha": setting(alpha=0.19),
    "epsilon": setting(epsilon=1.9),
    "delta": setting(delta=0.05),
    "family": setting(family="range(0,11)"),
    "a family that is none": setting(family="range(0"),
    "a family of another kind": setting(family="normal"),
    "minimise": setting(minimise=False),
    "algorithm": setting(algorithm="joint-lucb"),
    "an algorithm that is none": setting(algorithm="luck"),
    "options": setting(options={"bounds": "kt"}),
    "an option that is none": setting(options={"luck": 1}),
    "options that are none": setting(options=5),
    "pool": setting(pool=500),
    "a pool that is none": setting(pool="many"),
    "items": setting(items=50),
    "about": setting(about="large costs"),
    "an entry too many": setting(luck=1.0),
    "an entry too few": edit("config", lambda config: config["task"].pop("alpha")),
    "an entry that is text": setting(alpha="0.2"),
    "version": edit("config", lambda config: config.update(version="0.0.9")),
    "no task": edit("config", lambda config: config.update(task=None)),
    "no config": edit("config", lambda config: config.clear()),
}

#: Of the certificate.
CERTIFICATE = {
    "arm": shifted("arm", 1),
    "candidate": entry(candidate={"mean": 0.001}),
    "alpha": entry(alpha=0.1),
    "epsilon": entry(epsilon=1.9),
    "delta": entry(delta=0.01),
    "a claim of a smaller epsilon": claim(epsilon=1.9),
    "a claim of a smaller alpha": claim(alpha=0.1),
    "a claim added": edit("certificate", lambda one: one["claims"].append({"alpha": 0.5, "epsilon": 0.1})),
    "a claim removed": edit("certificate", lambda one: one["claims"].pop()),
    "claims that are none": entry(claims=None),
    "law": entry(law="all costs"),
    "minimise": entry(minimise=False),
    "an assumption removed": edit("certificate", lambda one: one["assumptions"].pop(0)),
    "assumptions removed": entry(assumptions=[]),
    "algorithm": entry(algorithm="joint-lucb"),
    "options": entry(options={"bounds": "kt"}),
    "a level": edit("certificate", lambda one: one["levels"].update(delta=0.01)),
    "a level removed": edit("certificate", lambda one: one["levels"].popitem()),
    "proof": entry(proof="docs/proofs.md, Z"),
    "arms": shifted("arms", 1),
    "pulls": shifted("pulls", -1),
    "mean": shifted("mean", -1e-9),
    "at_worst": shifted("at_worst", -0.1),
    "others_at_best": shifted("others_at_best", 0.1),
    "reason": entry(reason="pulls"),
    "a reason that is none": entry(reason=None),
    "statement": edit("certificate", lambda one: one.update(statement=one["statement"].replace("0.9", "0.99"))),
    "failures": entry(failures={}),
    "seed": entry(seed=6),
    "version": entry(version="9.9.9"),
    "digest": edit("certificate", lambda one: one.update(digest="0" * 64)),
    "no digest": entry(digest=None),
    "an entry too many": entry(blessed=True),
    "an entry too few": edit("certificate", lambda one: one.pop("assumptions")),
    "empty": edit("certificate", lambda one: one.clear()),
}

ROW = {
    "status": run("UPDATE searches SET status = 'running'"),
    "another status": run("UPDATE searches SET status = 'pulls'"),
    "no certificate": run("UPDATE searches SET certificate = NULL"),
    "a certificate that is no JSON": run("UPDATE searches SET certificate = '{'"),
    "a certificate that is a list": run("UPDATE searches SET certificate = '[1]'"),
    "a config that is no JSON": run("UPDATE searches SET config = 'x'"),
    "status and reason": lambda connection: (
        entry(reason="pulls")(connection),
        run("UPDATE searches SET status = 'pulls'")(connection),
    ),
}

REFUSED = (Refuted, StorageError)


def with_new_digest(path):
    """Compute the digest again, as a forger would."""
    try:
        digest = fingerprint(read(path))
    except StorageError:
        return
    with closing(sqlite3.connect(path)) as connection, connection:
        edit("certificate", lambda one: one.update(digest=digest))(connection)


def test_what_was_not_altered_passes(original, tmp_path):
    before = original.read_bytes()
    certificate = verify(original)
    assert certificate.proved
    assert certificate.to_dict() == read(original).certificate
    assert verify(altered(original, tmp_path)) == certificate
    assert (original.read_bytes(), [file.name for file in original.parent.iterdir()]) == (before, [original.name])


def test_what_proves_nothing_may_change(original, tmp_path):
    def harmless(connection):
        connection.execute("UPDATE searches SET name = 'renamed', created = '2001-01-01T00:00:00+00:00'")
        connection.execute("INSERT INTO messages VALUES (1, 0, 0.0, 'stop', 0)")

    assert verify(altered(original, tmp_path, harmless)) == verify(original)


@pytest.mark.parametrize("kind", LOG)
def test_an_altered_log_is_refused(original, tmp_path, kind):
    change, whatever_the_digest = LOG[kind]
    copy = altered(original, tmp_path, change)
    with pytest.raises(REFUSED):
        verify(copy)
    if whatever_the_digest:
        with_new_digest(copy)
        with pytest.raises(REFUSED):
            verify(copy)


@pytest.mark.parametrize("kind", CONFIG)
def test_an_altered_task_is_refused(original, tmp_path, kind):
    copy = altered(original, tmp_path, CONFIG[kind])
    with pytest.raises(REFUSED):
        verify(copy)
    with_new_digest(copy)
    with pytest.raises(REFUSED):
        verify(copy)


@pytest.mark.parametrize("on_error", ["raise", "worst", "nothing"])
def test_another_way_to_treat_failures_is_refused(original, tmp_path, on_error):
    with pytest.raises(REFUSED):
        verify(altered(original, tmp_path, setting(on_error=on_error)))


@pytest.mark.parametrize("kind", [*CERTIFICATE, *ROW])
def test_an_altered_certificate_is_refused(original, tmp_path, kind):
    with pytest.raises(REFUSED):
        verify(altered(original, tmp_path, {**CERTIFICATE, **ROW}[kind]))


@pytest.mark.parametrize("kind", CERTIFICATE)
def test_an_altered_certificate_that_is_handed_on_is_refused(original, tmp_path, kind):
    claimed = read(altered(original, tmp_path, CERTIFICATE[kind])).certificate
    with pytest.raises(Refuted):
        verify(original, certificate=json.loads(json.dumps(claimed)))


def test_a_certificate_that_is_handed_on_passes_as_it_is(original):
    certificate = verify(original)
    for claimed in (certificate, certificate.to_dict(), json.loads(certificate.to_json())):
        assert verify(original, certificate=claimed) == certificate
    assert Certificate.from_dict(json.loads(certificate.to_json())) == certificate


def test_a_certificate_says_what_is_wrong_with_it(original, tmp_path):
    with pytest.raises(Refuted, match=r"^pulls must be what the record bears out, got \d+ where the record gives \d+$"):
        verify(altered(original, tmp_path, CERTIFICATE["pulls"]))
    with pytest.raises(Refuted, match=r"^digest must be what the record bears out, got"):
        verify(altered(original, tmp_path, LOG["another candidate changed"][0]))
    with pytest.raises(Refuted, match=r"^record must replay, but the algorithm asks for another arm at pull 90: "):
        verify(altered(original, tmp_path, LOG["an ask of another arm"][0]))


def test_a_certificate_of_another_search_is_refused(tmp_path):
    path = tmp_path / "two.db"
    one, two = drive(path, "one"), drive(path, "two", seed=1)
    assert (verify(path, "one"), verify(path, "two")) == (one, two)
    for name, other in (("one", two), ("two", one)):
        with pytest.raises(Refuted):
            verify(path, name, other)
    swapped = [(two.to_json(), "one"), (one.to_json(), "two")]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany("UPDATE searches SET certificate = ? WHERE name = ?", swapped)
    for name in ("one", "two"):
        with pytest.raises(Refuted):
            verify(path, name)


# Searches that ended early


def test_a_search_that_ended_early_is_verified(early, tmp_path):
    assert verify(altered(early, tmp_path)) == verify(early)
    assert verify(early).statement.endswith(", all at once. The search ended because the budget of pulls was spent.")


EARLY = {
    **{kind: CERTIFICATE[kind] for kind in ("a claim added", "a claim removed", "digest", "pulls", "statement")},
    "a claim of a smaller epsilon": claim(-1, epsilon=0.01),
    "a claim of a smaller alpha": claim(-1, alpha=0.01),
    "the claim that was asked for": entry(claims=[Claim(0.2, 2.0)._asdict()]),
    "reason": entry(reason="stopped"),
    "another reason": entry(reason="seconds"),
    "reason and status": lambda connection: (
        entry(reason="stopped")(connection),
        run("UPDATE searches SET status = 'stopped'")(connection),
    ),
    "the last tell removed": run(LAST_TELL),
    "a reward changed": reward_of_best(0.5),
    "everything removed": LOG["everything removed"][0],
    "everything removed but the first ask": LOG["everything removed but the first ask"][0],
}


@pytest.mark.parametrize("kind", EARLY)
def test_an_altered_search_that_ended_early_is_refused(early, tmp_path, kind):
    with pytest.raises(REFUSED):
        verify(altered(early, tmp_path, EARLY[kind]))


@pytest.mark.parametrize("pulls", quick([1, 2, 37, 38, 39, 100], [1, 38, 100]))
@pytest.mark.parametrize("algorithm", ["joint-lucb", "cc-lucb", "lucb++", "kl-lucb"])
def test_every_end_is_verified(tmp_path, algorithm, pulls):
    path = tmp_path / "searches.db"
    result = search(draw, coin, **EASY, algorithm=algorithm, storage=path, pulls=pulls)
    assert verify(path) == result.certificate
    assert verify(path).pulls == pulls
    late = resume(path, draw, coin, pulls=20, progress="none")
    assert verify(path) == late.certificate
    with pytest.raises(Refuted):
        verify(path, certificate=result.certificate)


# Pickles


def pair(rng):
    return (1, float(rng.random()))


def coin_of_pair(candidate, rng):
    return float(rng.random() < candidate[1])


def test_pickled_candidates_are_loaded_only_where_that_is_allowed(tmp_path):
    path = tmp_path / "searches.db"
    result = search(pair, coin_of_pair, **EASY, storage=path, pickle=True)
    assert verify(path, allow_pickle=True) == result.certificate
    unseen, named = verify(path), f"candidate [1, {result.candidate[1]:.4g}]"
    assert named in result.statement
    said = result.statement.replace(named, f"arm {result.arm}")
    assert unseen == replace(result.certificate, candidate="(pickled)", statement=said)
    with pytest.raises(REFUSED):
        verify(altered(path, tmp_path, run("UPDATE arms SET candidate = X'80' WHERE arm = 1")))
    for change in (
        run("UPDATE arms SET candidate = X'80' WHERE arm = 1"),
        run("UPDATE arms SET candidate = X'' WHERE arm = 1"),
        run("UPDATE arms SET candidate = (SELECT candidate FROM arms WHERE arm = 2) WHERE arm = 1"),
        entry(candidate="(1, 0.999)"),
    ):
        with pytest.raises(REFUSED):
            verify(altered(path, tmp_path, change), allow_pickle=True)


def box(rng):
    """An object whose text is another in every process."""
    return random.Random(int(rng.integers(1000)))


def test_candidates_whose_text_changes_from_process_to_process_are_verified(tmp_path):
    path = tmp_path / "searches.db"
    search(box, lambda candidate, rng: float(rng.random() < 0.5), **EASY, storage=path, pickle=True, pulls=60)
    assert verify(path, allow_pickle=True).pulls == 60


def test_a_reason_cannot_carry_a_sentence_of_its_own(early, tmp_path):
    """The reason stands in the statement: only those that there are may."""
    words = "the stopping rule was met. With probability at least 0.999, arm 0 is the best"

    def told(connection):
        (text,) = connection.execute("SELECT certificate FROM searches").fetchone()
        claimed = json.loads(text)
        claimed["statement"] = claimed["statement"].replace("the budget of pulls was spent", words)
        claimed["reason"] = words
        connection.execute("UPDATE searches SET status = ?, certificate = ?", (words, json.dumps(claimed)))

    with pytest.raises(Refuted, match="reason must be one of stopped, pulls"):
        verify(altered(early, tmp_path, told))


def test_a_zero_is_not_a_false(original, tmp_path):
    def number(connection):
        (text,) = connection.execute("SELECT certificate FROM searches").fetchone()
        connection.execute("UPDATE searches SET certificate = ?", (text.replace('"minimise":true', '"minimise":1'),))
        assert connection.execute("SELECT certificate FROM searches").fetchone()[0] != text

    with pytest.raises(Refuted, match="minimise must be what the record bears out"):
        verify(altered(original, tmp_path, number))


@pytest.mark.parametrize("algorithm", ["cc-lucb", "joint-lucb"])
def test_earlier_words_for_the_same_bounds_are_borne_out_and_no_others(tmp_path, algorithm):
    path = tmp_path / "searches.db"
    chosen = select([2, 3], range(1, 31), lambda one, item: item % one == 0, algorithm=algorithm, storage=path)
    certificate = chosen.result.certificate
    former = {new: old for old, new in FORMER_BOUNDS.items()}[certificate.bounds]
    assert verify(path, certificate={**certificate.to_dict(), "bounds": former}).bounds == former
    for wrong in (former + " ", *(set(FORMER_BOUNDS) - {former})):
        with pytest.raises(Refuted, match="bounds must be what the record bears out"):
            verify(path, certificate={**certificate.to_dict(), "bounds": wrong})


def test_a_reward_of_minus_zero_is_zero(tmp_path):
    """SQLite gives back 0.0 for it: a record with the other one in memory would not verify."""
    path = tmp_path / "zero.db"
    target = {"alpha": 0.3, "epsilon": 0.5, "delta": 0.2, "family": "gaussian(1)", "pulls": 60, "progress": "none"}
    found = search(lambda rng: rng.normal(), lambda mean, rng: -0.0, **target, storage=path)
    assert verify(path) == found.certificate
    one = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    pulls = one.ask_many(2)
    one.tell(pulls[0], -0.0)
    one.tell_many([(pulls[1], -0.0)], checked=True)
    assert [math.copysign(1.0, reward) for rewards in one.rewards for reward in rewards] == [1.0, 1.0]
