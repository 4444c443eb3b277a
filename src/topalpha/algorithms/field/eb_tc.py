"""eb-tc: EB-TC_eps0 of Jourdan, Degenne and Kaufmann (NeurIPS 2023), a deterministic top-two algorithm.

The leader is the empirical best arm (EB), the challenger the arm of least transportation cost with slack eps0 (TC).
Each leader has its own account: half of its rounds as leader go to itself and half to its challengers. The run stops on
generalised likelihood ratios with conjugate mixtures: (alpha, epsilon, delta)-correct for every reservoir
(docs/field/finite_solvers.md, 2).
"""

from __future__ import annotations

from typing import Any

from topalpha.algorithms.field.pair_design import LeadingAnswer, PairStop, pair_stop
from topalpha.families import checked
from topalpha.rules.likelihood_ratio import closest_rival
from topalpha.rules.protocol import History, Integers, Traits
from topalpha.rules.registration import Target, algorithm
from topalpha.validate import positive

# The column of accounts: rounds in which the arm led and was pulled, minus rounds in which its challenger was pulled.
_AHEAD = 1


class TopTwo(LeadingAnswer):
    """The leader or its challenger; ``slack`` is eps0. Columns: the sum of rewards and each leader's account."""

    slack: float
    traits = Traits("eb-tc", columns=2, numbers=1)

    def next_pulls(self, target: Any, history: History, memory: Any, rng: Any, answer: int, batch: Integers) -> int:
        """The leader, or its challenger if the leader's account is ahead."""
        behind = history.stats[_AHEAD][answer] <= 0.0
        history.stats[_AHEAD][answer] += 1.0 if behind else -1.0
        batch[0] = answer if behind else closest_rival(target.family, history, memory, answer, self.slack, 0.0)
        return 1


@algorithm(
    "eb-tc",
    "Jourdan, Degenne, Kaufmann (NeurIPS 2023), EB-TC with slack eps0",
    "docs/field/finite_solvers.md, 2",
    family=checked,
)
def design(target: Target, *, slack: float | None = None, pool: int = 0) -> PairStop:
    """EB-TC on the arms of lucb++, with slack eps0 = ``slack``, by default epsilon.

    Examples
    --------
    >>> design(0.05, 0.1, 0.05).arms, design(0.05, 0.1, 0.05).rule.slack
    (72, 0.1)
    """
    return pair_stop(target, pool, TopTwo(target.epsilon if slack is None else positive("slack", slack)))
