"""Ask and tell: the rules that the simulator compiles, interpreted for rewards from any source."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.ask_tell.result import Result
from topalpha.ask_tell.trail import Trail
from topalpha.confidence.lost import lost_column
from topalpha.families.units import Model, reward_model
from topalpha.former_rules import RULES as RULES_NOW
from topalpha.former_rules import restated
from topalpha.randomness import RULES, Seed, stream
from topalpha.rules.protocol import SUM, WAIT, Algorithm, Certifier, Claim, History, Joining, Refuting, Selector
from topalpha.validate import MOST_WIDTH, real, require, whole

if TYPE_CHECKING:
    from os import PathLike

    from topalpha.ask_tell.trail import Journal
    from topalpha.session import Session


# How many rewards may wait for an earlier one, as a multiple of the pulls in flight (plus some). Above that, nothing is
# asked for until the earlier one is told: a very long pull must not let the others run on blindly. With durations as
# varied as those of an exponential law this hardly ever happens.
_AHEAD = 8


class Pull(NamedTuple):
    """A reward that the search is waiting for: pull ``number`` (from 0) of arm ``arm``.

    Attributes
    ----------
    arm
        The number of the arm, from 0.
    number
        The number of the pull of this arm, from 0. If it is 0, the arm is new: draw a new candidate for it.
    order
        The number of the pull among all pulls asked for, from 0.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> Search(design("cc-lucb", 0.1, 0.1, 0.1), seed=0).ask()
    Pull(arm=0, number=0, order=0)
    """

    arm: int
    number: int
    order: int


class Search:
    """One run of an algorithm on rewards that the caller provides.

    An arm is a candidate, a pull is an evaluation of it. Any number of pulls may be in flight. Rewards count in the
    order in which their pulls were asked for, within each arm or over all, as the algorithm says: in order of arrival,
    pulls whose duration depends on their outcome would bias the evidence.

    Parameters
    ----------
    algorithm
        The result of ``design``.
    seed
        Seed of the algorithm's own random choices, if it makes any.
    model
        Converts the caller's rewards into the algorithm's: a range, a cost to minimise. By default they are the same.
    journal
        Logs every ask and every tell before it counts.

    Examples
    --------
    >>> import random
    >>> from topalpha import Search, design
    >>> draw, arms = random.Random(0), []
    >>> search = Search(design("joint-lucb", 0.2, 0.2, 0.1), seed=0)
    >>> while (pull := search.ask()) is not None:
    ...     if pull.number == 0:
    ...         arms.append(draw.random())
    ...     search.tell(pull, float(draw.random() < arms[pull.arm]))
    >>> search.result.stopped, arms[search.result.arm] > 0.6
    (True, True)
    """

    def __init__(
        self, algorithm: Algorithm, seed: Seed = 0, *, model: Model | None = None, journal: Journal | None = None
    ) -> None:
        require(isinstance(algorithm, Algorithm), "algorithm", "be the result of design", algorithm)
        self.algorithm = algorithm
        self.model = reward_model(algorithm.family) if model is None else model
        self.journal = journal
        self.stopped = False
        #: Whether there is nothing left to ask for although the stopping rule is not met: too many pulls were lost.
        self.exhausted = False
        #: The number of rewards told, including rewards that wait for earlier ones.
        self.told = 0
        self._seed = seed
        self._rng = stream(seed, RULES)
        #: The algorithm's requirements for its driver.
        self.traits = algorithm.traits
        self._certifier = algorithm if isinstance(algorithm, Certifier) else None
        self._stats: list[list[float]] = [[] for _ in range(self.traits.columns)]
        self._pulls: list[int] = []
        self._pending: list[int] = []
        self._early: list[int] = []
        self._early_sums: list[float] = []
        self._state = [0.0] * self.traits.numbers
        self._t = 0
        self._arms = 0
        self._memory = algorithm.scratch(0)
        self._batch = [0] * (2 * self.traits.width if self.traits.blocks else self.traits.width)
        self._planned: deque[int] = deque()
        # If plans ask for blocks of pulls: how many of each planned arm are left.
        self._repeats: deque[int] = deque()
        self._again: dict[int, Pull] = {}
        self._lanes: dict[int, deque[Pull]] = {}
        # By order: the arm of a pull, its number, and its reward in the caller's units once told.
        self._arm_of = array("q")
        self._number_of = array("q")
        self._reward_of = array("d")
        # For a replay: the number of rewards told when each pull was planned, and the order of arrival of rewards.
        self._after_of = array("q")
        self._orders = array("q")
        self._waits: list[tuple[int, int]] = []
        self._waited = -1
        # Orders of pulls that never came back.
        self._lost: set[int] = set()

    @staticmethod
    def resume(path: str | PathLike[str], name: str | None = None, *, allow_pickle: bool = False) -> Session:
        """The search in this file, as it was when it ended, was interrupted or was killed.

        Told rewards are never asked for again; pulls that were in flight are handed out again, unchanged.
        See :class:`topalpha.session.Session`, which can also start one.
        """
        from topalpha.session import Session

        return Session.resume(path, name, allow_pickle=allow_pickle)

    @property
    def history(self) -> History:
        """The history that the rules see."""
        return History(
            self._t,
            self._arms,
            self._pulls,
            self._stats,
            self._state,
            self._pending,
            len(self._arm_of) - self._t,
            self._early,
            self._early_sums,
        )

    @property
    def trail(self) -> Trail:
        """Everything needed to run this search again up to now."""
        asked, told, waits = len(self._arm_of), self.told, len(self._waits)
        start = (self.algorithm, self._seed, self.model, self.stopped, self.history)
        log = (self._arm_of, self._after_of, self._reward_of, self._orders, self._waits)
        return Trail(*start, *log, asked, told, waits, self._lost, RULES_NOW)

    @property
    def asked(self) -> int:
        """The number of pulls asked for."""
        return len(self._arm_of)

    @cached_property
    def _lost_column(self) -> int:
        """The column of the statistics that counts lost pulls; 0 if there is none."""
        return lost_column(self.algorithm)

    @property
    def endures(self) -> bool:
        """Whether the algorithm's bounds allow for lost pulls: see :meth:`lose`."""
        return self._lost_column > 0

    @property
    def planned(self) -> int:
        """How many pulls of the current round are still to be asked for."""
        return sum(self._repeats) if self.traits.blocks else len(self._planned)

    @property
    def outstanding(self) -> list[Pull]:
        """Pulls that were asked for and not yet told, the oldest first."""
        waiting = (pull for lane in self._lanes.values() for pull in lane if isnan(self._reward_of[pull.order]))
        return sorted(waiting, key=lambda pull: pull.order)

    def ask(self) -> Pull | None:
        """The next pull; None once the search has stopped.

        Others may be in flight. If the algorithm must wait for one, this raises; :meth:`ask_many` returns no pulls.
        """
        pull = self._next()
        if pull is None and not self.stopped:
            lost = "ask must come before too many pulls are lost: no further pull could settle the search"
            waiting = f"ask must wait until one of these is told: {self._waiting()}"
            raise RuntimeError(lost if self.exhausted else waiting)
        return pull

    def ask_many(self, width: int) -> list[Pull]:
        """Up to ``width`` pulls; fewer or none if the algorithm must wait or has stopped.

        Examples
        --------
        >>> from topalpha import Search, design
        >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
        >>> [pull.arm for pull in search.ask_many(4)]
        [0, 1, 2, 3]
        """
        found: list[Pull] = []
        for _ in range(whole("width", width, 0, MOST_WIDTH)):
            pull = self._next()
            if pull is None:
                break
            found.append(pull)
        return found

    def tell(self, pull: Pull, reward: float) -> None:
        """Tell the reward of a pull that was asked for: in any order, late, or again with the same value.

        After the stop it is checked but does not count. Another reward for the same pull is an error: of two
        evaluations the one that finishes first must not win.
        """
        reward = self._checked(pull, reward, self._reward_before(pull))
        if self.stopped or not isnan(self._reward_of[pull.order]):
            return
        if self.journal is not None:
            self.journal.tell_many([(pull.order, reward)])
        self._count(pull, reward)

    def tell_many(self, rewards: Iterable[tuple[Pull, float]], *, checked: bool = False) -> None:
        """Tell several rewards at once; they are logged in one step.

        ``checked`` says that ``model.check`` has passed them already.

        Examples
        --------
        >>> from topalpha import Search, design
        >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
        >>> search.tell_many([(pull, 1.0) for pull in search.ask_many(4)])
        >>> search.history.t
        4
        """
        fresh: dict[int, tuple[Pull, float]] = {}
        for pull, reward in rewards:
            before = self._reward_before(pull)
            if isnan(before) and pull.order in fresh:
                before = fresh[pull.order][1]
            reward = float(reward) + 0.0 if checked and isnan(before) else self._checked(pull, reward, before)
            if isnan(before) and not self.stopped:
                fresh[pull.order] = (pull, reward)
        if fresh and self.journal is not None:
            self.journal.tell_many([(order, reward) for order, (_, reward) in fresh.items()])
        for pull, reward in fresh.values():
            self._count(pull, reward)

    def lose(self, pull: Pull, reason: str = "") -> None:
        """Count a pull that was asked for and never came back; ``reason`` is for the log.

        It counts as the largest reward in its arm's upper bound and as the smallest in its lower bound, so that the
        proof does not depend on which pulls were lost (docs/proofs.md, G). The algorithm must support it: that of a
        task with ``on_lost="worst"`` does.

        Examples
        --------
        >>> from topalpha import Search, design
        >>> from topalpha.algorithms.enduring import enduring
        >>> search = Search(enduring(design("cc-lucb", 0.3, 0.3, 0.2)))
        >>> search.lose(search.ask())
        >>> search.history.t, search.lower(0), search.upper(0)
        (1, 0.0, 1.0)
        """
        require(self.endures, "algorithm", "have bounds that count lost pulls", self.traits.name)
        require(isnan(self._reward_before(pull)), "pull", "be asked for and not yet told", pull)
        if self.stopped:
            return
        worst = self.model.worst
        assert worst is not None
        if self.journal is not None:
            self.journal.tell_many([(pull.order, worst)])
        self._lost.add(pull.order)
        self._count(pull, worst)

    def has(self, order: int) -> bool:
        """Whether the reward of the pull of this order was told.

        Examples
        --------
        >>> from topalpha import Search, design
        >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
        >>> pull = search.ask()
        >>> search.has(pull.order)
        False
        """
        return order < len(self._reward_of) and not isnan(self._reward_of[order])

    def again(self, pull: Pull) -> None:
        """Hand this pull out again, once, because its evaluation failed or its evaluator is gone.

        Examples
        --------
        >>> from topalpha import Search, design
        >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
        >>> pull = search.ask()
        >>> search.again(pull)
        >>> search.ask() == pull
        True
        """
        require(isnan(self._reward_before(pull)), "pull", "be asked for and not yet told", pull)
        self._again.setdefault(pull.order, pull)

    @property
    def result(self) -> Result:
        """The recommendation now, and whether it is proved; raises before the first reward."""
        require(self._t > 0, "result", "be read after the first reward", self._t)
        return self.returned(self.best, tuple(self.selection))

    def returned(self, arm: int, selection: tuple[int, ...], **more: Any) -> Result:
        """The result that names these arms; ``more`` are further fields of it."""
        mean = self._stats[SUM][arm] / self._pulls[arm]
        return Result(
            arm=arm,
            stopped=self.stopped,
            pulls=self._t,
            arms=self._arms,
            mean=self.model.to_user(mean),
            alpha=self.algorithm.alpha,
            epsilon=self.algorithm.epsilon * abs(self.model.factor),
            delta=self.algorithm.delta,
            algorithm=self.traits.name,
            covered=self.traits.covered,
            selection=selection,
            refutation=self.refutation,
            trail=self.trail,
            **more,
        )

    @property
    def refutation(self) -> str:
        """The proved statement in place of the claim, if the algorithm's knowledge is refuted; else empty."""
        return self.algorithm.refutation(self.history) if isinstance(self.algorithm, Refuting) else ""

    @property
    def best(self) -> int:
        """The arm to return, before and after the stop."""
        return self.algorithm.recommend(self.history, self._memory)

    @property
    def selection(self) -> list[int]:
        """All arms to return: the best one, or several if the algorithm looks for several."""
        if isinstance(self.algorithm, Selector):
            return self.algorithm.selection(self.history, self._memory)
        return [self.best]

    def lower(self, arm: int) -> float:
        """The arm's lower bound now, in the algorithm's units; the lowest possible mean if it has none."""
        if self._certifier is None or self._pulls[arm] == 0:
            return self.algorithm.family.lowest
        return self._certifier.lower_bound(self.history, self._memory, arm)

    def upper(self, arm: int) -> float:
        """The arm's upper bound now, in the algorithm's units; the highest possible mean if it has none."""
        if self._certifier is None or self._pulls[arm] == 0:
            return self.algorithm.family.highest
        return self._certifier.upper_bound(self.history, self._memory, arm)

    def claims(self, arm: int) -> list[Claim]:
        """The proved claims about the arm now, in the caller's units; all of them hold at once.

        Empty before the stop if the algorithm has no bounds of its own.
        """
        if self._certifier is None or self._pulls[arm] == 0:
            return []
        claims = self._certifier.claims(self.history, self._memory, arm)
        return [Claim(claim.alpha, claim.epsilon * abs(self.model.factor)) for claim in claims]

    def shown(self, arm: int) -> float | None:
        """The epsilon within which the evidence of all arms together shows the arm to be, in the caller's units.

        None if the algorithm does not join the evidence of all arms: then the bounds decide.

        Examples
        --------
        >>> from topalpha import Search, design
        >>> search = Search(design("joint-lucb", 0.3, 0.3, 0.2))
        >>> while (pull := search.ask()) is not None:
        ...     search.tell(pull, float(pull.arm == 2))
        >>> search.shown(2) <= 0.3, search.shown(1), Search(design("cc-lucb", 0.3, 0.3, 0.2)).shown(0)
        (True, inf, None)
        """
        if not isinstance(self.algorithm, Joining):
            return None
        return self.algorithm.shown(self.history, self._memory, arm) * abs(self.model.factor)

    @property
    def rewards(self) -> list[list[float]]:
        """The rewards that count, by arm, in the order in which they were asked for and in the caller's units.

        Examples
        --------
        >>> from topalpha import Search, design
        >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
        >>> search.tell_many([(pull, pull.arm / 4) for pull in search.ask_many(3)])
        >>> search.rewards
        [[0.0], [0.25], [0.5]]
        """
        found: list[list[float]] = [[] for _ in range(self._arms)]
        for arm, number, reward in zip(self._arm_of, self._number_of, self._reward_of, strict=True):
            if number < self._pulls[arm]:
                found[arm].append(reward)
        return found

    def forget(self) -> None:
        """Start again from fresh scratch memory: this may change speed, never a decision."""
        self._memory = self.algorithm.scratch(len(self._pulls))

    def _waiting(self) -> str:
        return ", ".join(f"pull {pull.number} of arm {pull.arm}" for pull in self.outstanding[:8])

    def _next(self) -> Pull | None:
        while self._again and not self.stopped:
            pull = self._again.pop(next(iter(self._again)))
            if isnan(self._reward_of[pull.order]):
                return pull
        out = len(self._arm_of) - self.told
        if self.told - self._t > _AHEAD * (out + _AHEAD // 2):
            return None
        if not self._planned:
            self._plan()
            if not self._planned:
                return None
        arm = self._planned[0]
        if self.traits.blocks and self._repeats[0] > 1:
            self._repeats[0] -= 1
        else:
            self._planned.popleft()
            if self.traits.blocks:
                self._repeats.popleft()
        if arm >= len(self._pulls):
            self._grow()
        if arm == self._arms:
            self._arms += 1
        pull = Pull(arm, self._pulls[arm] + self._pending[arm], len(self._arm_of))
        if self.journal is not None:
            self.journal.ask(pull.order, arm, self.told)
        self._pending[arm] += 1
        self._arm_of.append(arm)
        self._number_of.append(pull.number)
        self._after_of.append(self.told)
        self._reward_of.append(nan)
        lane = 0 if self.traits.global_order else arm
        if lane in self._lanes:
            self._lanes[lane].append(pull)
        else:
            self._lanes[lane] = deque((pull,))
        return pull

    def _plan(self) -> None:
        # One call between two rewards is enough to know that the algorithm must wait.
        if self.stopped or self._waited == self._t:
            return
        count = self.algorithm.plan(self.history, self._memory, self._rng, self._batch)
        if count == WAIT:
            if len(self._arm_of) == self._t:
                if not self._lost:
                    raise RuntimeError("plan must not wait when nothing is in flight")
                self.exhausted = True
            if self.journal is not None:
                self.journal.wait(len(self._arm_of), self.told)
            self._waits.append((len(self._arm_of), self.told))
            self._waited = self._t
            return
        self.stopped = count == 0
        fresh = self._arms
        for index, arm in enumerate(self._batch[:count]):
            if not 0 <= arm <= fresh:
                raise RuntimeError(f"plan must name arms from 0 to the number seen, got {self._batch[:count]}")
            fresh = max(fresh, arm + 1)
            self._planned.append(arm)
            if self.traits.blocks:
                self._repeats.append(self._batch[self.traits.width + index])

    def _grow(self) -> None:
        """Make room for the arms that the algorithm will draw, or double the room."""
        extra = max(self.algorithm.arms, 2 * len(self._pulls)) - len(self._pulls)
        self._pulls.extend([0] * extra)
        self._pending.extend([0] * extra)
        self._early.extend([0] * extra)
        self._early_sums.extend([0.0] * extra)
        for column in self._stats:
            column.extend([0.0] * extra)
        self.forget()

    def _reward_before(self, pull: Pull) -> float:
        """The reward told earlier for this pull; NaN if there is none."""
        order = pull.order if isinstance(pull, Pull) else -1
        known = 0 <= order < len(self._arm_of)
        if not known or self._arm_of[order] != pull.arm or self._number_of[order] != pull.number:
            require(False, "pull", "have been asked for", pull)
        return self._reward_of[order]

    def check(self, reward: float) -> None:
        """Raise ``ValueError`` unless the reward is possible.

        Examples
        --------
        >>> from topalpha import Search, design
        >>> Search(design("cc-lucb", 0.3, 0.3, 0.2)).check(57.97)
        Traceback (most recent call last):
        ValueError: reward must lie in [0, 1], got 57.97
        """
        self.model.check(reward)

    def _checked(self, pull: Pull, reward: float, before: float) -> float:
        """The reward; raise if it is invalid or contradicts an earlier one."""
        reward = real("reward", reward) + 0.0  # SQLite keeps no -0.0
        if isnan(before):
            self.check(reward)
        elif reward != before:
            which = f"reward of pull {pull.number} of arm {pull.arm}"
            require(False, which, f"be the one told before, {before!r}", reward)
        return reward

    def _count(self, pull: Pull, reward: float) -> None:
        """Take the reward in; every reward counts once all earlier ones are told."""
        self._reward_of[pull.order] = reward
        self._orders.append(pull.order)
        self.told += 1
        lane = self._lanes[0 if self.traits.global_order else pull.arm]
        if lane[0].order != pull.order:  # an earlier one is missing
            self._early[pull.arm] += 1
            self._early_sums[pull.arm] += self.model.to_internal(reward)
            return
        while lane and not isnan(self._reward_of[lane[0].order]):
            first = lane.popleft()
            self._t += 1
            self._pending[first.arm] -= 1
            reward = self.model.to_internal(self._reward_of[first.order])
            if first.order != pull.order:
                self._early[first.arm] -= 1
                left = self._early[first.arm]
                self._early_sums[first.arm] = self._early_sums[first.arm] - reward if left else 0.0
            if first.order in self._lost:
                self._stats[self._lost_column][first.arm] += 1.0
            self.algorithm.observe(self.history, self._memory, first.arm, reward)


def begun_again(trail: Trail) -> Search:
    """A new search with the algorithm of this trail.

    Examples
    --------
    >>> from topalpha import design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> begun_again(search.trail).algorithm == search.algorithm
    True
    """
    algorithm, model = (restated(part, trail.rules) for part in (trail.algorithm, trail.model))
    return Search(algorithm, trail.seed, model=model)


def at_rest(trail: Trail) -> Search:
    """A stopped search restored without a replay; for questions, not for more pulls.

    Examples
    --------
    >>> from topalpha import design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, float(pull.arm == 2))
    >>> again = at_rest(search.trail)
    >>> again.best, again.lower(2) == search.lower(2), again.result == search.result, again.rewards == search.rewards
    (2, True, True, True)
    """
    require(trail.stopped, "trail", "come from a stopped search", trail.status)
    search, history = begun_again(trail), trail.history
    search.stopped, search.told = True, trail.told
    search._t, search._arms = history.t, history.arms
    search._pulls, search._stats, search._state = (
        list(history.pulls),
        [list(one) for one in history.stats],
        list(history.state),
    )
    search._pending, search._early = list(history.pending), list(history.early)
    search._early_sums = list(history.early_sums)
    search._arm_of, search._after_of, search._reward_of = trail.arm_of, trail.after_of, trail.reward_of
    search._orders, search._waits, search._lost = trail.orders, trail.waited, trail.lost
    asked = [0] * history.arms
    for arm in trail.arm_of:
        search._number_of.append(asked[arm])
        asked[arm] += 1
    search.forget()
    return search
