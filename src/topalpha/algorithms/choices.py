"""The defaults of a choice on a test set: the algorithm, and the top fraction."""

from __future__ import annotations

from topalpha.validate import choice

#: Algorithms for test sets whose number of candidates is known beforehand. The first is the default: it costs no more
#: on a test set, draws fewer candidates, and a slow remote call does not hold up other candidates.
ALGORITHMS = ("cc-lucb", "joint-lucb")
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


def chosen_algorithm(name: str | None) -> str:
    """The name of the algorithm, or of the default; raise unless it can make choices.

    Examples
    --------
    >>> chosen_algorithm(None)
    'cc-lucb'
    """
    return ALGORITHMS[0] if name is None else choice("algorithm", name, ALGORITHMS)
