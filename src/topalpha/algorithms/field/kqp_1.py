"""kqp-1: k arms of the top alpha fraction, one P3 after the other; Chaudhuri and Kalyanakrishnan (ICML 2019).

The y-th arm comes from P3 at alpha_y = alpha - (y-1) alpha/k and delta/k, on fresh arms. All k are within epsilon of
the top alpha fraction with probability at least 1 - delta, and no two of them are the same draw from the reservoir
(docs/field/p2.md, 6, which also says when alpha_y is needed).
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.algorithms.field.finite_solvers import ROUNDS, countable, target
from topalpha.algorithms.field.p2 import WIDTH, Memory
from topalpha.algorithms.field.p3 import COPY_ARMS, COPY_DELTA, TOURNAMENT_NUMBERS, Copies, copies_of_p2
from topalpha.families import unit_rewards
from topalpha.families.protocols import RewardFamily, RewardModel
from topalpha.rules.elimination import ALIVE, FURTHER, fold_block
from topalpha.rules.median_elimination import arms_to_see
from topalpha.rules.protocol import SUM, Entry, History, Traits
from topalpha.rules.sampling import empirical_best
from topalpha.validate import choice, require, whole

if TYPE_CHECKING:
    from numpy.random import Generator

# Behind the numbers of a tournament: how many arms are chosen, and where the present P3 begins.
_CHOSEN, _START = TOURNAMENT_NUMBERS, TOURNAMENT_NUMBERS + 1


class KQP1(NamedTuple):
    """k runs of P3; build it with :func:`design`.

    Guarantee: with probability at least 1 - delta every arm of the selection is within epsilon of the top alpha
    fraction, for every reservoir and rewards in [0, 1] (docs/field/p2.md, 6).
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardFamily
    copies: Copies
    wanted: int
    tight: bool

    @property
    def traits(self) -> Traits:
        """Blocks of pulls; runs of P3 on arms of their own."""
        return Traits("kqp-1", columns=FURTHER, numbers=TOURNAMENT_NUMBERS + 2, width=WIDTH, blocks=True)

    def scratch(self, arms: int) -> Memory:
        """Fresh memory."""
        return Memory(order=[0] * max(arms, 1))

    def copy_arms(self, chosen: int) -> int:
        """The arms of each copy of P2 once ``chosen`` arms are chosen."""
        return arms_to_see(self.alpha - chosen * self.alpha / self.wanted, COPY_DELTA, self.tight)

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """A block of one."""
        fold_block(history, arm, 1, reward)

    def observe_block(self, history: History, memory: Any, arm: int, count: int, total: float) -> None:
        """Count a block of rewards."""
        fold_block(history, arm, count, total)

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """P3 after P3, each behind the arms of the one before; stop with the k arms that are left."""
        while True:
            chosen = int(history.state[_CHOSEN])
            if chosen == self.wanted:
                return 0
            start = int(history.state[_START])
            written = self.copies.tournament(history, memory.order, start, self.copy_arms(chosen), 0, batch)
            if written != 0:
                return written
            history.state[_CHOSEN] = chosen + 1.0
            history.state[_START] = float(history.arms)

    def selection(self, history: History, memory: Any) -> list[int]:
        """The k arms, in the order in which they were found; before the stop those found, or the empirical best."""
        found = [arm for arm in range(int(history.state[_START])) if history.stats[ALIVE][arm] == 1.0]
        return found if found else [empirical_best(history.stats[SUM], history.pulls, history.arms)]

    def recommend(self, history: History, memory: Any) -> int:
        """That of the selection with the largest empirical mean; ties to fewer pulls, then to the one found first."""
        means = history.stats[SUM]
        return min(
            self.selection(history, memory),
            key=lambda arm: (-means[arm] / history.pulls[arm], history.pulls[arm], arm),
        )

    def design_pulls(self) -> float:
        """The pulls of every run, exactly."""
        return sum(self.copies.tournament_pulls(self.copy_arms(chosen)) for chosen in range(self.wanted))


def design(
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardModel | None = None,
    *,
    k: int = 2,
    solver: str = "median",
    copies: str = "printed",
    arms: str = "paper",
    pulls: str = "printed",
) -> KQP1:
    """KQP-1 for ``k`` arms; the other options are those of P3.

    Examples
    --------
    >>> design(0.1, 0.2, 0.1, k=2, copies="corrected").arms  # 3 copies of 21 arms, 3 of 42
    189
    >>> design(0.1, 0.2, 0.1, k=1).arms
    252
    """
    alpha, epsilon, delta = target(alpha, epsilon, delta)
    wanted = whole("k", k)
    require(wanted <= 10_000, "k", "be at most 10000", k)
    COPY_ARMS[choice("arms", arms, COPY_ARMS)](alpha / wanted, COPY_DELTA)  # refuses an alpha that is too small
    made = KQP1(
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        arms=1,
        family=unit_rewards(family),
        copies=copies_of_p2(epsilon, delta / wanted, solver, copies, pulls),
        wanted=wanted,
        tight=arms == "tight",
    )
    countable(made.design_pulls())
    return made._replace(arms=made.copies.number * sum(made.copy_arms(chosen) for chosen in range(wanted)))


ENTRY = Entry(
    name="kqp-1",
    design=design,
    guarantee="fixed-confidence",
    reference="Chaudhuri, Kalyanakrishnan (ICML 2019), KQP-1",
    proof="docs/field/p2.md, 6",
    options={
        "solver": tuple(ROUNDS),
        "copies": ("printed", "corrected"),
        "arms": ("paper", "tight"),
        "pulls": ("printed", "tight"),
    },
    rewards="unit",
)
