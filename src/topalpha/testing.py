"""Conformance checks for authors of algorithms and reward families; each raises ``AssertionError`` with what differs.

An algorithm is written once and run by two drivers, so every way to run it must agree bit for bit: interpreted plainly,
through :class:`topalpha.Search`, replayed from its record, compiled, compiled in slices, and with its scratch memory
replaced by a fresh one at any moment.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from topalpha.core import SUM, Algorithm, History, RewardFamily
from topalpha.reservoirs import Reservoir
from topalpha.search import Pull, Search
from topalpha.streams import Streams, run_seed, streams

__all__ = [
    "Outcome",
    "Step",
    "check_algorithm",
    "check_design",
    "check_family",
    "check_parameters",
    "check_same",
    "compiled",
    "interpreted",
    "replayed",
    "searched",
]


def _ensure(holds: bool, text: str) -> None:
    """An assertion that stays when Python runs optimised."""
    if not holds:
        raise AssertionError(text)


class Step(NamedTuple):
    """One pull of a run: the arm and its reward."""

    arm: int
    reward: float


class Outcome(NamedTuple):
    """All that a run leaves behind and that decisions depend on, as plain numbers."""

    t: int
    arms: int
    pulls: tuple[int, ...]
    stats: tuple[tuple[float, ...], ...]
    state: tuple[float, ...]
    arm: int


def outcome(history: History, arm: int) -> Outcome:
    """The outcome of a run with this history that recommends ``arm``.

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
    """Raise unless two outcomes agree to the last bit; ``what`` names the two ways to run.

    Examples
    --------
    >>> first = Outcome(1, 1, (1,), ((0.5,),), (), 0)
    >>> check_same(first, first._replace(t=2), "compiled and interpreted")
    Traceback (most recent call last):
    AssertionError: compiled and interpreted differ in t: 1 and 2
    """
    for field in ("t", "arms", "pulls", "arm"):
        left, right = getattr(one, field), getattr(other, field)
        _ensure(left == right, f"{what} differ in {field}: {left} and {right}")
    _ensure(len(one.stats) == len(other.stats), f"{what} differ in columns: {len(one.stats)} and {len(other.stats)}")
    for column, (these, those) in enumerate(zip(one.stats, other.stats, strict=True)):
        _check_bits(these, those, f"{what} differ in column {column} of the statistics at arm")
    _check_bits(one.state, other.state, f"{what} differ in number of the state")


def _check_bits(these: Sequence[float], those: Sequence[float], where: str) -> None:
    _ensure(len(these) == len(those), f"{where}: {len(these)} and {len(those)} entries")
    for index, (left, right) in enumerate(zip(these, those, strict=True)):
        _ensure(struct.pack("<d", left) == struct.pack("<d", right), f"{where} {index}: {left!r} and {right!r}")


class _Arms:
    """Arms' means as the simulator draws them: n at first, then as many again whenever they run out."""

    def __init__(self, algorithm: Algorithm, reservoir: Reservoir, source: Streams) -> None:
        self.reservoir = reservoir
        self.source = source
        self.means: list[float] = reservoir.sample(algorithm.arms, source.arms).tolist()

    def __getitem__(self, arm: int) -> float:
        if arm == len(self.means):
            self.means.extend(self.reservoir.sample(max(arm, 1), self.source.arms).tolist())
        return self.means[arm]


