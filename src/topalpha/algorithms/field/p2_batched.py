"""p2-batched: LUCB on one batch after another, each with the last winner; Chaudhuri and Kalyanakrishnan (2017).

n = ceil(ln(2/delta) / -ln(1 - alpha)) arms are drawn, B at first and then B - 1 at a time to join the winner, so memory
holds B arms. With ``split="even"`` each of the J batches may lose epsilon/J, because losses add up.
``split="certificate"`` instead keeps the largest lower bound from batch to batch, without a split: it is
cc-lucb-streaming, with arms drawn in batches.

(alpha, epsilon, delta)-correct for every reservoir (docs/field/lucb.md, 2); with the even split rewards may depend on
each other across arms.
"""

from __future__ import annotations

from topalpha.algorithms import cc_lucb
from topalpha.algorithms.field import cc_lucb_streaming
from topalpha.algorithms.field.cc_lucb_streaming import StreamingLUCB
from topalpha.confidence.levels import checked_bounds
from topalpha.rules.registration import Target, algorithm
from topalpha.theory import arms_tight
from topalpha.validate import choice, whole


def batches(arms: int, batch: int) -> int:
    """J, the number of batches that cover all arms.

    Examples
    --------
    >>> batches(16, 16), batches(17, 16), batches(31, 16), batches(1, 16)
    (1, 2, 2, 1)
    """
    return max(1, -(-(arms - 1) // (batch - 1)))


@algorithm(
    "p2-batched",
    "Chaudhuri, Kalyanakrishnan (AAAI 2017), P2 on successive batches",
    "docs/field/lucb.md, 2",
    options={"split": ("even", "certificate"), **cc_lucb.BOUNDS},
    models=cc_lucb.MODELS,
)
def design(target: Target, *, batch: int = 16, split: str = "even", bounds: str = "tilt") -> StreamingLUCB:
    """LUCB on batches of arms.

    A batch has B = ``batch`` arms, at least 2, including the last winner. ``split`` is ``"even"``, epsilon/J for each
    of J batches, or ``"certificate"``, which needs no split. ``bounds`` are one-sided tilt mixtures (``"tilt"``) or
    two-sided conjugate mixtures (``"kt"``).

    Examples
    --------
    >>> made = design(0.1, 0.1, 0.1, batch=8)
    >>> made.arms, made.discard_slack == 0.1 / 4
    (29, True)
    """
    size = whole("batch", batch, 2)
    if choice("split", split, ("even", "certificate")) == "certificate":
        return cc_lucb_streaming.design(*target, keep=size, bounds=bounds)._replace(batched=True, refill_at=1)
    number = arms_tight(target.alpha, target.delta)
    share = target.epsilon / batches(number, size)
    # delta/2 for the draw; the rest for both sides of every arm, because losses add up along any of them
    level = 0.25 * target.delta / number
    kind = choice("bounds", bounds, cc_lucb.BOUNDS["bounds"])
    return StreamingLUCB(
        *target.on(number),
        confidence=checked_bounds(target.family, kind, share, level, level, target.delta),
        pool_size=size,
        refill_at=1,
        discard_slack=share,
        chained=True,
        batched=True,
        draw_level=0.5 * target.delta,
        upper_level=level,
        pool=0,
    )
