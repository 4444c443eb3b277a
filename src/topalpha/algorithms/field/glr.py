"""glr: LUCB-type sampling with a stopping rule on generalised likelihood ratios of pairs of arms.

Sampling is as in LUCB (Kalyanakrishnan et al., ICML 2012), but the challenger is the arm with the weakest evidence
against it. Stopping is as in Garivier and Kaufmann (COLT 2016), with conjugate mixtures in place of their threshold.
With delta/2 for the draw of n arms and delta/2 for the stop, the run is (alpha, epsilon, delta)-correct for every
reservoir and any sampling rule (docs/field/finite_solvers.md, 2).
"""

from __future__ import annotations

from typing import Any

from topalpha.algorithms.field.pair_design import LeadingAnswer, PairStop, pair_stop
from topalpha.families import checked
from topalpha.families.protocols import ENDLESS
from topalpha.rules.likelihood_ratio import closest_rival
from topalpha.rules.protocol import History, Integers, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.rules.sampling import write_round


class LeaderAndRival(LeadingAnswer):
    """Pull the leader and its closest rival; ``weight`` is that of redundancies in the choice of the rival."""

    weight: float
    traits = Traits("glr", numbers=1, width=2)

    def next_pulls(self, target: Any, history: History, memory: Any, rng: Any, answer: int, batch: Integers) -> int:
        """Leader and closest rival."""
        rival = closest_rival(target.family, history, memory, answer, target.epsilon, self.weight)
        return write_round(history, answer, rival, ENDLESS, batch)


@algorithm(
    "glr",
    "Garivier, Kaufmann (COLT 2016), GLR stopping; LUCB sampling; conjugate mixtures",
    "docs/field/finite_solvers.md, 2",
    family=checked,
)
def design(target: Target, *, pool: int = 0) -> PairStop:
    """GLR on n = ceil(ln(2/delta) / -ln(1 - alpha)) arms, or on all of a finite list of ``pool`` candidates.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms
    72
    """
    return pair_stop(target, pool, LeaderAndRival(1.0))
