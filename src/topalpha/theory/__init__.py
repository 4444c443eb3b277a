"""Calculators of the paper's quantities: numbers of arms, lower and upper bounds on the samples, tail helpers.

They take numbers and reservoirs, never data. A bound outside its hypotheses comes back void, with the reason.

>>> from topalpha.families.bernoulli import Bernoulli
>>> from topalpha.reservoirs import parse
>>> from topalpha.theory import lower_bound
>>> round(lower_bound(parse("beta(1,1)", at_most=0.95), 0.05, 0.05, Bernoulli()).value, 6)
141.628086
"""

from topalpha.theory.arm_counts import arms_constant_confidence, arms_joint, arms_paper, arms_table, arms_tight
from topalpha.theory.bound import Bound
from topalpha.theory.lower import (
    blocks,
    lower_bound,
    partition,
    printed_relaxed_lower_bound,
    relaxed_lower_bound,
    worst_case_lower_bound,
)
from topalpha.theory.tail import alpha_from_beta, epsilon_for_alpha_correctness, gap_bounds, regret_bound
from topalpha.theory.upper import (
    complexity,
    exploration_rate,
    leading_constant,
    leading_term,
    smallest_exploration_constant,
    upper_bound,
)

__all__ = [
    "Bound",
    "alpha_from_beta",
    "arm_counts",
    "arms_constant_confidence",
    "arms_joint",
    "arms_paper",
    "arms_table",
    "arms_tight",
    "blocks",
    "complexity",
    "epsilon_for_alpha_correctness",
    "exploration_rate",
    "gap_bounds",
    "leading_constant",
    "leading_term",
    "lower_bound",
    "partition",
    "pool",
    "printed_relaxed_lower_bound",
    "regret_bound",
    "relaxed_lower_bound",
    "smallest_exploration_constant",
    "upper_bound",
    "worst_case_lower_bound",
]
