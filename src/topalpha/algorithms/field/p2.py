"""p2: draw enough arms, then solve for the best of them; Chaudhuri and Kalyanakrishnan (AAAI 2017; ICML 2019).

N = ceil((1/alpha) ln(2/delta)) arms miss the top alpha fraction with probability at most delta/2; any solver that finds
an arm within epsilon of the best of N with probability 1 - delta/2 does the rest (docs/field/p2.md, 4). The paper's
solver is Median Elimination. Solvers that are two-phase algorithms of their own are reached through :data:`TWO_PHASE`.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.algorithms import kl_lucb, lucb_pp
from topalpha.algorithms.field import eb_tc, glr, track_and_stop, ttts, ugape
from topalpha.algorithms.field.finite_solvers import (
    NUMBERS,
    FiniteSolver,
    countable,
    exponential_gap,
    median,
    target,
    uniform,
)
from topalpha.families import unit_rewards
from topalpha.families.protocols import RewardFamily, RewardModel
from topalpha.rules.elimination import fold_block
from topalpha.rules.median_elimination import last_arm
from topalpha.rules.protocol import SUM, Algorithm, Entry, History, Traits
from topalpha.rules.sampling import empirical_best
from topalpha.theory import arms_paper, arms_tight
from topalpha.validate import choice, require

if TYPE_CHECKING:
    from numpy.random import Generator

#: How many blocks one plan names at most.
WIDTH = 16

#: Where ``History.state`` holds the arm returned, counted from 1; 0 before the stop. A contest's numbers come first.
_CHOSEN = NUMBERS


class Memory(NamedTuple):
    """Scratch: room to sort the arms."""

    order: MutableSequence[int]


class P2(NamedTuple):
    """N arms, then a contest; build it with :func:`design`.

    Guarantee: (alpha, epsilon, delta)-correct for every reservoir and rewards in [0, 1] (docs/field/p2.md, 4).
    """

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardFamily
    solver: FiniteSolver

    @property
    def traits(self) -> Traits:
        """Blocks of pulls; the solvers' proofs are for independent arms."""
        return Traits("p2", columns=self.solver.statistics, numbers=NUMBERS + 1, width=WIDTH, blocks=True)

    def scratch(self, arms: int) -> Memory:
        """Fresh memory."""
        return Memory(order=[0] * max(arms, 1))

    def observe(self, history: History, memory: Any, arm: int, reward: float) -> None:
        """A block of one."""
        fold_block(history, arm, 1, reward)

    def observe_block(self, history: History, memory: Any, arm: int, count: int, total: float) -> None:
        """Count a block of rewards."""
        fold_block(history, arm, count, total)

    def plan(self, history: History, memory: Any, rng: Generator, batch: MutableSequence[int]) -> int:
        """Draw N arms and let them fight it out; stop with the one that is left."""
        if history.state[_CHOSEN] > 0.0:
            return 0
        written = self.solver.contest(history, memory.order, 0, self.arms, 0, batch)
        if written == 0:
            history.state[_CHOSEN] = last_arm(history, 0) + 1.0
        return written

    def recommend(self, history: History, memory: Any) -> int:
        """The arm that is left; before the stop the empirical best."""
        if history.state[_CHOSEN] > 0.0:
            return int(history.state[_CHOSEN]) - 1
        return empirical_best(history.stats[SUM], history.pulls, history.arms)

    def design_pulls(self) -> float:
        """The pulls of a run: exactly, or at most where the solver is ``exponential-gap``."""
        return self.solver.most_pulls(self.arms, True)


#: Solvers that eliminate, by name.
ELIMINATIONS: dict[str, Callable[[float, float, str], FiniteSolver]] = {
    "median": median,
    "uniform": uniform,
    "exponential-gap": exponential_gap,
}

#: Algorithms that draw enough arms with delta/2 and solve for the best of them with delta/2: P2 with that solver, under
#: their own names. One line each.
TWO_PHASE: dict[str, Callable[..., Algorithm]] = {
    "lucb++": lucb_pp.design,
    "kl-lucb": kl_lucb.design,
    "ugape": ugape.design,
    "glr": glr.design,
    "eb-tc": eb_tc.design,
    "ttts": ttts.design,
    "track-and-stop": track_and_stop.design,
}

_ARMS = {"paper": arms_paper, "tight": arms_tight}


def design(
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardModel | None = None,
    *,
    solver: str = "median",
    arms: str = "paper",
    pulls: str = "printed",
) -> Algorithm:
    """P2 with a finite solver.

    Parameters
    ----------
    alpha, epsilon, delta
        The target: a mean within epsilon of the top-alpha fraction, with probability at least 1 - delta.
    family
        Bernoulli, which covers all rewards in [0, 1]; a two-phase solver takes what its own design takes.
    solver
        ``"median"``, the paper's; ``"uniform"``, ``"exponential-gap"``; or one of :data:`TWO_PHASE`, whose own design
        makes the algorithm.
    arms
        ``"paper"`` ceil(ln(2/delta)/alpha), or ``"tight"`` ceil(ln(2/delta)/-ln(1-alpha)). A two-phase solver without
        this option draws the number of its own design.
    pulls
        Of Median Elimination: ``"printed"``, or ``"tight"`` for half as many, which the proof allows.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms, design(0.05, 0.05, 0.05, arms="tight").arms
    (74, 72)
    >>> design(0.1, 0.1, 0.1, solver="uniform").design_pulls()  # 30 ceil(ln(29 / 0.05) / 0.01)
    19110.0
    """
    choice("solver", solver, (*ELIMINATIONS, *TWO_PHASE))
    count = _ARMS[choice("arms", arms, _ARMS)]
    if solver in TWO_PHASE:
        require(pulls == "printed", "pulls", f"be 'printed' for solver {solver!r}", pulls)
        make = TWO_PHASE[solver]
        options = {"arms": arms} if "arms" in (make.__kwdefaults__ or {}) else {}
        return make(alpha, epsilon, delta, family, **options)
    alpha, epsilon, delta = target(alpha, epsilon, delta)
    made = P2(
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        arms=count(alpha, delta),
        family=unit_rewards(family),
        solver=ELIMINATIONS[solver](epsilon, delta / 2.0, pulls),
    )
    countable(made.design_pulls())
    return made


ENTRY = Entry(
    name="p2",
    design=design,
    guarantee="fixed-confidence",
    reference="Chaudhuri, Kalyanakrishnan (AAAI 2017; ICML 2019), P2",
    proof="docs/field/p2.md, 4",
    options={
        "solver": (*ELIMINATIONS, *TWO_PHASE),
        "arms": ("paper", "tight"),
        "pulls": ("printed", "tight"),
    },
    rewards="unit",
)
