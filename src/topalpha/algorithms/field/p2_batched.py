"""p2-batched: LUCB on batch after batch, each with the winner of the one before; Chaudhuri and Kalyanakrishnan (2017).

n = ceil(ln(2/delta) / -ln(1 - alpha)) arms are drawn, B at first and then B - 1 at a time to join the winner, so that
memory holds B arms. With ``split="even"`` every one of the J batches may lose epsilon/J, for these losses add up.
``split="certificate"`` keeps the largest lower bound from batch to batch instead, and splits nothing: it is
cc-lucb-streaming, with arms drawn in batches.

Guarantee: (alpha, epsilon, delta)-correct for every reservoir (docs/field/lucb.md, 2); with the even split rewards may
depend on each other across arms.
"""

from __future__ import annotations

from topalpha.algorithms.field.cc_lucb_streaming import design as streaming
from topalpha.algorithms.field.streaming_pool import StreamingLUCB
from topalpha.confidence.levels import checked_bounds
from topalpha.families import checked_model
from topalpha.families.protocols import RewardModel
from topalpha.rules.protocol import Entry
from topalpha.theory import arms_tight
from topalpha.validate import choice, fraction, positive, whole


def batches(arms: int, batch: int) -> int:
    """J: how many batches it takes to see all arms.

    Examples
    --------
    >>> batches(16, 16), batches(17, 16), batches(31, 16), batches(1, 16)
    (1, 2, 2, 1)
    """
    return max(1, -(-(arms - 1) // (batch - 1)))


def design(
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardModel | None = None,
    *,
    batch: int = 16,
    split: str = "even",
    bounds: str = "tilt",
) -> StreamingLUCB:
    """LUCB on batches of arms.

    Parameters
    ----------
    alpha, epsilon, delta
        The target: a mean within epsilon of the top-alpha fraction, with probability at least 1 - delta.
    family
        The reward model, Bernoulli by default.
    batch
        B: how many arms a batch has, the winner of the one before among them; 2 at least.
    split
        ``"even"``, epsilon/J for each of J batches; or ``"certificate"``, which needs no split.
    bounds
        ``"tilt"``, one-sided tilt mixtures; or ``"kt"``, two-sided conjugate mixtures.

    Examples
    --------
    >>> algorithm = design(0.1, 0.1, 0.1, batch=8)
    >>> algorithm.arms, algorithm.discard_slack == 0.1 / 4
    (29, True)
    """
    size = whole("batch", batch, 2)
    if choice("split", split, ("even", "certificate")) == "certificate":
        return streaming(alpha, epsilon, delta, family, keep=size, bounds=bounds)._replace(batched=True, refill_at=1)
    alpha, epsilon, delta = fraction("alpha", alpha), positive("epsilon", epsilon), fraction("delta", delta)
    kind = choice("bounds", bounds, ("tilt", "kt"))
    law = checked_model(family)
    number = arms_tight(alpha, delta)
    share = epsilon / batches(number, size)
    # delta/2 for the draw; the rest for both sides of every arm, since losses are chained through any of them
    level = 0.25 * delta / number
    return StreamingLUCB(
        alpha=alpha,
        epsilon=epsilon,
        delta=delta,
        arms=number,
        family=law,
        confidence=checked_bounds(law, kind, share, level, level, delta),
        pool_size=size,
        refill_at=1,
        discard_slack=share,
        chained=True,
        batched=True,
        draw_level=0.5 * delta,
        upper_level=level,
        pool=0,
    )


ENTRY = Entry(
    name="p2-batched",
    design=design,
    guarantee="fixed-confidence",
    reference="Chaudhuri, Kalyanakrishnan (AAAI 2017), P2 on successive batches",
    proof="docs/field/lucb.md, 2",
    options={"split": ("even", "certificate"), "bounds": ("tilt", "kt")},
    models=("pass-fail", "normal", "low-variance"),
)
