"""The ways to run an algorithm, and the outcome of a run, to be compared to the last bit."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from topalpha.ask_tell import Pull, Search
from topalpha.randomness import run_seed, streams
from topalpha.reservoirs import Reservoir
from topalpha.rules.protocol import SUM, Algorithm, History
from topalpha.simulation import Means, interpret
from topalpha.testing.ensure import ensure


class Step(NamedTuple):
    """One pull of a run: the arm and its reward.

    Attributes
    ----------
    arm
        The arm's number, from 0.
    reward
        Its reward.

    Examples
    --------
    >>> Step(arm=0, reward=1.0).reward
    1.0
    """

    arm: int
    reward: float


class Outcome(NamedTuple):
    """Everything in a run that decisions depend on, as plain numbers.

    Attributes
    ----------
    t, arms
        The number of rewards told, and of arms drawn.
    pulls, stats
        The number of rewards of each arm, and the algorithm's columns about them.
    state
        The algorithm's numbers about the run.
    arm
        The recommended arm.

    Examples
    --------
    >>> Outcome(t=1, arms=1, pulls=(1,), stats=((0.5,),), state=(), arm=0).pulls
    (1,)
    """

    t: int
    arms: int
    pulls: tuple[int, ...]
    stats: tuple[tuple[float, ...], ...]
    state: tuple[float, ...]
    arm: int


def outcome(history: History, arm: int) -> Outcome:
    """The outcome of a run with this history that recommends ``arm``.

    Parameters
    ----------
    history, arm
        The observed history, and the recommended arm.

    Examples
    --------
    >>> outcome(History(1, 1, [1, 0], [[0.5, 0.0]], []), 0)
    Outcome(t=1, arms=1, pulls=(1,), stats=((0.5,),), state=(), arm=0)
    """
    arms = int(history.arms)
    return Outcome(
        t=int(history.t),
        arms=arms,
        pulls=tuple(int(history.pulls[index]) for index in range(arms)),
        stats=tuple(tuple(float(column[index]) for index in range(arms)) for column in history.stats),
        state=tuple(float(number) for number in history.state),
        arm=int(arm),
    )


def check_same(one: Outcome, other: Outcome, what: str) -> None:
    """Raise unless two outcomes agree to the last bit.

    Parameters
    ----------
    one, other
        The outcomes.
    what
        The names of the two ways to run, for the error.

    Examples
    --------
    >>> first = Outcome(1, 1, (1,), ((0.5,),), (), 0)
    >>> check_same(first, first._replace(t=2), "compiled and interpreted")
    Traceback (most recent call last):
    AssertionError: compiled and interpreted differ in t: 1 and 2
    """
    for field in ("t", "arms", "pulls", "arm"):
        left, right = getattr(one, field), getattr(other, field)
        ensure(left == right, f"{what} differ in {field}: {left} and {right}")
    ensure(len(one.stats) == len(other.stats), f"{what} differ in columns: {len(one.stats)} and {len(other.stats)}")
    for column, (these, those) in enumerate(zip(one.stats, other.stats, strict=True)):
        _check_bits(these, those, f"{what} differ in column {column} of the statistics at arm")
    _check_bits(one.state, other.state, f"{what} differ in number of the state")


def _check_bits(these: Sequence[float], those: Sequence[float], where: str) -> None:
    ensure(len(these) == len(those), f"{where}: {len(these)} and {len(those)} entries")
    for index, (left, right) in enumerate(zip(these, those, strict=True)):
        ensure(struct.pack("<d", left) == struct.pack("<d", right), f"{where} {index}: {left!r} and {right!r}")


def interpreted(
    algorithm: Algorithm, reservoir: Reservoir, seed: int = 0, run: int = 0, most: int = 200_000
) -> tuple[Outcome, list[Step]]:
    """Interpret one run in the plainest way, checking each plan; it equals run number ``run`` of a study.

    Raises ``AssertionError`` if a plan writes past its batch, names an arm that is neither seen nor the next new one,
    or changes observed values, or if the run has not stopped after ``most`` pulls.

    Parameters
    ----------
    algorithm, reservoir
        The result of ``design``, and the law of the arms' means.
    seed, run
        The seed of a study, and the number of the run in it.
    most
        The most pulls of a run.

    Examples
    --------
    >>> from topalpha import design
    >>> from topalpha.reservoirs import Uniform
    >>> last, record = interpreted(design("kl-lucb", 0.3, 0.3, 0.2), Uniform(0.0, 1.0))
    >>> last.t == len(record), record[0].arm
    (True, 0)
    """
    source = streams(run_seed(seed, run))
    means = Means(algorithm, reservoir, source.arms)
    pulls: list[int] = []
    stats: list[list[float]] = [[] for _ in range(algorithm.traits.columns)]
    state = [0.0] * algorithm.traits.numbers
    memory = algorithm.scratch(0)
    record: list[Step] = []
    seen, width = 0, algorithm.traits.width
    while True:
        batch = [0] * (2 * width if algorithm.traits.blocks else width)
        before = list(pulls), list(stats[SUM])
        count = algorithm.plan(History(len(record), seen, pulls, stats, state), memory, source.rules, batch)
        _check_plan(count, batch, width, seen)
        ensure(before == (pulls, stats[SUM]), "plan must leave the pulls and the sums of rewards alone")
        if count == 0:
            break
        ensure(len(record) < most, f"the run must stop within {most} pulls")
        wanted = batch[width : width + count] if algorithm.traits.blocks else [1] * count
        for arm in (arm for arm, times in zip(batch[:count], wanted, strict=True) for _ in range(times)):
            if arm == len(pulls):
                extra = max(algorithm.arms, 2 * len(pulls)) - len(pulls)
                pulls.extend([0] * extra)
                for column in stats:
                    column.extend([0.0] * extra)
                memory = algorithm.scratch(len(pulls))
            reward = algorithm.family.sample(means[arm], source.rewards)
            algorithm.family.check(reward)
            record.append(Step(arm, reward))
            seen = max(seen, arm + 1)
            algorithm.observe(History(len(record), seen, pulls, stats, state), memory, arm, reward)
    history = History(len(record), seen, pulls, stats, state)
    best = algorithm.recommend(history, memory)
    ensure(0 <= best < seen and pulls[best] > 0, f"recommend must return an arm that was pulled, got {best}")
    return outcome(history, best), record


def _check_plan(count: int, batch: list[int], width: int, seen: int) -> None:
    whole = len(batch) in (width, 2 * width)
    ensure(whole and 0 <= count <= width, f"plan must return a count from 0 to {width}, got {count}")
    for arm in batch[:count]:
        ensure(0 <= arm <= seen, f"plan must name arms from 0 to the number seen, {seen}, got {batch[:count]}")
        seen = max(seen, arm + 1)
    ensure(min(batch[width : width + count], default=1) >= 1, f"plan must ask for at least one pull of an arm: {batch}")


def searched(
    algorithm: Algorithm, reservoir: Reservoir, seed: int = 0, run: int = 0, forget: float = 0.0
) -> tuple[Outcome, list[Step]]:
    """The same run through :class:`topalpha.Search`, dropping its memory with probability ``forget`` at each pull.

    Parameters
    ----------
    algorithm, reservoir
        The result of ``design``, and the law of the arms' means.
    seed, run
        The seed of a study, and the number of the run in it.
    forget
        The probability with which memory is dropped at each pull.

    Examples
    --------
    >>> from topalpha import design
    >>> from topalpha.reservoirs import Uniform
    >>> algorithm, reservoir = design("kl-lucb", 0.3, 0.3, 0.2), Uniform(0.0, 1.0)
    >>> searched(algorithm, reservoir, forget=0.5) == interpreted(algorithm, reservoir)
    True
    """
    moments = np.random.default_rng(seed)
    record: list[Step] = []

    def watch(search: Search, pull: Pull, reward: float) -> None:
        record.append(Step(pull.arm, reward))
        if forget > 0.0 and moments.random() < forget:
            search.forget()

    search = interpret(algorithm, reservoir, run_seed(seed, run), watch=watch).search
    return outcome(search.history, search.result.arm), record


def replayed(algorithm: Algorithm, record: Sequence[Step], seed: int = 0, run: int = 0) -> Outcome:
    """The outcome of a search that is told a record; rewards of one round are told in reverse.

    Parameters
    ----------
    algorithm
        The result of ``design``.
    record
        The pulls of another run.
    seed, run
        The seed and number of that run.

    Examples
    --------
    >>> from topalpha import design
    >>> from topalpha.reservoirs import Uniform
    >>> algorithm = design("kl-lucb", 0.3, 0.3, 0.2)
    >>> last, record = interpreted(algorithm, Uniform(0.0, 1.0))
    >>> replayed(algorithm, record) == last
    True
    """
    search = Search(algorithm, run_seed(seed, run))
    position = 0
    while (pull := search.ask()) is not None:
        asked: list[Pull] = [pull]
        asked.extend(search.ask_many(search.planned))
        for offset in reversed(range(len(asked))):
            ensure(position + offset < len(record), "a replay must stop at the end of its record")
            step = record[position + offset]
            ensure(asked[offset].arm == step.arm, "a replay must ask for the recorded arms")
            search.tell(asked[offset], step.reward)
        position += len(asked)
    ensure(position == len(record), "a replay must use its whole record")
    return outcome(search.history, search.result.arm)


def compiled(
    algorithm: Algorithm,
    reservoir: Reservoir,
    seed: int = 0,
    run: int = 0,
    slices: int | None = None,
    forget: float = 0.0,
) -> Outcome:
    """The same run compiled: at once, or in random slices of 1 to ``slices`` pulls, dropping memory between some.

    Parameters
    ----------
    algorithm, reservoir
        The result of ``design``, and the law of the arms' means.
    seed, run
        The seed of a study, and the number of the run in it.
    slices
        The most pulls of a slice; by default there is one slice.
    forget
        The probability with which memory is dropped after a slice.

    Examples
    --------
    >>> from topalpha import design
    >>> from topalpha.reservoirs import Uniform
    >>> algorithm, reservoir = design("kl-lucb", 0.3, 0.3, 0.2), Uniform(0.0, 1.0)
    >>> compiled(algorithm, reservoir, slices=10, forget=0.5) == compiled(algorithm, reservoir)
    True
    """
    from topalpha.engine import OUT_OF_ARMS, STOPPED, Run

    source = streams(run_seed(seed, run))
    moments = np.random.default_rng(seed)
    one = Run(algorithm, one_by_one=True)
    one.add_arms(reservoir.sample(algorithm.arms, source.arms))
    status = -1
    while status != STOPPED:
        budget = 2**62 if slices is None else one.history.t + int(moments.integers(1, slices + 1))
        status = one.advance(source.rules, source.rewards, budget)
        if status == OUT_OF_ARMS:
            one.add_arms(reservoir.sample(max(one.history.arms, 1), source.arms))
        if forget > 0.0 and moments.random() < forget:
            one.forget()
    return outcome(one.history, one.recommend())
