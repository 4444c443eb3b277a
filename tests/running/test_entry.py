"""Searches from the outside: what people call, what ends them, and what they get then."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from tests.support.marks import quick
from tests.support.waiting import until
from topalpha import PullFailed, Search, Session, Task, aresume, asearch, design, plan, resume, search, verify
from topalpha.families import Exponential, Gamma, Gaussian, LowVariance, Mirrored, PassFail, Poisson
from topalpha.rules.columns import ASKED_THEN, PLACE, PULLS_THEN, SUM_THEN
from topalpha.rules.protocol import Claim
from topalpha.storage import read

TARGET = {"alpha": 0.2, "epsilon": 0.2, "delta": 0.1, "progress": "none"}


def draw(rng):
    return float(rng.random())


def pull(candidate, rng):
    return float(rng.random() < candidate)


# ---- what must not be said


def test_the_size_of_a_pool_is_that_of_the_list_and_nothing_else():
    with pytest.raises(ValueError, match="options must not name a pool"):
        search(draw, pull, **TARGET, options={"pool": 5})
    with pytest.raises(ValueError, match="options must not name a pool"):
        plan(0.2, 0.2, 0.1, pool=5)


def test_a_session_cannot_be_called_stopped_before_it_is(tmp_path):
    with Session.start(Task(0.2, 0.2, 0.1), tmp_path / "one.db") as session:
        session.tell_many([(one, 1.0) for one in session.ask_many(10)])
        with pytest.raises(ValueError, match="reason must not be 'stopped' before"):
            session.finish("stopped")
        with pytest.raises(ValueError, match="reason must be one of stopped, pulls"):
            session.finish("the stopping rule was met")
        assert not session.finish("pulls").proved
    assert read(tmp_path / "one.db").status == "pulls"


# ---- what is in flight when a leader is registered


class Watched(Search):
    """Notes which arms are registered, and how many of their pulls had been asked for by then."""

    def __init__(self, algorithm):
        super().__init__(algorithm)
        self.asked_of, self.seen = {}, set()

    def _plan(self):
        super()._plan()
        for arm in range(self.history.arms):
            if self.history.stats[PLACE][arm] > 0.0 and arm not in self.seen:
                self.seen.add(arm)
                self.asked_of[arm] = self._pulls[arm] + self._pending[arm]


@pytest.mark.parametrize("family", [None, PassFail(300), LowVariance()], ids=["bernoulli", "pass-fail", "low-variance"])
def test_only_pulls_asked_for_after_its_registration_are_a_leaders_evidence(family):
    rng = np.random.default_rng(1)
    one = Watched(design("joint-lucb", 0.2, 0.1, 0.1, family))
    means, flying, late = rng.random(one.algorithm.arms), [], 0
    while not one.stopped:
        flying += one.ask_many(24 - len(flying))
        if not flying:
            break
        told = flying.pop(int(rng.integers(len(flying))))
        one.tell(told, float(rng.random() < means[told.arm]))
        for arm, asked in one.asked_of.items():
            stats, pulls = one.history.stats, one.history.pulls[arm]
            assert stats[ASKED_THEN][arm] == asked
            assert stats[PULLS_THEN][arm] == min(pulls, asked), "what was in flight then is no evidence"
            if pulls <= asked:
                assert stats[SUM_THEN][arm] == stats[0][arm]
                late += 1
    assert len(one.asked_of) > 0
    assert late > 0, "some pulls must have been in flight at a registration"


# ---- families without a largest mean, both ways


@pytest.mark.parametrize("minimise", quick([False, True], [True]))
@pytest.mark.parametrize(
    ("family", "evaluate"),
    [
        ("poisson", lambda mean, rng: rng.poisson(1.0 + 4.0 * mean)),
        ("exponential", lambda mean, rng: rng.exponential(0.5 + mean)),
        ("gamma(4)", lambda mean, rng: rng.gamma(4.0, (0.5 + mean) / 4.0)),
        ("gaussian", lambda mean, rng: rng.normal(mean, 1.0)),
    ],
)
def test_searches_without_a_largest_mean_stop(family, evaluate, minimise):
    for seed in range(3):
        target = {**TARGET, "epsilon": 1.0, "seed": seed, "pulls": 20_000}
        found = search(draw, evaluate, family=family, minimise=minimise, **target)
        assert found.stopped


@pytest.mark.parametrize("family", [Mirrored(Poisson()), Mirrored(Exponential()), Mirrored(Gamma(2.0)), Gaussian()])
def test_forgetting_changes_no_decision_where_means_have_no_end(family):
    def run(forget):
        rng, one, asked = np.random.default_rng(3), Search(design("joint-lucb", 0.3, 1.0, 0.2, family)), []
        while (pull := one.ask()) is not None and len(asked) < 3000:
            asked.append(pull.arm)
            one.tell(pull, family.sample(-0.5 - 0.2 * (pull.arm % 7), rng))
            if forget and len(asked) % 5 == 0:
                one.forget()
        return asked

    assert run(False) == run(True)


# ---- ended early


def test_failures_that_a_resumed_search_tried_again_are_stated(tmp_path):
    path, broken = tmp_path / "one.db", [True]

    def fragile(candidate, rng):
        if broken[0] and candidate > 0.9:
            raise ConnectionError("no answer")
        return pull(candidate, rng)

    with pytest.raises(PullFailed, match="no answer") as failure:
        search(draw, fragile, **TARGET, storage=path)
    assert failure.value.result is not None
    assert failure.value.result.certificate.reason == "failed"
    assert "Proved so far" in failure.value.__notes__[0]
    broken[0] = False
    found = resume(path, draw, fragile, progress="none")
    assert found.certificate.failures == {"retry": 1}
    assert any("given success" in one for one in found.certificate.assumptions)
    assert verify(path) == found.certificate


@pytest.mark.parametrize("where", ["draw", "callback", "cost"])
def test_whatever_ends_a_search_its_file_says_what_is_proved(tmp_path, where):
    path, count = tmp_path / "one.db", [0]

    def fail(*_):
        count[0] += 1
        if count[0] > 8 or where == "callback":
            raise ZeroDivisionError("mine")
        return 0.0

    def bad_draw(rng):
        fail()
        return draw(rng)

    settings = {"cost_of": fail} if where == "cost" else {"callbacks": [fail]} if where == "callback" else {}
    with pytest.raises(ZeroDivisionError, match="mine"):
        search(bad_draw if where == "draw" else draw, pull, **TARGET, storage=path, **settings)
    if where != "callback":
        assert read(path).status == "failed"
        assert verify(path).reason == "failed"
    assert resume(path, draw, pull, progress="none").stopped


async def slow(candidate, rng):
    await asyncio.sleep(0.002)
    return pull(candidate, rng)


def test_a_cancelled_search_writes_down_what_is_proved_and_goes_on_later(tmp_path):
    path = tmp_path / "one.db"

    async def cancelled():
        task = asyncio.create_task(asearch(draw, slow, **TARGET, storage=path, width=4))
        while not path.exists() or read(path).tells == []:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert read(path).status == "interrupted"
    assert verify(path).reason == "interrupted"
    assert asyncio.run(aresume(path, draw, slow, width=4, progress="none")).stopped
    assert verify(path).proved


def test_ctrl_c_gives_a_result_in_an_event_loop_too(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import asyncio, sys, topalpha

        async def pull(candidate, rng):
            print("pull", flush=True)
            await asyncio.sleep(0.02)
            return float(rng.random() < candidate)

        settings = {"alpha": 0.05, "epsilon": 0.02, "storage": sys.argv[1], "width": 4, "progress": "none"}
        found = asyncio.run(topalpha.asearch(lambda rng: float(rng.random()), pull, **settings))
        print(found.certificate.reason, flush=True)
        """)
    )
    path = tmp_path / "one.db"
    child = subprocess.Popen([sys.executable, str(script), str(path)], stdout=subprocess.PIPE, text=True)
    for _ in range(40):
        assert child.stdout.readline() == "pull\n"
    child.send_signal(signal.SIGINT)
    output, _ = child.communicate()
    assert child.returncode == 0
    assert output.split()[-1] == "interrupted"
    assert verify(path).reason == "interrupted"


