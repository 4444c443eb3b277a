"""(alpha, epsilon)-KL-LUCB: Aziz, Anderton, Kaufmann and Aslam (ALT 2018), Algorithm label ``alg-alpha-kl-lucb``.

Departures from the printed text, explained in docs/errata.md: k1 is read as 2(1 + 1/(gamma - 1)) (E1); the run stops as
soon as B(t) <= epsilon (E2), tested before the first pair of pulls (E3); n is rounded up (E4); ties go to the arm with
fewer pulls, then to the lower index.

With the paper's clock t every bound changes in every round, but one inversion per round suffices. Between inversions
``family.ceiling`` bounds an arm's upper bound from above. A tree orders the arms by that ceiling at a horizon a few
rounds ahead, and only arms whose ceiling reaches the best exact bound so far are inverted.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from topalpha.arithmetic import log
from topalpha.families import checked
from topalpha.families.protocols import RewardFamily
from topalpha.rules.generic import Rounds, TargetClaims
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import SUM, Claim, Generator, History, Integers, Reals, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.sampling import fill_means
from topalpha.rules.tournament import beats, empty_tree, play, rebuild
from topalpha.theory import arms_paper, arms_table, arms_tight, smallest_exploration_constant
from topalpha.theory.pool import fewest
from topalpha.validate import choice, positive, require

# Computed bounds exceed the true ones by at most this much, relative to their size or to 1; pruning allows for it and
# so never hides a tie.
_MARGIN = 1e-9
# Column of the statistics that holds the time of an arm's last refresh (used with refresh="overlapping").
_REFRESHED = 1


class KLLUCBMemory(NamedTuple):
    """Scratch: caches that make a round O(log n)."""

    ready: Integers
    means: Reals
    leaders: Integers
    bounds: Reals
    rates: Reals
    ceilings: Reals
    unknown: Integers
    challengers: Integers
    stack: Integers
    horizon: Reals


class KLLUCB(Rounds, TargetClaims, Parameters):
    """The paper's algorithm; build it with :func:`design`. (alpha, epsilon, delta)-correct (docs/proofs.md, A).

    The proof does not cover ``arms="table"``, which spends all of delta on drawing the arms and reproduces the
    published table, nor a k1 below 2 zeta(gamma). ``offset`` is ln(k1 n / delta).
    """

    family: RewardFamily
    gamma: float
    offset: float
    own_clock: bool
    least_only: bool
    overlapping_only: bool
    covered: bool

    @property
    def traits(self) -> Traits:
        """Columns: the sum of rewards and the time of the last refresh; rewards may depend on each other."""
        return Traits(
            "kl-lucb",
            columns=2,
            width=2,
            covered=self.covered,
            independent=False,
            global_order=self.overlapping_only,  # not for the proof: a run must not depend on which pull is back first
        )

    def scratch(self, arms: int) -> KLLUCBMemory:
        """Fresh memory."""
        return KLLUCBMemory(
            ready=[0],
            means=[0.0] * arms,
            leaders=empty_tree(arms),
            bounds=[math.inf] * arms,
            rates=[0.0] * arms,
            ceilings=[-math.inf] * arms,
            unknown=[0] * (arms + 1),
            challengers=empty_tree(arms),
            stack=[0] * 128,
            horizon=[0.0, 0.0],
        )

    def rate(self, clock: float) -> float:
        """beta(t, delta) = ln(k1 n t^gamma / delta) (label ``explo-rate``)."""
        return self.offset + self.gamma * log(clock)

    def rate_of(self, history: History, arm: int, now: float) -> float:
        """The exploration rate of this arm: ``now``, the paper's at time t; or from its own pulls or last refresh."""
        if self.own_clock:
            return self.rate(history.pulls[arm])
        if self.overlapping_only:
            return self.rate(history.stats[_REFRESHED][arm])
        return now

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """Update N_a and the sum; discard the arm's bound, which is computed again when needed."""
        history.pulls[arm] += 1
        history.stats[SUM][arm] += reward
        if self.overlapping_only:
            history.stats[_REFRESHED][arm] = float(history.t)
        if memory.ready[0] == 1:
            memory.means[arm] = history.stats[SUM][arm] / history.pulls[arm]
            play(memory.leaders, memory.means, history.pulls, arm)
            self.forget(history, memory, arm)

    def forget(self, history: History, memory: Any, arm: int) -> None:
        """Add the arm to the list of arms with an unknown bound."""
        if memory.ceilings[arm] > -math.inf:
            memory.ceilings[arm] = -math.inf
            play(memory.challengers, memory.ceilings, history.pulls, arm)
            memory.unknown[0] += 1
            memory.unknown[memory.unknown[0]] = arm

    def contenders(self, history: History, memory: Any) -> tuple[int, int, float]:
        """The empirical best arm, the other arm of largest U, which ``memory.bounds`` then holds, and the rate now."""
        leader = memory.leaders[1]
        now = self.rate(history.t)
        if self.overlapping_only:
            self.refresh(history, memory, leader, now)
        return leader, self.challenger(history, memory, leader, now), now

    def stopping(self, history: History, memory: Any, contenders: tuple[int, int, float]) -> bool:
        """B(t) = U_b - L_a <= epsilon (label kl-lb), without inverting L_a: N_a d(p_a, U_b - epsilon) >= beta."""
        leader, challenger, now = contenders
        target = memory.bounds[challenger] - self.epsilon
        mean = memory.means[leader]
        if target > mean:
            return False
        if target <= self.family.lowest:
            return True  # no mean is lower
        return history.pulls[leader] * self.family.divergence(mean, target) >= self.rate_of(history, leader, now)

    def sampling(
        self, history: History, memory: Any, rng: Generator, contenders: tuple[int, int, float], batch: Integers
    ) -> int:
        """Leader and challenger, or the one with fewer pulls."""
        leader, challenger, _ = contenders
        if self.least_only:
            batch[0] = leader if history.pulls[leader] <= history.pulls[challenger] else challenger
            return 1
        batch[0], batch[1] = leader, challenger
        return 2

    def prepare(self, history: History, memory: Any) -> None:
        """Fill fresh memory from the history."""
        fill_means(memory.means, history.stats[SUM], history.pulls, history.arms)
        for arm in range(history.arms):
            memory.ceilings[arm] = -math.inf
            memory.unknown[arm + 1] = arm
        memory.unknown[0] = history.arms
        rebuild(memory.leaders, memory.means, history.pulls, history.arms)
        rebuild(memory.challengers, memory.ceilings, history.pulls, history.arms)
        memory.horizon[0] = history.t

    def challenger(self, history: History, memory: Any, leader: int, now: float) -> int:
        """argmax over arms other than the leader of U_a; stores its exact value in ``memory.bounds``."""
        if not self.own_clock and not self.overlapping_only and history.t >= memory.horizon[0]:
            self.advance(history, memory)
        winner = memory.challengers
        half = len(winner) // 2
        best = -1
        value = -math.inf
        kept = 0
        for index in range(memory.unknown[0]):
            arm = memory.unknown[index + 1]
            if arm == leader:
                kept += 1
                memory.unknown[kept] = arm
                continue
            bound = self.exact(history, memory, arm, value, now)
            if best < 0 or beats(bound, history.pulls[arm], arm, value, history.pulls[best], best):
                best = arm
                value = bound
        memory.unknown[0] = kept
        memory.stack[0] = 1
        height = 1
        while height > 0:
            height -= 1
            node = memory.stack[height]
            arm = winner[node]
            if arm < 0 or memory.ceilings[arm] == -math.inf:
                continue
            pulls = history.pulls[arm]
            if best >= 0 and not beats(memory.ceilings[arm], pulls, arm, value, history.pulls[best], best):
                continue
            if node < half:
                first = 2 * node if winner[2 * node] == arm else 2 * node + 1
                memory.stack[height] = first ^ 1
                memory.stack[height + 1] = first
                height += 2
                continue
            if arm == leader:
                continue
            bound = self.exact(history, memory, arm, value, now)
            if best < 0 or beats(bound, pulls, arm, value, history.pulls[best], best):
                best = arm
                value = bound
        return best

    def exact(self, history: History, memory: Any, arm: int, value: float, now: float) -> float:
        """U_a by inversion (label ``kl-ub``), or -inf if it is below ``value`` by a test without inversion."""
        rate = self.rate_of(history, arm, now)
        pulls = history.pulls[arm]
        mean = memory.means[arm]
        if memory.ceilings[arm] > -math.inf:
            if memory.rates[arm] == rate:
                return float(memory.bounds[arm])
            ceiling = self.family.ceiling(mean, memory.bounds[arm], memory.rates[arm] / pulls, rate / pulls)
            if ceiling + _MARGIN * (1.0 + abs(ceiling)) < value:
                return -math.inf
        target = value - _MARGIN * (1.0 + abs(value))
        if target > mean:
            reached = pulls * self.family.divergence(mean, target)  # the rate at which U_a would be the target
            if rate < reached < math.inf:
                self.remember(history, memory, arm, target, reached)
                return -math.inf
        bound = self.family.upper(mean, rate / pulls)
        self.remember(history, memory, arm, bound, rate)
        return bound

    def remember(self, history: History, memory: Any, arm: int, bound: float, rate: float) -> None:
        """Store a point of the arm's curve rate -> U_a, and the resulting ceiling."""
        memory.bounds[arm] = bound
        memory.rates[arm] = rate
        self.set_ceiling(history, memory, arm)
        play(memory.challengers, memory.ceilings, history.pulls, arm)

    def set_ceiling(self, history: History, memory: Any, arm: int) -> None:
        """Set the arm's ceiling: its upper bound stays below it until the horizon."""
        if self.own_clock or self.overlapping_only:
            memory.ceilings[arm] = memory.bounds[arm]
            return
        pulls = history.pulls[arm]
        later = memory.horizon[1]
        ceiling = self.family.ceiling(memory.means[arm], memory.bounds[arm], memory.rates[arm] / pulls, later / pulls)
        memory.ceilings[arm] = min(ceiling + _MARGIN * (1.0 + abs(ceiling)), self.family.highest)

    def advance(self, history: History, memory: Any) -> None:
        """Move the horizon n/2 rounds ahead and raise all known ceilings to it."""
        memory.horizon[0] = history.t + 2 + self.arms
        memory.horizon[1] = self.rate(memory.horizon[0])
        for arm in range(history.arms):
            if memory.ceilings[arm] > -math.inf:
                self.set_ceiling(history, memory, arm)
        rebuild(memory.challengers, memory.ceilings, history.pulls, history.arms)

    def refresh(self, history: History, memory: Any, leader: int, now: float) -> None:
        """Update to time t only the arms whose (stale, still valid) upper bound reaches the leader's lower bound."""
        history.stats[_REFRESHED][leader] = float(history.t)
        lower = self.family.lower(memory.means[leader], now / history.pulls[leader])
        for arm in range(history.arms):
            if arm != leader and self.exact(history, memory, arm, -math.inf, now) >= lower:
                history.stats[_REFRESHED][arm] = float(history.t)
                self.exact(history, memory, arm, -math.inf, now)  # the ceiling must match the new rate

    def lower_bound(self, history: History, memory: Any, arm: int) -> float:
        """L_a(t) (label ``kl-lb``)."""
        pulls = history.pulls[arm]
        rate = self.rate_of(history, arm, self.rate(history.t))
        return self.family.lower(history.stats[SUM][arm] / pulls, rate / pulls)

    def upper_bound(self, history: History, memory: Any, arm: int) -> float:
        """U_a(t) (label ``kl-ub``)."""
        pulls = history.pulls[arm]
        rate = self.rate_of(history, arm, self.rate(history.t))
        return self.family.upper(history.stats[SUM][arm] / pulls, rate / pulls)

    def claims(self, history: History, memory: Any, arm: int) -> list[Claim]:
        """The smallest epsilon proved for the target's alpha, if the proof covers this design."""
        return super().claims(history, memory, arm) if self.covered else []


