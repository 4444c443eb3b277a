"""Ask and tell in any order: late, twice, wrong, after a crash or the stop, nothing is lost or counted twice."""

from __future__ import annotations

import random
import shutil
import tempfile
from math import inf, nan
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tests.support.marks import quick
from topalpha import Pull, Refuted, Session, Task, verify
from topalpha.rules.protocol import SUM
from topalpha.storage import read

ITEMS = 12
MODELS = {
    "bernoulli": {"epsilon": 0.4},
    "range": {"epsilon": 3.2, "family": "range(-2,6)", "minimise": True},
    "low-variance": {"epsilon": 0.4, "family": "low-variance(0,1)"},
    "pass-fail": {"epsilon": 0.3, "family": f"pass-fail({ITEMS})", "items": ITEMS},
}
CASES = [
    (algorithm, model)
    for algorithm in ("cc-lucb", "joint-lucb", "lucb++", "kl-lucb")
    for model in MODELS
    if algorithm == "cc-lucb" or model in ("bernoulli", "range") or (algorithm, model) == ("joint-lucb", "pass-fail")
]
#: A search that has not stopped by then ends early.
MOST = 3000


def a_task(algorithm, model):
    return Task(0.3, delta=0.2, algorithm=algorithm, **MODELS[model])


def reward(model, arm, number):
    """What pull ``number`` of the arm gives, whoever asks and whenever."""
    mean = random.Random(f"arm {arm}").random()
    chance = random.Random(f"pull {number} of arm {arm}")
    if model == "pass-fail":
        return float(chance.random() < mean)
    return {"bernoulli": 0.0, "low-variance": 0.0, "range": -2.0}[model] + (8.0 if model == "range" else 1.0) * (
        chance.random() if chance.random() < 0.5 else float(chance.random() < mean)
    )


def state(search):
    """All that decisions depend on."""
    history = search.history
    numbers = (history.t, history.arms, history.in_flight, search.told, search.asked, search.stopped)
    return (
        numbers,
        list(history.pulls),
        list(history.pending),
        [list(one) for one in history.stats],
        list(history.state),
    )


def figures(search):
    """What the rewards that count amount to, whatever is planned."""
    history = search.history
    return history.t, list(history.pulls[: history.arms]), [list(one[: history.arms]) for one in history.stats]


