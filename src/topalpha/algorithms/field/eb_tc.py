"""eb-tc: EB-TC_eps0 of Jourdan, Degenne and Kaufmann (NeurIPS 2023), a top two algorithm without randomness.

The leader is the empirical best arm (EB), the challenger the arm of least transportation cost with slack eps0 (TC).
Each leader keeps its own account, so that half of the rounds it leads go to itself and half to its challengers. It
stops on generalised likelihood ratios with conjugate mixtures: (alpha, epsilon, delta)-correct for every reservoir
(docs/field/finite_solvers.md, 2).
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.algorithms.field.pair_design import ANSWER, PairStop, pair_target
from topalpha.families.protocols import RewardModel
from topalpha.rules.likelihood_ratio import closest_rival
from topalpha.rules.protocol import Entry, History, Traits
from topalpha.rules.sampling import settled_leader
from topalpha.validate import positive

if TYPE_CHECKING:
    from numpy.random import Generator

# The column that counts the rounds in which an arm led and was pulled, less those in which its challenger was.
_AHEAD = 1


class TopTwo(NamedTuple):
    """The leader and its challenger in turn; ``slack`` is eps0, with which arms are compared."""

    slack: float

    @property
    def traits(self) -> Traits:
        """Columns: the sum of rewards and each leader's account. State: the answer."""
        return Traits("eb-tc", columns=2, numbers=1)

    def answer_now(self, target: Any, history: History, memory: Any) -> int:
        """The empirical best arm, of tied ones the one that has led."""
        return settled_leader(memory.leaders[1], memory.means, history.state, ANSWER)

    def next_pulls(
        self, target: Any, history: History, memory: Any, rng: Generator, answer: int, batch: MutableSequence[int]
    ) -> int:
        """The leader, or its challenger if it is ahead."""
        if history.stats[_AHEAD][answer] <= 0.0:
            history.stats[_AHEAD][answer] += 1.0
            batch[0] = answer
        else:
            history.stats[_AHEAD][answer] -= 1.0
            batch[0] = closest_rival(target.family, history, memory, answer, self.slack, 0.0)
        return 1


def design(
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardModel | None = None,
    *,
    slack: float | None = None,
    pool: int = 0,
) -> PairStop:
    """EB-TC on n = ceil(ln(2/delta) / -ln(1 - alpha)) arms, or on the whole of a finite list of ``pool`` candidates.

    ``slack`` is eps0 of the sampling rule, epsilon unless given.

    Examples
    --------
    >>> design(0.05, 0.1, 0.05).arms, design(0.05, 0.1, 0.05).rule.slack
    (72, 0.1)
    """
    target = pair_target(alpha, epsilon, delta, family, pool)
    return PairStop(*target, rule=TopTwo(target.epsilon if slack is None else positive("slack", slack)))


ENTRY = Entry(
    name="eb-tc",
    design=design,
    guarantee="fixed-confidence",
    reference="Jourdan, Degenne, Kaufmann (NeurIPS 2023), EB-TC with slack eps0",
    proof="docs/field/finite_solvers.md, 2",
    options={},
)
