"""p2: draw enough arms, then find the best of them; Chaudhuri and Kalyanakrishnan (AAAI 2017; ICML 2019).

N = ceil((1/alpha) ln(2/delta)) arms miss the top alpha fraction with probability at most delta/2. Any solver that finds
an arm within epsilon of the best of N with probability 1 - delta/2 does the rest (docs/field/p2.md, 4). The paper's
solver is Median Elimination. :data:`TWO_PHASE` lists solvers that are two-phase algorithms of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from topalpha.algorithms import kl_lucb, lucb_pp
from topalpha.algorithms.field import eb_tc, glr, track_and_stop, ttts, ugape
from topalpha.algorithms.field.finite_solvers import ELIMINATIONS, NUMBERS, PULLS, FiniteSolver, affordable, computable
from topalpha.families import unit_rewards
from topalpha.rules.elimination import Blocks
from topalpha.rules.generic import Recalled
from topalpha.rules.median_elimination import last_arm
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import Algorithm, Generator, History, Integers, Traits
from topalpha.rules.registration import Design, Target, algorithm
from topalpha.theory import arms_paper, arms_tight
from topalpha.validate import choice, require

#: The most blocks in one plan.
WIDTH = 16


class OneWinner(Recalled, Blocks):
    """Run the contest of ``next_contest`` and stop with the arm that is left.

    The last entry of the state has that arm, counted from 1; it is 0 before the stop.
    """

    __slots__ = ()
    answer_entry = -1

    def plan(self: Any, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """Blocks of the contest; 0 once one arm is left."""
        chosen = len(history.state) - 1
        if history.state[chosen] > 0.0:
            return 0
        written: int = self.next_contest(history, memory.order, batch)
        if written == 0:
            history.state[chosen] = last_arm(history, 0) + 1.0
        return written


class P2(OneWinner, Parameters):
    """N arms, then a contest; build it with :func:`design`. Correct for rewards in [0, 1] (docs/field/p2.md, 4)."""

    solver: FiniteSolver

    @property
    def traits(self) -> Traits:
        """Blocks of pulls; the solvers' proofs are for independent arms."""
        return Traits("p2", columns=self.solver.statistics, numbers=NUMBERS + 1, width=WIDTH, blocks=True)

    def next_contest(self, history: History, order: Integers, batch: Integers) -> int:
        """Draw N arms and run the contest."""
        return self.solver.contest(history, order, 0, self.arms, 0, batch)

    def design_pulls(self) -> float:
        """The exact number of pulls of a run, or an upper bound if the solver is ``exponential-gap``."""
        return self.solver.most_pulls(self.arms, True)


#: Algorithms that draw enough arms with delta/2 and find the best of them with delta/2: P2 with that solver, under
#: their own names.
TWO_PHASE: dict[str, Design[Algorithm]] = {
    module.design.entry.name: module.design for module in (lucb_pp, kl_lucb, ugape, glr, eb_tc, ttts, track_and_stop)
}

#: Choices of ``arms``, the number of arms drawn.
ARMS: dict[str, Callable[[float, float], int]] = {"paper": arms_paper, "tight": arms_tight}


@algorithm(
    "p2",
    "Chaudhuri, Kalyanakrishnan (AAAI 2017; ICML 2019), P2",
    "docs/field/p2.md, 4",
    options={"solver": (*ELIMINATIONS, *TWO_PHASE), "arms": tuple(ARMS), "pulls": tuple(PULLS)},
    rewards="unit",
)
def design(target: Target, *, solver: str = "median", arms: str = "paper", pulls: str = "printed") -> Algorithm:
    """P2 with a finite solver.

    ``solver`` is ``"median"``, the paper's; ``"uniform"``; ``"exponential-gap"``; or one of :data:`TWO_PHASE`, whose
    own design makes the algorithm, for the reward models that it takes. ``arms`` is ``"paper"``,
    ceil(ln(2/delta)/alpha), or ``"tight"``, ceil(ln(2/delta)/-ln(1-alpha)); a two-phase solver without this option uses
    its own number. ``pulls`` of Median Elimination are ``"printed"``, or ``"tight"`` for half as many, which the proof
    allows.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms, design(0.05, 0.05, 0.05, arms="tight").arms
    (74, 72)
    >>> design(0.1, 0.1, 0.1, solver="uniform").design_pulls()  # 30 ceil(ln(29 / 0.05) / 0.01)
    19110.0
    """
    choice("solver", solver, (*ELIMINATIONS, *TWO_PHASE))
    count = ARMS[choice("arms", arms, ARMS)]
    if solver in TWO_PHASE:
        require(pulls == "printed", "pulls", f"be 'printed' for solver {solver!r}", pulls)
        make = TWO_PHASE[solver]
        options: dict[str, Any] = {"arms": arms} if "arms" in make.entry.defaults else {}
        return make(*target, **options)
    computable(target)
    number = count(target.alpha, target.delta)
    unit = target._replace(family=unit_rewards(target.family))
    return affordable(P2(*unit.on(number), ELIMINATIONS[solver](target.epsilon, target.delta / 2.0, pulls)))