class Interleavings(RuleBasedStateMachine):
    """A search in a file, and what it ought to know."""

    algorithm, model = CASES[0]

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.copies = 0
        self.path = Path(self.folder.name) / "searches.db"
        self.task = a_task(self.algorithm, self.model)
        self.session = Session.start(self.task, self.path)
        self.capacity = self.task.model.family.capacity
        self.pulls: list[Pull] = []
        self.rewards: dict[int, float] = {}
        #: Orders that are to be handed out again.
        self.returned: set[int] = set()

    def reward(self, pull):
        return reward(self.model, pull.arm, pull.number)

    def tell(self, pulls):
        stopped = self.session.stopped
        self.session.tell_many([(pull, self.reward(pull)) for pull in pulls])
        if not stopped:
            self.rewards.update({pull.order: self.reward(pull) for pull in pulls})

    # What may happen

    @rule(width=st.integers(1, 7))
    def ask(self, width):
        before = state(self.session)
        found = self.session.ask_many(width)
        assert len({pull.order for pull in found}) == len(found) <= width
        for pull in found:
            if pull.order < len(self.pulls):
                assert pull == self.pulls[pull.order]
                assert pull.order in self.returned
                assert pull.order not in self.rewards
                self.returned.discard(pull.order)
                continue
            assert not self.returned - set(self.rewards), "what was given back comes first"
            earlier = sum(one.arm == pull.arm for one in self.pulls)
            assert pull == Pull(pull.arm, earlier, len(self.pulls))
            assert 0 <= pull.arm <= len(self.session.candidates)
            if pull.number == 0:
                self.session.keep(pull.arm, pull.arm)
            self.pulls.append(pull)
        if before[0][-1]:
            assert found == [], "nothing is asked for after the stop"
            assert state(self.session) == before

    @precondition(lambda self: self.session.outstanding)
    @rule(data=st.data())
    def tell_some(self, data):
        some = data.draw(st.lists(st.sampled_from(self.session.outstanding), min_size=1, max_size=6, unique=True))
        self.tell(some)

    @precondition(lambda self: self.session.outstanding)
    @rule(place=st.integers(0, 50), times=st.integers(1, 2))
    def tell_one(self, place, times):
        waiting = self.session.outstanding
        pull = waiting[-1 - place % len(waiting)]
        for _ in range(times):
            stopped = self.session.stopped
            self.session.tell(pull, self.reward(pull))
            if not stopped:
                self.rewards[pull.order] = self.reward(pull)

    @precondition(lambda self: self.rewards)
    @rule(place=st.integers(0, 50))
    def tell_again(self, place):
        order = list(self.rewards)[-1 - place % len(self.rewards)]
        pull, before = self.pulls[order], state(self.session)
        self.session.tell(pull, self.reward(pull))
        self.session.tell_many([(pull, self.reward(pull))] * 2)
        with pytest.raises(ValueError, match="must be the one told before"):
            self.session.tell(pull, 1.0 - self.reward(pull) / 2.0 if self.reward(pull) < 0.5 else 0.0)
        assert state(self.session) == before

    @precondition(lambda self: self.session.outstanding)
    @rule(value=st.sampled_from([nan, inf, -inf, 6.5, -2.5, "yes", None]), place=st.integers(0, 50))
    def tell_garbage(self, value, place):
        waiting, before = self.session.outstanding, state(self.session)
        pull = waiting[place % len(waiting)]
        with pytest.raises(ValueError, match=r"^reward must"):
            self.session.tell(pull, value)
        with pytest.raises(ValueError, match=r"^reward must"):
            self.session.tell_many([(one, self.reward(one)) for one in waiting if one != pull] + [(pull, value)])
        assert state(self.session) == before

    @precondition(lambda self: self.pulls)
    @rule(arm=st.integers(-1, 1), number=st.integers(-1, 1), order=st.integers(-1, 60), place=st.integers(0, 50))
    def tell_of_another_pull(self, arm, number, order, place):
        pull, before = self.pulls[place % len(self.pulls)], state(self.session)
        other = Pull(pull.arm + arm, pull.number + number, order)
        if other in self.pulls:
            return
        for call in (lambda: self.session.tell(other, 0.0), lambda: self.session.again(other)):
            with pytest.raises(ValueError, match=r"^pull must have been asked for"):
                call()
        assert state(self.session) == before

    @precondition(lambda self: self.session.outstanding)
    @rule(place=st.integers(0, 50), times=st.integers(1, 2))
    def give_back(self, place, times):
        waiting, before = self.session.outstanding, state(self.session)
        pull = waiting[place % len(waiting)]
        self.session.failed(pull, "its worker is gone", "retry")
        for _ in range(times):  # and yet it is handed out once
            self.session.again(pull)
        self.returned.add(pull.order)
        assert state(self.session) == before

    @rule()
    def forget(self):
        before = state(self.session)
        self.session.forget()
        assert state(self.session) == before

    @rule()
    def close_and_resume(self):
        before = state(self.session)
        self.session.close()
        self.resume()
        if not before[0][-1]:
            assert state(self.session) == before

    @rule()
    def crash_and_resume(self):
        """What a kill leaves: the files as they are between two transactions, without what waits in memory."""
        before = figures(self.session)
        self.copies += 1
        copy = Path(self.folder.name) / f"copy{self.copies}.db"
        for ending in ("", "-wal"):
            if Path(f"{self.path}{ending}").exists():
                shutil.copy(f"{self.path}{ending}", f"{copy}{ending}")
        self.session.close()
        self.path = copy
        self.resume()
        arms = self.session.history.arms
        cut = (before[0], before[1][:arms], [one[:arms] for one in before[2]])
        assert figures(self.session) == cut
        assert not any(before[1][arms:]), "what is lost had no reward"

    def resume(self):
        self.session = Session.resume(self.path)
        assert self.session.told == len(self.rewards)
        for pull in self.pulls[self.session.asked :]:
            assert pull.order not in self.rewards
        del self.pulls[self.session.asked :]
        self.returned = {pull.order for pull in self.session.outstanding}
        kept = len(self.session.candidates)
        assert self.session.candidates == list(range(kept))
        assert kept >= self.session.history.arms

    @precondition(lambda self: self.session.history.t > 0)
    @rule()
    def end_and_resume(self):
        """The certificate of any moment is verified, and the search goes on; a stopped one stays as it was."""
        certificate = self.session.finish("pulls")
        before = state(self.session)
        self.session.close()
        assert verify(self.path) == certificate
        self.resume()
        assert state(self.session) == before
        if self.session.stopped:
            assert self.session.ask_many(3) == []
            assert self.session.certificate() == certificate

    @rule()
    def replay(self):
        """The record alone gives the same search, to the last bit."""
        other = Session.replayed(self.session.record.recording())
        assert figures(other) == figures(self.session)
        assert other.outstanding == self.session.outstanding
        if not self.session.stopped:
            assert state(other) == state(self.session)
        if self.session.history.t > 0 and not self.session.stopped:
            for arm in range(self.session.history.arms):
                if self.session.history.pulls[arm]:
                    assert other.claims(arm) == self.session.claims(arm)
            assert other.best == self.session.best

    # What always holds

    @invariant()
    def counts_add_up(self):
        session, history = self.session, self.session.history
        assert session.told == len(self.rewards)
        assert session.asked == len(self.pulls)
        assert history.t <= session.told <= session.asked
        assert sum(history.pulls) == history.t
        assert sum(history.pending) == history.in_flight == session.asked - history.t
        arms = [pull.arm for pull in self.pulls]
        for arm in range(history.arms):
            assert history.pulls[arm] + history.pending[arm] == arms.count(arm) <= self.capacity
        assert session.outstanding == [pull for pull in self.pulls if pull.order not in self.rewards]

    @invariant()
    def the_first_rewards_count_in_the_order_of_their_pulls(self):
        history, model = self.session.history, self.session.model
        counted: dict[int, list[float]] = {}
        closed: set[int] = set()
        for pull in self.pulls:
            lane = 0 if self.session.algorithm.traits.global_order else pull.arm
            if pull.order not in self.rewards:
                closed.add(lane)
            if lane not in closed:
                counted.setdefault(pull.arm, []).append(model.to_internal(self.rewards[pull.order]))
        for arm in range(history.arms):
            total = 0.0
            for value in counted.get(arm, ()):
                total += value
            assert history.pulls[arm] == len(counted.get(arm, ()))
            assert history.stats[SUM][arm] == total, "to the last bit"

    def teardown(self):
        chance = random.Random(self.session.asked)
        try:
            while not self.session.stopped and self.session.told < MOST:
                self.ask(1 + chance.randrange(8))
                waiting = self.session.outstanding
                chance.shuffle(waiting)
                self.tell(waiting[chance.randrange(2) :] if len(waiting) > 1 else waiting)
            self.counts_add_up()
            self.the_first_rewards_count_in_the_order_of_their_pulls()
            certificate = self.session.finish("pulls")
            self.session.close()
            assert verify(self.path) == certificate
            assert certificate.reason == ("stopped" if self.session.stopped else "pulls")
            assert read(self.path).status == certificate.reason
        finally:
            self.session.close()
            self.folder.cleanup()


