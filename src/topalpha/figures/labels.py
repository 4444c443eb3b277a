"""The texts in the pictures."""

from __future__ import annotations

from collections.abc import Sequence

from topalpha.certificate import REASONS
from topalpha.standing import Standing
from topalpha.storage.plain_text import plain


def named(now: Standing) -> str:
    """The search's name as a part of a title; empty without a name.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> from topalpha.standing import standing
    >>> named(standing(Search(design("cc-lucb", 0.3, 0.3, 0.2))))
    ''
    """
    return "" if now.name is None else f" of “{plain(now.name)}”"


#: How many arms are named individually.
LISTED = 4


def arms(numbers: Sequence[int]) -> str:
    """The names of these arms; of many, the first.

    Examples
    --------
    >>> arms([3]), arms([3, 9]), arms([3, 9, 1, 4, 7])
    ('arm 3', 'arms 3 and 9', 'arms 3, 9, 1, 4 and 1 more')
    """
    if len(numbers) == 1:
        return f"arm {numbers[0]}"
    first = [str(arm) for arm in numbers[:LISTED]]
    rest = len(numbers) - len(first)
    last = f"{rest:,} more" if rest else first.pop()
    return f"arms {', '.join(first)} and {last}"


def leaders(now: Standing) -> str:
    """The leader, or the chosen arms if the search looks for several.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> from topalpha.standing import standing
    >>> search = Search(design("cc-lucb-k", 0.5, 0.5, 0.3))
    >>> search.tell_many([(pull, pull.arm % 3 / 2) for pull in search.ask_many(5)])
    >>> leaders(standing(search))
    'the 2 leaders, arms 2 and 1'
    """
    if len(now.selection) < 2:
        return f"the leader, arm {now.leader}{proved_of_another(now)}"
    whom = f"the {len(now.selection):,} {'chosen' if now.stopped else 'leaders'}, {arms(now.selection)}"
    return f"{whom}{proved_of_another(now)}"


def proved_of_another(now: Standing) -> str:
    """A remark if the certificate names an arm that does not lead, because more is proved about it; else empty.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> from topalpha.standing import standing
    >>> proved_of_another(standing(Search(design("cc-lucb", 0.3, 0.3, 0.2))))
    ''
    """
    if not now.claims or now.about is None or now.about in now.selection:
        return ""
    return f" (most is proved of arm {now.about})"


def line(now: Standing) -> str:
    """The name of the line that every other bound must cross.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> from topalpha.standing import standing
    >>> line(standing(Search(design("cc-lucb", 0.3, 0.3, 0.2))))
    "the leader's lower bound + ε"
    """
    side = "upper bound − ε" if now.minimise else "lower bound + ε"
    if len(now.selection) < 2:
        return f"the leader's {side}"
    return f"their {'highest' if now.minimise else 'lowest'} {side}"


def rest(now: Standing) -> str:
    """The name of what must cross the line: what the deciding evidence leaves open.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> from topalpha.standing import standing
    >>> rest(standing(Search(design("cc-lucb", 0.3, 0.3, 0.2))))
    'highest bound of any other arm'
    >>> rest(standing(Search(design("joint-lucb", 0.3, 0.3, 0.2))))
    'the best that the evidence leaves to others'
    """
    if now.joined:
        return "the best that the evidence leaves to others"
    return f"{'lowest' if now.minimise else 'highest'} bound of any other{'' if len(now.selection) > 1 else ' arm'}"


def of_status(now: Standing) -> str:
    """Why the search ended; marked as not verified if only the file says so.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> from topalpha.standing import standing
    >>> of_status(standing(Search(design("cc-lucb", 0.3, 0.3, 0.2))))
    'it is still running'
    """
    unsure = now.name is not None and now.status not in ("stopped", "running")
    return plain(REASONS.get(now.status, now.status)) + (" (not verified)" if unsure else "")


def rewards(now: Standing) -> str:
    """The label of the axis of means.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> from topalpha.standing import standing
    >>> rewards(standing(Search(design("cc-lucb", 0.3, 0.3, 0.2))))
    'mean reward'
    """
    return "mean cost, small is good" if now.minimise else "mean reward"