def interpreted(
    algorithm: Algorithm, reservoir: Reservoir, seed: int = 0, run: int = 0, most: int = 200_000
) -> tuple[Outcome, list[Step]]:
    """Interpret one run in the plainest way, checking each plan on the way; the same run as number ``run`` of a study.

    Raises ``AssertionError`` where a plan writes past its batch, names an arm that is neither seen nor the next fresh
    one, changes what was observed, or has not stopped after ``most`` pulls.

    Examples
    --------
    >>> from topalpha import design
    >>> from topalpha.reservoirs import Uniform
    >>> last, record = interpreted(design("kl-lucb", 0.3, 0.3, 0.2), Uniform(0.0, 1.0))
    >>> last.t == len(record), record[0].arm
    (True, 0)
    """
    source = streams(run_seed(seed, run))
    arms = _Arms(algorithm, reservoir, source)
    pulls: list[int] = []
    stats: list[list[float]] = [[] for _ in range(algorithm.columns)]
    state = [0.0] * algorithm.numbers
    memory = algorithm.scratch(0)
    record: list[Step] = []
    seen = 0
    while True:
        batch = [0] * algorithm.width
        before = list(pulls), list(stats[SUM])
        count = algorithm.plan(History(len(record), seen, pulls, stats, state), memory, source.rules, batch)
        _check_plan(count, batch, algorithm.width, seen)
        _ensure(before == (pulls, stats[SUM]), "plan must leave the pulls and the sums of rewards alone")
        if count == 0:
            break
        _ensure(len(record) < most, f"the run must stop within {most} pulls")
        for arm in batch[:count]:
            if arm == len(pulls):
                extra = max(algorithm.arms, 2 * len(pulls)) - len(pulls)
                pulls.extend([0] * extra)
                for column in stats:
                    column.extend([0.0] * extra)
                memory = algorithm.scratch(len(pulls))
            reward = algorithm.family.sample(arms[arm], source.rewards)
            algorithm.family.check(reward)
            record.append(Step(arm, reward))
            seen = max(seen, arm + 1)
            algorithm.observe(History(len(record), seen, pulls, stats, state), memory, arm, reward)
    history = History(len(record), seen, pulls, stats, state)
    best = algorithm.recommend(history, memory)
    _ensure(0 <= best < seen and pulls[best] > 0, f"recommend must return an arm that was pulled, got {best}")
    return outcome(history, best), record


def _check_plan(count: int, batch: list[int], width: int, seen: int) -> None:
    _ensure(len(batch) == width and 0 <= count <= width, f"plan must return a count from 0 to {width}, got {count}")
    for arm in batch[:count]:
        _ensure(0 <= arm <= seen, f"plan must name arms from 0 to the number seen, {seen}, got {batch[:count]}")
        seen = max(seen, arm + 1)


def searched(
    algorithm: Algorithm, reservoir: Reservoir, seed: int = 0, run: int = 0, forget: float = 0.0
) -> tuple[Outcome, list[Step]]:
    """The same run through :class:`topalpha.Search`, forgetting its memory with probability ``forget`` at each pull."""
    source = streams(run_seed(seed, run))
    arms = _Arms(algorithm, reservoir, source)
    moments = np.random.default_rng(seed)
    search = Search(algorithm, run_seed(seed, run))
    record: list[Step] = []
    while (pull := search.ask()) is not None:
        reward = algorithm.family.sample(arms[pull.arm], source.rewards)
        record.append(Step(pull.arm, reward))
        search.tell(pull, reward)
        if forget > 0.0 and moments.random() < forget:
            search.forget()
    return outcome(search.history, search.result.arm), record


def replayed(algorithm: Algorithm, record: Sequence[Step], seed: int = 0, run: int = 0) -> Outcome:
    """The outcome of a search that is told a record; rewards of one round are told in reverse."""
    search = Search(algorithm, run_seed(seed, run))
    position = 0
    while (pull := search.ask()) is not None:
        asked: list[Pull] = [pull]
        for step in record[position + 1 :]:
            try:
                following = search.ask()
            except RuntimeError:  # the round is complete
                break
            if following is None or following.arm != step.arm:
                raise AssertionError("a replay must ask for the recorded arms")
            asked.append(following)
        for offset in reversed(range(len(asked))):
            _ensure(position + offset < len(record), "a replay must stop where its record ends")
            step = record[position + offset]
            _ensure(asked[offset].arm == step.arm, "a replay must ask for the recorded arms")
            search.tell(asked[offset], step.reward)
        position += len(asked)
    _ensure(position == len(record), "a replay must use all of its record")
    return outcome(search.history, search.result.arm)


def compiled(
    algorithm: Algorithm,
    reservoir: Reservoir,
    seed: int = 0,
    run: int = 0,
    slices: int | None = None,
    forget: float = 0.0,
) -> Outcome:
    """The same run compiled: at one go, or in random slices of 1 to ``slices`` pulls, forgetting between some."""
    from topalpha.engine import OUT_OF_ARMS, STOPPED, Run

    source = streams(run_seed(seed, run))
    moments = np.random.default_rng(seed)
    one = Run(algorithm)
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