FEW = [("cc-lucb", "low-variance"), ("joint-lucb", "pass-fail")]


@pytest.mark.parametrize(("algorithm", "model"), quick(CASES, FEW))
def test_nothing_is_lost_or_counted_twice_whatever_the_order(algorithm, model):
    machine = type("Machine", (Interleavings,), {"algorithm": algorithm, "model": model})
    limits = {"stateful_step_count": 40}
    if settings.default.derandomize:
        # Minutes would go into making an example small; the wide profile does that.
        limits |= {"max_examples": 4, "phases": [Phase.generate]}
    run_state_machine_as_test(machine, settings=settings(**limits))


@pytest.mark.parametrize(("algorithm", "model"), CASES)
def test_the_order_of_arrival_within_an_arm_does_not_matter(algorithm, model):
    """Every pull of a round that was asked for at once is told in another order: the same run, to the last bit."""
    runs = []
    for seed in range(3):
        session, chance = Session(a_task(algorithm, model)), random.Random(seed)
        while not session.stopped and session.told < MOST:
            asked = session.ask_many(5)
            if seed:
                chance.shuffle(asked)
            for pull in asked:
                session.tell(pull, reward(model, pull.arm, pull.number))
        runs.append((state(session), session.best, session.claims(session.best)))
    assert runs[0] == runs[1] == runs[2]


