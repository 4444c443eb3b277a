"""The look of every picture: parts differ in colour, and also in marker, dash or hatching.

The colours are Okabe and Ito's with a contrast to white of three to one or more, so that colour-blind readers can tell
them apart. Everything with its own colour also has its own marker, dash or hatching.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

BLUE, VERMILION, GREEN, PURPLE, BLACK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000"
#: For parts that are not in question, and for the background.
GREY, PALE = "#767676", "#E6E6E6"

COLOURS = (GREEN, BLUE, VERMILION, BLACK, PURPLE)
MARKERS = ("D", "^", "o", "s", "v", "P", "X", "*", "<", ">", "h")
DASHES = ("-", "--", "-.", ":")

# The numbers after which styles repeat: every marker has come with every dash.
_SIGNS = len(MARKERS) * len(COLOURS) * len(DASHES)

#: Width and height of a picture, in inches.
SIZE = (7.2, 4.6)


def paler(colour: str, share: float) -> str:
    """A colour mixed with white. Transparency looks the same on a screen, but not in SVG and on paper.

    Examples
    --------
    >>> paler("#000000", 0.2), paler("#0072B2", 1.0)
    ('#CCCCCC', '#0072B2')
    """
    mixed = (round(255 + share * (int(colour[place : place + 2], 16) - 255)) for place in (1, 3, 5))
    return "#" + "".join(f"{part:02X}" for part in mixed)


class Look(NamedTuple):
    """The look of one kind of thing, in every picture.

    Examples
    --------
    >>> LEADER.line["linestyle"], LINE.line["linestyle"]
    ('-', '--')
    """

    colour: str
    marker: str
    dash: str
    hatch: str = ""

    @property
    def curve(self) -> dict[str, Any]:
        """For curves with markers."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.dash}

    @property
    def line(self) -> dict[str, Any]:
        """For curves without markers."""
        return {"color": self.colour, "linestyle": self.dash}

    @property
    def points(self) -> dict[str, Any]:
        """For markers without a curve."""
        return {"color": self.colour, "marker": self.marker, "linestyle": "none"}

    @property
    def area(self) -> dict[str, Any]:
        """For areas: pale with stronger hatching; without hatching a little stronger."""
        if not self.hatch:
            return {"facecolor": paler(self.colour, 0.4), "edgecolor": "none"}
        return {"facecolor": paler(self.colour, 0.12), "edgecolor": paler(self.colour, 0.5), "hatch": self.hatch}


LEADER = Look(BLUE, "D", "-", "///")
CHALLENGER = Look(VERMILION, "^", "-", "...")
OTHER = Look(GREY, "o", "-", "")
#: The line that every bound but the leader's must cross.
LINE = Look(BLACK, "", "--")
#: The best possible mean of any other arm.
REACH = Look(VERMILION, "v", "-.")
#: Where a search ended.
END = Look(GREY, "", "-")
#: The proved claims, and the target.
PROVED = Look(GREEN, "s", "-", "\\\\\\")
TARGET = Look(BLACK, "*", ":")
#: The lower bound for all algorithms, and the one for epsilon = 0.
LIMIT = Look(BLACK, "", "--")
LIMIT_EXACT = Look(GREY, "", ":")


#: The looks of the principal algorithms, the same in every picture. The field is grey.
ALGORITHMS = {
    "joint-lucb": Look(GREEN, "D", "-"),
    "cc-lucb": Look(BLUE, "^", "-."),
    "lucb++": Look(PURPLE, "s", "--"),
    "kl-lucb": Look(VERMILION, "o", ":"),
}
FIELD = Look(GREY, "v", "-")


def look_of(label: str) -> Look:
    """The look of the algorithm that a label begins with.

    Examples
    --------
    >>> look_of("cc-lucb (bounds=kt)") == look_of("cc-lucb"), look_of("ugape").colour == GREY
    (True, True)
    """
    return ALGORITHMS.get(re.split(r"[ ,(]", label, maxsplit=1)[0], FIELD)


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """The look of each curve of a picture: the colour of its algorithm, and a marker and dash that no other one has.

    Examples
    --------
    >>> found = looks(["cc-lucb", "cc-lucb (bounds=kt)", "ugape"])
    >>> [(one.colour, one.marker, one.dash) for one in found.values()]
    [('#0072B2', '^', '-.'), ('#0072B2', 'v', '-'), ('#767676', 'P', '--')]
    """
    labels = list(dict.fromkeys(labels))
    reserved = {look.marker for look in ALGORITHMS.values()}
    free = iter(sorted(map(style, range(_SIGNS)), key=lambda one: one["marker"] in reserved))
    signs = {(ALGORITHMS[label].marker, ALGORITHMS[label].dash) for label in labels if label in ALGORITHMS}
    found = {}
    for label in labels:
        if label not in ALGORITHMS:
            sign = next(one for one in ((each["marker"], each["linestyle"]) for each in free) if one not in signs)
            signs.add(sign)
            found[label] = Look(look_of(label).colour, *sign)
        else:
            found[label] = ALGORITHMS[label]
    return found


def style(place: int) -> dict[str, Any]:
    """Colour, marker and dash of the curve with this number, where curves are no algorithms.

    Examples
    --------
    >>> style(0)["marker"], style(0) == style(5), style(0) == style(11)
    ('D', False, False)
    """
    return {
        "color": COLOURS[place % len(COLOURS)],
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": DASHES[(place // len(COLOURS)) % len(DASHES)],
    }
