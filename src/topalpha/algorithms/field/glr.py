"""glr: LUCB-type sampling that stops on generalised likelihood ratios of pairs of arms.

Sampling as in LUCB (Kalyanakrishnan et al., ICML 2012), but the challenger is the arm against which the evidence is
weakest; stopping as in Garivier and Kaufmann (COLT 2016), with conjugate mixtures in the place of their threshold.
With delta/2 for the draw of n arms and delta/2 for the stop, the run is (alpha, epsilon, delta)-correct for every
reservoir and any sampling rule (docs/field/finite_solvers.md, 2).
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.algorithms.field.pair_design import ANSWER, PairStop, pair_target
from topalpha.families.protocols import ENDLESS, RewardModel
from topalpha.rules.likelihood_ratio import closest_rival
from topalpha.rules.protocol import Entry, History, Traits
from topalpha.rules.sampling import settled_leader, write_round

if TYPE_CHECKING:
    from numpy.random import Generator


class LeaderAndRival(NamedTuple):
    """Pull the leader and its closest rival; ``weight`` is how much redundancies count in who is close."""

    weight: float

    @property
    def traits(self) -> Traits:
        """The sum of rewards; the answer."""
        return Traits("glr", numbers=1, width=2)

    def answer_now(self, target: Any, history: History, memory: Any) -> int:
        """The empirical best arm, of tied ones the one that has led."""
        return settled_leader(memory.leaders[1], memory.means, history.state, ANSWER)

    def next_pulls(
        self, target: Any, history: History, memory: Any, rng: Generator, answer: int, batch: MutableSequence[int]
    ) -> int:
        """Leader and closest rival."""
        rival = closest_rival(target.family, history, memory, answer, target.epsilon, self.weight)
        return write_round(history, answer, rival, ENDLESS, batch)


def design(alpha: float, epsilon: float, delta: float, family: RewardModel | None = None, *, pool: int = 0) -> PairStop:
    """GLR on n = ceil(ln(2/delta) / -ln(1 - alpha)) arms, or on the whole of a finite list of ``pool`` candidates.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms
    72
    """
    return PairStop(*pair_target(alpha, epsilon, delta, family, pool), rule=LeaderAndRival(1.0))


ENTRY = Entry(
    name="glr",
    design=design,
    guarantee="fixed-confidence",
    reference="Garivier, Kaufmann (COLT 2016), GLR stopping; LUCB sampling; conjugate mixtures",
    proof="docs/field/finite_solvers.md, 2",
    options={},
)
