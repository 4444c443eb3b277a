"""cc-lucb-streaming: constant-confidence LUCB in one phase, with a pool of a few arms in memory.

Arms are drawn one by one where the pool has room, and discarded for good where the largest lower bound that any arm
ever had allows it; the last one left is returned. This is the certificate of cc-lucb with the memory of ``keep`` arms.

Guarantee: (alpha, epsilon, delta)-correct for every reservoir and any sampling rule (docs/field/lucb.md, 3).
"""

from __future__ import annotations

from topalpha.algorithms.field.streaming_pool import StreamingLUCB
from topalpha.confidence.levels import checked_bounds
from topalpha.families import checked_model
from topalpha.families.protocols import RewardModel
from topalpha.rules.claims import rank_level
from topalpha.rules.protocol import Entry
from topalpha.theory import arms_constant_confidence
from topalpha.theory.pool import arms_of_pool
from topalpha.validate import choice, fraction, positive, whole


def design(
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardModel | None = None,
    *,
    keep: int = 32,
    bounds: str = "tilt",
    delta_u: float | None = None,
    draw_share: float = 0.9,
    pool: int = 0,
) -> StreamingLUCB:
    """Constant-confidence LUCB with the memory of a few arms.

    Parameters
    ----------
    alpha, epsilon, delta
        The target: a mean within epsilon of the top-alpha fraction, with probability at least 1 - delta.
    family
        The reward model, Bernoulli by default.
    keep
        How many arms are remembered at a time, 2 at least.
    bounds, delta_u, draw_share, pool
        As for cc-lucb.

    Examples
    --------
    >>> algorithm = design(0.05, 0.05, 0.05, keep=8)
    >>> algorithm.arms, algorithm.traits.numbers
    (114, 14)
    """
    alpha, epsilon, delta = fraction("alpha", alpha), positive("epsilon", epsilon), fraction("delta", delta)
    kind = choice("bounds", bounds, ("tilt", "kt"))
    level = fraction("delta_u", (0.2 if kind == "kt" else 0.45) if delta_u is None else delta_u)
    draw_level = fraction("draw_share", draw_share) * delta
    pool, keep = whole("pool", pool, 0), whole("keep", keep, 2)
    if pool > 0:
        number, level = arms_of_pool(pool, alpha, rank_level(1, draw_level), level)
    else:
        number = arms_constant_confidence(alpha, rank_level(1, draw_level), level)
    law = checked_model(family)
    return StreamingLUCB(
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        arms=number,
        family=law,
        confidence=checked_bounds(law, kind, epsilon, level, (delta - draw_level) / number, delta),
        pool_size=keep,
        refill_at=keep - 1,
        discard_slack=epsilon,
        chained=False,
        batched=False,
        draw_level=draw_level,
        upper_level=level,
        pool=pool,
    )


ENTRY = Entry(
    name="cc-lucb-streaming",
    design=design,
    guarantee="fixed-confidence",
    reference="cc-lucb in one phase, with a bounded pool of arms",
    proof="docs/field/lucb.md, 3",
    options={"bounds": ("tilt", "kt")},
    models=("pass-fail", "normal", "low-variance"),
)
