"""cc-lucb-streaming: constant-confidence LUCB in one phase, with a pool of a few arms in memory.

Arms are drawn one by one while the pool has room, and discarded for good once the largest lower bound that any arm ever
had allows it; the last arm left is returned. This is the stopping rule of cc-lucb with a memory of ``keep`` arms:
(alpha, epsilon, delta)-correct for every reservoir and any sampling rule (docs/field/lucb.md, 3).
"""

from __future__ import annotations

from topalpha.algorithms import cc_lucb
from topalpha.algorithms.field.streaming_pool import StreamingLUCB
from topalpha.rules.registration import Target, algorithm
from topalpha.validate import whole


@algorithm(
    "cc-lucb-streaming",
    "cc-lucb in one phase, with a bounded pool of arms",
    "docs/field/lucb.md, 3",
    options=cc_lucb.BOUNDS,
    models=cc_lucb.MODELS,
)
def design(
    target: Target,
    *,
    keep: int = 32,
    bounds: str = "tilt",
    delta_u: float | None = None,
    draw_share: float = 0.9,
    pool: int = 0,
) -> StreamingLUCB:
    """Constant-confidence LUCB with ``keep`` arms in memory, at least 2; other options as for cc-lucb.

    Examples
    --------
    >>> made = design(0.05, 0.05, 0.05, keep=8)
    >>> made.arms, made.traits.numbers
    (114, 14)
    """
    keep = whole("keep", keep, 2)
    base = cc_lucb.parameters(target, bounds, delta_u, draw_share, pool)._asdict()
    slack = target.epsilon
    return StreamingLUCB(**base, pool_size=keep, refill_at=keep - 1, discard_slack=slack, chained=False, batched=False)