# ---- settings


def test_a_wrong_name_is_refused_by_that_name():
    with pytest.raises(TypeError, match="unexpected keyword argument 'minimize'"):
        search(draw, pull, **TARGET, minimize=True)
    with pytest.raises(ValueError, match="workers must be None for coroutines: see width, got 3"):
        asyncio.run(asearch(draw, slow, **TARGET, workers=3))


def test_workers_alone_mean_threads_and_an_interval_batches_writes(tmp_path):
    path = tmp_path / "one.db"
    found = search(draw, pull, **TARGET, workers=3, storage=path, interval=5.0)
    assert found.stopped
    assert verify(path) == found.certificate


def test_the_certificate_counts_candidates_that_were_drawn():
    drawn = []

    def counted(rng):
        drawn.append(draw(rng))
        return drawn[-1]

    found = search(counted, pull, **TARGET, pulls=1)
    assert found.certificate.arms == len(drawn) == 1
    json.loads(found.certificate.to_json())


def test_a_snapshot_is_renewed_while_a_long_pull_runs_in_this_thread(tmp_path):
    path, signs = tmp_path / "one.db", []

    def watched(candidate, rng):
        seen = set()
        until(lambda: seen.add(read(path, log=False).updated) or len(seen) == 3)
        signs.append(len(seen))
        return pull(candidate, rng)

    found = search(draw, watched, **TARGET, storage=path, pulls=2)
    assert signs == [3, 3], "two new signs of life in each pull, also before the first reward"
    assert read(path).progress["pulls"] == 2
    assert verify(path) == found.certificate


def test_joint_lucb_proves_something_from_upper_bounds_alone():
    run = Search(design("joint-lucb", 0.2, 0.2, 0.1))
    while run.history.t < 3 * run.algorithm.arms:
        for asked in run.ask_many(run.algorithm.arms):
            run.tell(asked, 0.0)
        if max(run.history.stats[PLACE]) > 0.0:
            break
        claims = run.claims(run.best)
        highest = max(run.upper(arm) for arm in range(run.history.arms) if arm != run.best)
        assert claims[0] == Claim(0.2, highest)
        assert claims[0].epsilon < 1.0
    assert claims
