"""kqp-1: k arms of the top alpha fraction, one P3 after the other; Chaudhuri and Kalyanakrishnan (ICML 2019).

The y-th arm comes from P3 at alpha_y = alpha - (y-1) alpha/k and delta/k, on fresh arms. All k arms are within epsilon
of the top alpha fraction with probability at least 1 - delta, and no two of them are the same draw from the reservoir
(docs/field/p2.md, 6, which also says when alpha_y is needed).
"""

from __future__ import annotations

from typing import Any

from topalpha.algorithms.field.finite_solvers import affordable, computable
from topalpha.algorithms.field.p2 import ARMS, WIDTH
from topalpha.algorithms.field.p3 import COPY_DELTA, OPTIONS, TOURNAMENT_NUMBERS, Copies, copies_of_p2
from topalpha.families import unit_rewards
from topalpha.rules.elimination import ALIVE, FURTHER, Blocks
from topalpha.rules.median_elimination import arms_to_see
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import SUM, Generator, History, Integers, Traits
from topalpha.rules.ranking import best_by
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.sampling import empirical_best
from topalpha.validate import choice, require, whole

# After the entries of a tournament: the number of chosen arms, and the first arm of the current P3.
_CHOSEN, _START = TOURNAMENT_NUMBERS, TOURNAMENT_NUMBERS + 1


class KQP1(Blocks, Parameters):
    """k runs of P3; :func:`design` builds it. All k arms are correct for rewards in [0, 1] (docs/field/p2.md, 6)."""

    copies: Copies
    wanted: int  # k
    tight: bool
    traits = Traits("kqp-1", columns=FURTHER, numbers=TOURNAMENT_NUMBERS + 2, width=WIDTH, blocks=True)

    def copy_arms(self, chosen: int) -> int:
        """The arms of each copy of P2 once ``chosen`` arms are chosen."""
        return arms_to_see(self.alpha - chosen * self.alpha / self.wanted, COPY_DELTA, self.tight)

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """One P3 after the other, each on the arms after those of the last; stop with the k winners."""
        while history.state[_CHOSEN] < self.wanted:
            chosen, start = int(history.state[_CHOSEN]), int(history.state[_START])
            written = self.copies.tournament(history, memory.order, start, self.copy_arms(chosen), 0, batch)
            if written != 0:
                return written
            history.state[_CHOSEN] += 1.0
            history.state[_START] = float(history.arms)
        return 0

    def selection(self, history: History, memory: Any) -> list[int]:
        """The k arms in the order in which they were found; before the stop the arms found, or the empirical best."""
        found = [arm for arm in range(int(history.state[_START])) if history.stats[ALIVE][arm] == 1.0]
        return found if found else [empirical_best(history.stats[SUM], history.pulls, history.arms)]

    def recommend(self, history: History, memory: Any) -> int:
        """The arm of the selection with the largest empirical mean; ties go to fewer pulls, then to the earlier arm."""
        totals, pulls = history.stats[SUM], history.pulls
        return best_by(lambda arm: totals[arm] / pulls[arm], self.selection(history, memory), pulls, 0)

    def design_pulls(self) -> float:
        """The exact number of pulls of every run."""
        return sum(self.copies.tournament_pulls(self.copy_arms(chosen)) for chosen in range(self.wanted))


@algorithm(
    "kqp-1",
    "Chaudhuri, Kalyanakrishnan (ICML 2019), KQP-1",
    "docs/field/p2.md, 6",
    family=unit_rewards,
    options=OPTIONS,
)
def design(
    target: Target,
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
    >>> design(0.1, 0.2, 0.1, k=2, copies="corrected").arms, design(0.1, 0.2, 0.1, k=1).arms  # 3 * 21 + 3 * 42
    (189, 252)
    """
    computable(target)
    wanted = whole("k", k)
    require(wanted <= 10_000, "k", "be at most 10000", k)
    ARMS[choice("arms", arms, ARMS)](target.alpha / wanted, COPY_DELTA)  # raises if alpha is too small
    each = copies_of_p2(target.epsilon, target.delta / wanted, solver, copies, pulls)
    made = KQP1(*target.on(1), each, wanted, tight=arms == "tight")
    return affordable(made)._replace(arms=each.number * sum(made.copy_arms(chosen) for chosen in range(wanted)))
