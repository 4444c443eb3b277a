"""The words of the pictures."""

from __future__ import annotations

from topalpha.standing import Standing
from topalpha.wording import REASONS


def named(now: Standing) -> str:
    """The search's name, where it has one, as a part of a title.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> from topalpha.standing import standing
    >>> named(standing(Search(design("cc-lucb", 0.3, 0.3, 0.2))))
    ''
    """
    return "" if now.name is None else f" of “{now.name}”"


def of_status(now: Standing) -> str:
    """Why the search ended, in words.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> from topalpha.standing import standing
    >>> of_status(standing(Search(design("cc-lucb", 0.3, 0.3, 0.2))))
    'it is still running'
    """
    return REASONS.get(now.status, now.status)


def rewards(now: Standing) -> str:
    """What a mean is a mean of.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> from topalpha.standing import standing
    >>> rewards(standing(Search(design("cc-lucb", 0.3, 0.3, 0.2))))
    'mean reward'
    """
    return "mean cost, small is good" if now.minimise else "mean reward"