_ARMS = {"paper": arms_paper, "tight": arms_tight, "table": arms_table}


@algorithm(
    "kl-lucb",
    "Aziz, Anderton, Kaufmann, Aslam (ALT 2018), Algorithm 2",
    "docs/proofs.md, A",
    options={
        "clock": ("t", "N"),
        "arms": tuple(_ARMS),
        "pull": ("both", "least"),
        "refresh": ("all", "overlapping"),
    },
    family=checked,
)
def design(
    target: Target,
    *,
    gamma: float = 1.1,
    k1: float | None = None,
    clock: str = "t",
    arms: str = "paper",
    pull: str = "both",
    refresh: str = "all",
    pool: int = 0,
) -> KLLUCB:
    """(alpha, epsilon)-KL-LUCB with the paper's parameters.

    Parameters
    ----------
    gamma, k1
        Constants of the exploration rate; k1 is 2(1 + 1/(gamma - 1)) by default, and must be at least 2 zeta(gamma)
        for the guarantee.
    clock
        ``"t"``, the paper's, or ``"N"``: each arm's rate grows with its own pulls (still correct, and cheaper).
    arms
        ``"paper"`` ceil(ln(2/delta)/alpha), ``"tight"`` ceil(ln(2/delta)/-ln(1-alpha)), or ``"table"``
        ceil(ln(1/delta)/alpha), as in the published table (not covered by the proof).
    pull
        ``"both"``, or ``"least"`` to pull only the less sampled of leader and challenger.
    refresh
        ``"all"``, or ``"overlapping"`` to refresh only bounds that overlap the leader's interval (clock t only).
    pool
        The size of a finite list to draw from without replacement, or 0.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms, design(0.05, 0.05, 0.05, arms="table").arms
    (74, 60)
    """
    gamma = positive("gamma", gamma)
    require(gamma > 1.0, "gamma", "exceed 1", gamma)
    constant = 2.0 * (1.0 + 1.0 / (gamma - 1.0)) if k1 is None else positive("k1", k1)  # E1
    enough = k1 is None or constant >= smallest_exploration_constant(gamma)
    own_clock = choice("clock", clock, ("t", "N")) == "N"
    least_only = choice("pull", pull, ("both", "least")) == "least"
    overlapping_only = choice("refresh", refresh, ("all", "overlapping")) == "overlapping"
    require(not (own_clock and overlapping_only), "refresh", "be 'all' with clock 'N'", refresh)
    number = fewest(_ARMS[choice("arms", arms, _ARMS)](target.alpha, target.delta), pool)
    return KLLUCB(
        *target.on(number),
        gamma=gamma,
        offset=log(constant * number / target.delta),
        own_clock=own_clock,
        least_only=least_only,
        overlapping_only=overlapping_only,
        covered=enough and arms != "table",
    )