def check_parameters(parameters: Any, path: str = "") -> None:
    """Raise unless this is a NamedTuple of at least one field, each a scalar or again such a tuple.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> check_parameters(Bernoulli())
    >>> check_parameters([1.0])
    Traceback (most recent call last):
    AssertionError: list must be a NamedTuple
    """
    name = path or type(parameters).__name__
    _ensure(isinstance(parameters, tuple) and hasattr(parameters, "_fields"), f"{name} must be a NamedTuple")
    _ensure(len(parameters) > 0, f"{name} must have at least one field: an empty tuple is no compiled argument")
    for field, value in zip(parameters._fields, parameters, strict=True):
        if isinstance(value, tuple):
            check_parameters(value, f"{name}.{field}")
        else:
            _ensure(type(value) in (bool, int, float), f"{name}.{field} must be a bool, int or float, got {value!r}")


def check_design(design: Callable[..., Algorithm], family: RewardFamily | None = None) -> None:
    """Raise unless ``design(alpha, epsilon, delta, family)`` refuses bad targets with one clear ``ValueError``.

    Whole numbers where reals are meant must give the very same types: compiled code tells them apart.

    Examples
    --------
    >>> from topalpha.algorithms import ALGORITHMS
    >>> for entry in ALGORITHMS:
    ...     check_design(entry.design)
    """
    bad: list[tuple[str, tuple[Any, ...]]] = []
    for value in (0.0, 1.0, -0.1, 1.5, math.nan, math.inf, "much", None):
        bad.append(("alpha", (value, 0.1, 0.1)))
        bad.append(("delta", (0.1, 0.1, value)))
    for value in (-0.1, math.nan, math.inf, "much", None):
        bad.append(("epsilon", (0.1, value, 0.1)))
    for name, target in bad:
        try:
            design(*target, family)
        except ValueError as error:
            _ensure(str(error).startswith(name), f"the refusal of {target} must name {name}, says {error}")
        else:
            raise AssertionError(f"design must refuse {target}: {name} is wrong")
    one, other = design(0.1, 1, 0.1, family), design(0.1, 1.0, 0.1, family)
    _ensure(one == other, "design must not care whether a number is whole")
    for left, right in zip(_leaves(one), _leaves(other), strict=True):
        _ensure(type(left) is type(right), f"design must coerce its numbers, got {left!r} and {right!r}")


def _leaves(parameters: Any) -> Iterable[Any]:
    for value in parameters:
        if isinstance(value, tuple):
            yield from _leaves(value)
        else:
            yield value


def check_algorithm(
    algorithm: Algorithm, reservoir: Reservoir, seed: int = 0, run: int = 0, most: int = 200_000
) -> Outcome:
    """Run an algorithm in every way there is and raise unless all agree bit for bit; return what they agree on.

    Examples
    --------
    >>> from topalpha import design
    >>> from topalpha.reservoirs import Uniform
    >>> check_algorithm(design("kl-lucb", 0.1, 0.2, 0.1), Uniform(0.0, 0.95)).t > 30
    True
    """
    check_parameters(algorithm)
    _ensure(isinstance(algorithm, Algorithm), f"{type(algorithm).__name__} must have every member of Algorithm")
    _ensure(min(algorithm.columns, algorithm.width, algorithm.arms) >= 1, "columns, width and arms must be at least 1")
    _ensure(isinstance(algorithm.name, str) and len(algorithm.name) > 0, "an algorithm must have a name")
    plain, record = interpreted(algorithm, reservoir, seed, run, most)

    again, asked = searched(algorithm, reservoir, seed, run)
    check_same(plain, again, "interpreted and searched")
    _ensure(record == asked, "a search must ask for the same pulls in the same order")
    forgetful, _ = searched(algorithm, reservoir, seed, run, forget=0.1)
    check_same(plain, forgetful, "searched with and without memory")
    check_same(plain, replayed(algorithm, record, seed, run), "interpreted and replayed")

    check_same(plain, compiled(algorithm, reservoir, seed, run), "interpreted and compiled")
    check_same(plain, compiled(algorithm, reservoir, seed, run, slices=1), "interpreted and compiled pull by pull")
    check_same(plain, compiled(algorithm, reservoir, seed, run, slices=97), "interpreted and compiled in slices")
    check_same(
        plain, compiled(algorithm, reservoir, seed, run, slices=23, forget=0.3), "compiled with and without memory"
    )
    return plain


