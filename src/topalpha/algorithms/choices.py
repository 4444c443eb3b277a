"""The defaults of a choice on a test set: the order of the examples, the algorithm, and the top fraction."""

from __future__ import annotations

from topalpha.theory.arm_counts import top_size
from topalpha.validate import choice, fraction, require

#: Algorithms for test sets whose number of candidates is known beforehand. The first is the default: it costs no more
#: on a test set, draws fewer candidates, and a slow remote call does not hold up other candidates.
ALGORITHMS = ("cc-lucb", "joint-lucb")
#: The algorithm for lists whose candidates share one order of the examples, and how long a list has it by default:
#: on three recorded tables it needs fewer evaluations up to ten candidates, and more on some from 20 on.
PAIRED, SHORT_LIST = "paired", 10
#: The two kinds of orders.
ORDERS = ("shared", "own")
#: The default top fraction of an endless pool.
ALPHA = 0.05


def target_alpha(alpha: float | None, pool: int) -> float:
    """The given alpha, or its default: the best of a list, the top twentieth of an endless pool.

    Examples
    --------
    >>> target_alpha(None, 20), target_alpha(None, 0), target_alpha(0.1, 20), target_alpha(None, 1)
    (0.05, 0.05, 0.1, 0.5)
    """
    if alpha is not None:
        return alpha
    return ALPHA if pool == 0 else min(1.0 / pool, 0.5)


def chosen_algorithm(name: str | None, order: str = "own") -> str:
    """The name of the algorithm, or of the default for this order; raise unless it can make choices.

    Examples
    --------
    >>> chosen_algorithm(None), chosen_algorithm(None, "shared")
    ('cc-lucb', 'paired')
    """
    able = ALGORITHMS if order == "own" else (PAIRED,)
    return able[0] if name is None else choice("algorithm", name, able)


def chosen_order(
    order: str | None,
    pool: int,
    *,
    alpha: float | None = None,
    algorithm: str | None = None,
    incumbent: int | None = None,
    on_lost: str = "again",
) -> str:
    """The given kind of order, or the default, which depends on nothing that is seen.

    Shared for lists of up to ten candidates, and where one is named beforehand; of their own for longer lists, endless
    pools, other targets than the best, and what only other algorithms can do.

    Examples
    --------
    >>> chosen_order(None, 10), chosen_order(None, 11), chosen_order(None, 0), chosen_order(None, 50, incumbent=3)
    ('shared', 'own', 'own', 'shared')
    """
    if order is not None:
        choice("order", order, ORDERS)
        require(order == "own" or pool > 0, "order", "be 'own' where a function draws the candidates", order)
        require(order == "shared" or incumbent is None, "order", "be 'shared' where an incumbent is named", order)
        return order
    best = alpha is None or (pool > 0 and top_size(pool, fraction("alpha", alpha)) == 1)
    able = best and algorithm in (None, PAIRED) and on_lost == "again"
    short = 0 < pool <= SHORT_LIST or incumbent is not None or algorithm == PAIRED
    return "shared" if able and short else "own"
