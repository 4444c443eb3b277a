"""Figures of a search as SVG inside a page: no references to elsewhere, unique names, the same every time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from xml.etree import ElementTree

from topalpha import figures
from topalpha.display.candidate_names import called
from topalpha.report.contents import Contents
from topalpha.standing import timeline

#: Inches.
SIZE = (5.4, 3.3)
#: How many arms beside the leader the race follows.
FOLLOWED = 8

_SPACE = re.compile(r"\{[^}]*\}")
_WITHIN = re.compile(r"url\(#([^)]*)\)")


class Picture(NamedTuple):
    """A figure: its title, a caption of a sentence or two, and its SVG."""

    title: str
    caption: str
    svg: str


def pictures(contents: Contents) -> list[Picture]:
    """The figures that apply to this search."""
    now, certificate = contents.now, contents.certificate
    if now is None or certificate is None:
        return []
    better, worse, side = ("lower", "upper", "above") if now.minimise else ("upper", "lower", "under")
    several = len(now.selection) > 1
    whose = f"the {'highest' if now.minimise else 'lowest'} of the leaders'" if several else "the leader's"
    line = f"{whose} {worse} bound{'s' if several else ''} {'minus' if now.minimise else 'plus'} epsilon"
    wanted: list[tuple[str, str, Callable[..., Any], Any]] = []
    if now.bounded:
        caption = (
            "Every arm's mean with the bounds that the algorithm compares, each at its own level. The line is "
            f"{line}: arms whose {better} bound is not yet {side} it contest the leader{'s' if several else ''}. "
            "A rule that joins the evidence of many arms may stop before that."
        )
        if now.leader != certificate.arm:
            named = called(certificate.candidate, certificate.arm)
            caption += f" The leader looks best; most is proved about {named}, which the certificate names."
        wanted.append(("Where the arms stand", caption, figures.intervals, now))
    if certificate.claims:
        whom = "each of the chosen arms" if len(certificate.selection) > 1 else "the arm"
        caption = (
            f"The epsilon within which {whom} is of each top fraction, all at once with the probability stated. "
            "Everything above and to the right of the steps is proved."
        )
        wanted.append(("The proved claims", caption, figures.claims_curve, now))
    if now.bounded:
        moments = timeline(contents.recording, arms=FOLLOWED)
        caption = (
            "The leader's interval, and how far the arms with the most pulls may still reach, over the pulls spent. "
            "The search stops when the dash-dotted line meets the dashed one: when the evidence leaves no other arm "
            "more than epsilon better than the leader."
        )
        wanted.append(("The race", caption, figures.race, moments))
    caption = "The number of pulls of each arm: most pulls go to the arms that are hard to tell apart."
    wanted.append(("Where the pulls went", caption, figures.pulls, now))
    return [
        Picture(
            title, caption, embedded(_untitled(drawing(source, axes=figures.new_axes(*SIZE))), title, f"f{number}-")
        )
        for number, (title, caption, drawing, source) in enumerate(wanted)
    ]


def _untitled(axes: Any) -> Any:
    """The caption says what the figure shows."""
    axes.set_title("", loc="left")
    return axes


def embedded(axes: Any, title: str, prefix: str) -> str:
    """The figure of these axes as an ``svg`` element for a page; its ids begin with ``prefix``.

    Examples
    --------
    >>> from topalpha.figures import new_axes
    >>> text = embedded(new_axes(), "Nothing <yet>", "f0-")
    >>> text.startswith('<svg aria-label="Nothing &lt;yet&gt;"'), "http" in text
    (True, False)
    """
    root = ElementTree.fromstring(figures.svg(axes))
    _plain(root, prefix)
    _mixed(root)
    seen = root.attrib["viewBox"]
    root.attrib.clear()
    root.attrib.update({"aria-label": title, "role": "img", "viewBox": seen})
    # The rules of matplotlib's style element would apply to the whole page.
    root.attrib.update({"stroke-linejoin": "round", "stroke-linecap": "butt"})
    return ElementTree.tostring(root, encoding="unicode")


def _plain(element: ElementTree.Element, prefix: str) -> None:
    """Remove namespaces, metadata and style elements, and prefix all ids."""
    element.tag = _SPACE.sub("", element.tag)
    for key, value in list(element.attrib.items()):
        del element.attrib[key]
        key = _SPACE.sub("", key)
        if key == "id":
            value = prefix + value
        elif key == "href" and value.startswith("#"):
            value = "#" + prefix + value[1:]
        element.attrib[key] = _WITHIN.sub(rf"url(#{prefix}\1)", value)
    for child in list(element):
        if _SPACE.sub("", child.tag) in ("metadata", "style"):
            element.remove(child)
        else:
            _plain(child, prefix)


def _mixed(root: ElementTree.Element) -> None:
    """Replace transparent colours by their look on white: printers and viewers differ on transparency.

    The ground of a hatched area is in its pattern, which matplotlib leaves as dark as the hatching.
    """
    grounds: dict[str, float] = {}
    for element in root.iter():
        if "style" in element.attrib:
            style = dict(part.strip().split(": ", 1) for part in element.attrib["style"].split(";") if ": " in part)
            found = _WITHIN.fullmatch(style.get("fill", ""))
            if found and "fill-opacity" in style:
                grounds[found[1]] = float(style.pop("fill-opacity"))
            element.attrib["style"] = "; ".join(f"{key}: {value}" for key, value in opaque(style).items())
    for pattern in root.iter("pattern"):
        ground = pattern.find("rect")
        if ground is not None:
            ground.attrib["fill"] = on_white(ground.attrib["fill"], grounds.get(pattern.attrib["id"], 1.0))


def opaque(style: Mapping[str, str]) -> dict[str, str]:
    """The style with transparent colours replaced by their look on white.

    Examples
    --------
    >>> opaque({"fill": "#000000", "fill-opacity": "0.2", "stroke": "none", "stroke-width": "2"})
    {'fill': '#cccccc', 'stroke': 'none', 'stroke-width': '2'}
    """
    parts = dict(style)
    both = float(parts.pop("opacity", 1.0))
    for paint, usual in (("fill", "#000000"), ("stroke", "none")):
        share = both * float(parts.pop(f"{paint}-opacity", 1.0))
        if share != 1.0:
            parts[paint] = on_white(parts.get(paint, usual), share)
    return parts


def on_white(colour: str, share: float) -> str:
    """A colour of this opacity as it looks on white.

    Examples
    --------
    >>> on_white("#ff0000", 0.2), on_white("#ff0000", 0.0), on_white("none", 0.5)
    ('#ffcccc', 'none', 'none')
    """
    if share == 0.0 or not re.fullmatch("#[0-9a-f]{6}", colour):
        return "none" if share == 0.0 else colour
    mixed = (round(255 + share * (int(colour[place : place + 2], 16) - 255)) for place in (1, 3, 5))
    return "#" + "".join(f"{value:02x}" for value in mixed)
