"""What a search has proved at this moment, and about which arm."""

from __future__ import annotations

from topalpha.ask_tell import Search
from topalpha.rules.protocol import Claim


def strongest(search: Search) -> int:
    """The arm with the largest lower bound, about which most is proved; of equals, the recommended one.

    Examples
    --------
    >>> from topalpha import design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, float(pull.arm == 1)) for pull in search.ask_many(10)])
    >>> strongest(search)
    1
    """
    history, best = search.history, search.best
    value = search.lower(best)
    for arm in range(history.arms):
        if history.pulls[arm] and (lower := search.lower(arm)) > value:
            best, value = arm, lower
    return best


def proved_claims(search: Search, arm: int, claims: list[Claim] | None = None) -> list[Claim]:
    """What is proved about the arm and says something: an epsilon as wide as the range of means says nothing.

    ``claims`` are what :meth:`Search.claims` says of the arm, if that was asked for before.

    Examples
    --------
    >>> from topalpha import design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, float(pull.arm == 1)) for pull in search.ask_many(10)])
    >>> [round(claim.epsilon, 2) for claim in proved_claims(search, 1)][:1]
    [0.65]
    """
    algorithm, model = search.algorithm, search.model
    if not algorithm.traits.covered or search.refutation:
        return []
    width = (algorithm.family.highest - algorithm.family.lowest) * abs(model.factor)
    found = search.claims(arm) if claims is None else claims
    curve = [claim for claim in found if claim.epsilon < width]
    if not search.stopped:
        return curve
    asked = Claim(algorithm.alpha, algorithm.epsilon * abs(model.factor))
    return [asked, *(claim for claim in curve if claim.alpha > asked.alpha and claim.epsilon < asked.epsilon)]
