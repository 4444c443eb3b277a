"""d-ttts: top-two Thompson sampling with a growing number of arms; Shang, Kaufmann and Valko (2019).

Every round offers one more arm, up to a limit. Arms that were never pulled all have the prior Beta(1, 1), so the
largest of the k draws for them is one draw of Beta(k, 1): together they act as one fresh arm. A round draws a mean for
each arm from its posterior. The arm I of the largest draw is pulled with probability 1/2; else draws are repeated until
another arm J has the largest one, and J is pulled. The arm of largest posterior mean is recommended.

No guarantee: it ends when the budget is spent (docs/field/budget.md, F).
"""

from __future__ import annotations

import math
from typing import Any

from topalpha.algorithms.field.fixed_budget import checked_budget
from topalpha.algorithms.field.ttts import BetaPosteriors
from topalpha.families import unit_rewards
from topalpha.rules.generic import Counting
from topalpha.rules.parameters import Parameters
from topalpha.rules.protocol import SUM, WAIT, Generator, History, Integers, Traits
from topalpha.rules.ranking import best_by
from topalpha.rules.registration import Target, algorithm
from topalpha.validate import fraction, whole


class DynamicTopTwo(BetaPosteriors, Counting, Parameters):
    """Dynamic top-two Thompson sampling; build it with :func:`design`. Guarantee: none."""

    budget: int
    first: float
    repeats: int
    traits = Traits("d-ttts", columns=1, width=1, covered=False)

    def plan(self, history: History, memory: Any, rng: Generator, batch: Integers) -> int:
        """The arm of the largest draw or, as often, another arm whose draw is the largest in a later attempt."""
        if history.t + history.in_flight >= self.budget:
            return WAIT if history.in_flight > 0 else 0
        fresh = min(history.t + history.in_flight + 1, self.arms) - history.arms  # each round offers one more
        best, other = self.top_two(history, rng, fresh)
        batch[0] = best
        if other >= 0 and rng.random() >= self.first:
            again = best
            for _ in range(self.repeats):
                if again == best:
                    again, other = self.top_two(history, rng, fresh)
            batch[0] = other if again == best else again
        return 1

    def recommend(self, history: History, memory: Any) -> int:
        """The arm of largest posterior mean, (1 + S) / (2 + N)."""
        totals, pulls = history.stats[SUM], history.pulls
        seen = (arm for arm in range(history.arms) if pulls[arm] > 0)
        return best_by(lambda arm: (1.0 + totals[arm]) / (2.0 + pulls[arm]), seen, pulls, -1)


@algorithm(
    "d-ttts", "Shang, Kaufmann, Valko (2019), dynamic top-two Thompson sampling", family=unit_rewards, guarantee="none"
)
def design(
    target: Target, *, budget: int | None = None, arms: int = 0, first: float = 0.5, repeats: int = 10
) -> DynamicTopTwo:
    """Dynamic top-two Thompson sampling within ``budget`` pulls; the rules do not depend on the target.

    At most ``arms`` arms are offered; the time per pull grows with them. The source sets no limit, which is
    ``arms=budget``; 0 means 10/alpha, which misses the top alpha fraction with probability at most exp(-10). ``first``
    is the probability of pulling the arm of the largest draw, ``repeats`` the most repetitions in search of another
    arm.

    Examples
    --------
    >>> design(0.1, 0.1, 0.1, budget=1000).arms, design(0.1, 0.1, 0.1, budget=1000, arms=1000).arms
    (100, 1000)
    """
    pulls, limit = checked_budget(budget), whole("arms", arms, 0)
    offered = min(pulls, limit if limit > 0 else math.ceil(10.0 / target.alpha))
    return DynamicTopTwo(*target.on(offered), pulls, fraction("first", first), whole("repeats", repeats, 1))
