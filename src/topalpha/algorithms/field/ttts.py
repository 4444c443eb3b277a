"""ttts: top two Thompson sampling, Russo (COLT 2016), with a stop that is proved.

A sample from the posterior of all means has a best arm, the leader of the round. With probability beta it is pulled;
otherwise samples are drawn until another arm is best, and that one is pulled. Posteriors are Beta(1 + S, 1 + N - S);
rewards inside (0, 1) count as parts of a success, which changes the sampling rule only. The stop, on generalised
likelihood ratios, makes the run (alpha, epsilon, delta)-correct for every reservoir
(docs/field/finite_solvers.md, 2).
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import TYPE_CHECKING, Any, NamedTuple

from topalpha.algorithms.field.pair_design import ANSWER, PairStop, pair_target
from topalpha.families import unit_rewards
from topalpha.families.protocols import RewardModel
from topalpha.rules.likelihood_ratio import closest_rival
from topalpha.rules.protocol import SUM, Entry, History, Traits
from topalpha.rules.sampling import settled_leader
from topalpha.validate import fraction, whole

if TYPE_CHECKING:
    from numpy.random import Generator


class Thompson(NamedTuple):
    """A top arm of a posterior sample.

    ``leader_share`` is beta; ``resamples`` is how many samples are tried for a challenger before the rival of least
    transportation cost is taken.
    """

    leader_share: float
    resamples: int

    @property
    def traits(self) -> Traits:
        """The sum of rewards; the answer."""
        return Traits("ttts", numbers=1)

    def answer_now(self, target: Any, history: History, memory: Any) -> int:
        """The empirical best arm, of tied ones the one that has led."""
        return settled_leader(memory.leaders[1], memory.means, history.state, ANSWER)

    def posterior_best(self, history: History, rng: Generator) -> int:
        """The best arm of one sample of all means."""
        best = -1
        best_draw = -1.0
        for arm in range(history.arms):
            total = history.stats[SUM][arm]
            draw = rng.beta(1.0 + total, 1.0 + history.pulls[arm] - total)
            if draw > best_draw:
                best = arm
                best_draw = draw
        return best

    def next_pulls(
        self, target: Any, history: History, memory: Any, rng: Generator, answer: int, batch: MutableSequence[int]
    ) -> int:
        """The best arm of a sample or, with probability 1 - beta, another one."""
        first = self.posterior_best(history, rng)
        batch[0] = first
        if rng.random() >= self.leader_share:
            second = first
            tries = 0
            while second == first and tries < self.resamples:
                second = self.posterior_best(history, rng)
                tries += 1
            if second == first:
                second = closest_rival(target.family, history, memory, first, target.epsilon, 0.0)
            batch[0] = second
        return 1


def design(
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardModel | None = None,
    *,
    beta: float = 0.5,
    resamples: int = 2,
    pool: int = 0,
) -> PairStop:
    """TTTS on n = ceil(ln(2/delta) / -ln(1 - alpha)) arms, or on the whole of a finite list of ``pool`` candidates.

    Parameters
    ----------
    alpha, epsilon, delta
        The target: a mean within epsilon of the top-alpha fraction, with probability at least 1 - delta.
    family
        The reward model: rewards in [0, 1], Bernoulli.
    beta
        How often the leader of a sample is pulled.
    resamples
        How many samples are tried for a challenger before the rival of least transportation cost is taken; the source
        tries for ever, which takes long once one arm is clearly best.
    pool
        The size of a finite list of candidates that arms are drawn from without replacement; 0 for an endless pool.

    Examples
    --------
    >>> design(0.05, 0.05, 0.05).arms
    72
    """
    target = pair_target(alpha, epsilon, delta, unit_rewards(family), pool)
    return PairStop(*target, rule=Thompson(fraction("beta", beta), whole("resamples", resamples)))


ENTRY = Entry(
    name="ttts",
    design=design,
    guarantee="fixed-confidence",
    reference="Russo (COLT 2016), top two Thompson sampling; GLR stopping",
    proof="docs/field/finite_solvers.md, 2",
    options={},
    rewards="unit",
)