def check_family(family: RewardFamily, means: Sequence[float], seed: int = 0, draws: int = 2000) -> None:
    """Raise unless the family's methods fit together at these means.

    Checked: parameters, divergence, bounds (outward, within 1e-9), Chernoff point, likelihood ratios, gaps and tilts of
    the right sign, and that samples pass ``check`` and have the stated mean and variance.

    Examples
    --------
    >>> from topalpha.families import Poisson
    >>> check_family(Poisson(), (0.5, 2.0))
    """
    check_parameters(family)
    _ensure(isinstance(family, RewardFamily), f"{type(family).__name__} must have every member of RewardFamily")
    for value in (math.nan, math.inf, -math.inf):
        try:
            family.check(value)
        except ValueError:
            continue
        raise AssertionError(f"check must refuse the reward {value}")
    rng = np.random.default_rng(seed)
    for mean in means:
        _ensure(family.lowest <= mean <= family.highest, f"the mean {mean} must lie between lowest and highest")
        _check_bounds(family, mean)
        _check_ratios(family, mean)
        rewards = np.array([family.sample(mean, rng) for _ in range(draws)])
        for reward in rewards[:100]:
            family.check(float(reward))
        error = math.sqrt(family.variance(mean) / draws)
        _ensure(abs(rewards.mean() - mean) <= 6.0 * error, f"samples at {mean} have mean {rewards.mean()}")
    for one in means:
        for other in means:
            _check_pair(family, one, other)


def _check_bounds(family: RewardFamily, mean: float) -> None:
    above, below = mean, mean
    _ensure(family.divergence(mean, mean) == 0.0, f"d({mean}, {mean}) must be 0")
    for level in (1e-6, 1e-3, 0.1, 1.0):
        upper, lower = family.upper(mean, level), family.lower(mean, level)
        where = f"at mean {mean} and level {level}"
        _ensure(
            lower <= below <= mean <= above <= upper, f"bounds must widen with the level, got {lower, upper} {where}"
        )
        for bound, limit in ((upper, family.highest), (lower, family.lowest)):
            tolerance = 1e-9 * max(1.0, abs(bound))
            inside = bound + math.copysign(min(tolerance, abs(bound - mean)), mean - bound)
            _ensure(
                bound == limit or family.divergence(mean, bound) >= level * (1.0 - 1e-12), f"{bound} inside {where}"
            )
            _ensure(family.divergence(mean, inside) <= level * (1.0 + 1e-9), f"{bound} too far out {where}")
        _ensure(family.ceiling(mean, upper, level, 1.5 * level) >= family.upper(mean, 1.5 * level), f"ceiling {where}")
        above, below = upper, lower


def _check_ratios(family: RewardFamily, mean: float) -> None:
    total, pulls = 10.0 * mean, 10
    _ensure(family.log_ratio(mean, mean, total, pulls) == 0.0, "a likelihood ratio of equal means must be 1")
    gap = family.gap_unit(0.1)
    _ensure(family.below(mean, gap) < mean < family.above(mean, gap), f"gaps must lead away from the mean {mean}")
    _ensure(family.largest_gap() > 0.0, "the largest gap must be positive")
    for alternative in (family.below(mean, gap), family.above(mean, gap)):
        ratio = family.log_ratio(alternative, mean, total, pulls)
        _ensure(ratio <= 1e-9, f"no mean is likelier than the empirical one, {mean}, got ln ratio {ratio}")
    _ensure(min(family.smallest_tilt(0.1), family.largest_tilt()) > 0.0, "tilts must be positive")
    for tilt in (-family.smallest_tilt(0.1), family.smallest_tilt(0.1)):
        slope = family.tilted_slope(mean, total, pulls, tilt, math.expm1(tilt))
        _ensure(
            slope * tilt < 0.0, "the tilt mixture must increase with the mean for tilts down, decrease for tilts up"
        )
    _ensure(family.variance(mean) >= 0.0 and family.spread(mean, 1) > 0.0, "variance and spread must be positive")
    _ensure(family.redundancy(total, pulls) >= 0.0, "no mixture is likelier than the likeliest mean")


def _check_pair(family: RewardFamily, one: float, other: float) -> None:
    point, value = family.chernoff_point(one, other), family.chernoff(one, other)
    where = f"between {one} and {other}"
    _ensure(min(one, other) <= point <= max(one, other), f"z* must lie {where}, got {point}")
    for mean in (one, other):
        divergence = family.divergence(point, mean)
        _ensure(abs(divergence - value) <= 1e-9 * max(1.0, value), f"d(z*, {mean}) must be {value}, got {divergence}")
    _ensure((family.divergence(one, other) > 0.0) == (one != other), f"d must be positive {where}")