@pytest.mark.parametrize(("algorithm", "model"), quick(CASES, FEW))
def test_a_search_that_is_resumed_after_every_reward_is_the_same(algorithm, model, tmp_path):
    whole = Session(a_task(algorithm, model))
    while (pull := whole.ask()) is not None and whole.told < 60:
        whole.tell(pull, reward(model, pull.arm, pull.number))
    path = tmp_path / "searches.db"
    Session.start(a_task(algorithm, model), path).close()
    while True:
        with Session.resume(path) as session:
            if session.told >= 60 or (pull := session.ask()) is None:
                session.ask_many(1)
                assert figures(session) == figures(whole)
                assert session.best == whole.best
                break
            session.tell(pull, reward(model, pull.arm, pull.number))


@pytest.mark.parametrize("algorithm", ["cc-lucb", "joint-lucb"])
def test_what_the_algorithm_decided_when_it_had_to_wait_is_replayed(algorithm, tmp_path):
    """A rule that was asked in vain may have settled on a leader all the same."""
    settled = 0
    for seed in range(12):
        chance, flying = random.Random(seed), []
        task = Task(0.3, 0.3, 0.2, algorithm=algorithm, items=4, family="pass-fail(4)")
        with Session.start(task, tmp_path / f"{seed}.db") as session:
            while not session.stopped:
                numbers = list(session.history.state)
                asked = session.ask_many(16 - len(flying))
                flying += asked
                if len(flying) < 16 and not session.stopped:
                    settled += not asked and numbers != list(session.history.state)
                    assert state(Session.replayed(session.record.recording())) == state(session)
                if flying:
                    pull = flying.pop(chance.randrange(len(flying)))
                    session.tell(pull, reward("pass-fail", pull.arm, pull.number))
    assert settled > 0


def test_a_record_of_another_order_is_not_the_same_record(tmp_path):
    """The control: what was told in another order, or asked for at another time, has another certificate."""
    certificates = []
    for backwards in (False, True):
        path = tmp_path / f"{backwards}.db"
        with Session.start(a_task("cc-lucb", "bernoulli"), path) as session:
            while not session.stopped:
                asked = session.ask_many(5)
                for pull in asked:
                    if pull.number == 0:
                        session.keep(pull.arm, pull.arm)
                for pull in reversed(asked) if backwards else asked:
                    session.tell(pull, reward("bernoulli", pull.arm, pull.number))
            certificates.append(session.finish("pulls"))
    one, other = certificates
    assert (one.claims, one.pulls) == (other.claims, other.pulls)
    assert one.digest != other.digest
    with pytest.raises(Refuted, match="digest must be what the record bears out"):
        verify(tmp_path / "True.db", certificate=one)
