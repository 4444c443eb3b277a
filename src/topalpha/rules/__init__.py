"""The protocol of an algorithm, and the rules that algorithms share: sampling, stopping, recommendation and claims.

:mod:`~topalpha.rules.protocol` defines the vocabulary, :mod:`~topalpha.rules.columns` the columns that bounds and
evidence keep per arm, and :mod:`~topalpha.rules.sampling` the sampling rules. Each other module has one way to stop, to
eliminate or to claim. Rules use only scalars, ``len`` and indexing: they run on lists, and compiled on arrays.
"""

from topalpha.rules.protocol import (
    SUM,
    WAIT,
    Algorithm,
    BlockAlgorithm,
    Certifier,
    Claim,
    Conditional,
    History,
    Refuting,
    Selector,
    Traits,
)
from topalpha.rules.registration import Entry, Target, algorithm
from topalpha.rules.sampling import (
    empirical_best,
    fill_means,
    has_room,
    leads_blindly,
    leads_enough,
    may_pull,
    next_challenger,
    query_fresh,
    recall_leader,
    second_pull,
    settled_leader,
    told_leader,
    unseen,
    write_free,
    write_round,
)

__all__ = [
    "SUM",
    "WAIT",
    "Algorithm",
    "BlockAlgorithm",
    "Certifier",
    "Claim",
    "Conditional",
    "Entry",
    "History",
    "Refuting",
    "Selector",
    "Target",
    "Traits",
    "algorithm",
    "empirical_best",
    "fill_means",
    "has_room",
    "leads_blindly",
    "leads_enough",
    "may_pull",
    "next_challenger",
    "query_fresh",
    "recall_leader",
    "second_pull",
    "settled_leader",
    "told_leader",
    "unseen",
    "write_free",
    "write_round",
]
