"""What KaTeX's MathML lacks for browsers: signs, primes, and places where a line may end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

#: Browsers know no other variant than "normal": calligraphic letters are characters of their own.
CALLIGRAPHIC = re.compile(r'<mi mathvariant="script">([A-Z])</mi>')
OLD_LETTERS = dict(zip("BEFHILMR", "ℬℰℱℋℐℒℳℛ", strict=True))  # they had a place in Unicode before the others came
#: The name of a function stands apart from what follows, unless that is a parenthesis.
APPLIED = re.compile("<mo>\u2061</mo>(?!(?:<mrow>)?<mo[^>]*>[(\\[{|]</mo>)")
#: "x tends to y from below" is a relation, not a tall parenthesis.
ARROWS = re.compile("<mo>([\u2191\u2193])</mo>")

OPENING, CLOSING = frozenset("([{⟨⌈⌊"), frozenset(")]}⟩⌉⌋")
RELATIONS = frozenset("=≤≥<>≠≈∼≡∈⊂⊆→⟹⇒⟺⇔∝≪≫≔")
SIGNS = frozenset("−+±")
#: After these a sign belongs to what follows it.
BEFORE_SIGN = OPENING | RELATIONS | frozenset(",:;⋅×/")
SCRIPTS = frozenset({"msub", "msup", "msubsup", "munder", "mover", "munderover"})
TALL = frozenset({"mfrac", "munder", "munderover", "msqrt", "mtable"})
PRIME = "′"
#: From so many characters on a formula may end a line in its midst, and scrolls where no line is long enough.
LONG = 24


class Piece(NamedTuple):
    """A part of a formula that stays on one line."""

    written: str
    wide: bool
    tall: bool


def tidy(written: str) -> str:
    """The ``math`` element of what KaTeX wrote, as browsers should have it."""
    written = CALLIGRAPHIC.sub(lambda found: f"<mi>{calligraphic(found[1])}</mi>", written)
    written = APPLIED.sub('<mo>\u2061</mo><mspace width="0.1667em"/>', written)
    written = ARROWS.sub(r'<mo stretchy="false">\1</mo>', written)
    written = written.replace('<mtext mathvariant="monospace">', '<mtext class="monospace">')
    start, end = written.index("<math"), written.index("</math>") + len("</math>")
    root = ElementTree.fromstring(written[start:end].replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "", 1))
    for element in root.iter():
        lower_primes(element)
        mark_signs(element)
    return ElementTree.tostring(root, encoding="unicode")


def calligraphic(letter: str) -> str:
    """The calligraphic capital of this letter."""
    return OLD_LETTERS.get(letter) or chr(0x1D49C + ord(letter) - ord("A"))


def lower_primes(element: Element) -> None:
    """A prime is drawn high and small already: it stands beside its letter, not as an exponent."""
    if element.tag not in {"msup", "msubsup"} or not (primes := leading_primes(element[-1])):
        return
    base, above = element[0], element[-1]
    lowered = Element("mrow")
    lowered.append(base)
    for _ in range(primes):
        ElementTree.SubElement(lowered, "mo", lspace="0em", rspace="0em").text = PRIME
    element[0] = lowered
    for prime in list(above)[:primes]:
        above.remove(prime)
    if above.tag == "mo" or not len(above):
        element.remove(above)
        element.tag = "mrow" if element.tag == "msup" else "msub"


def leading_primes(above: Element) -> int:
    """How many primes an exponent begins with."""
    parts = [above] if above.tag == "mo" else list(above)
    count = 0
    while count < len(parts) and parts[count].text == PRIME:
        count += 1
    return count


def mark_signs(row: Element) -> None:
    """A sign after a bracket, a relation or a comma has no space behind it."""
    for before, sign in zip(row, list(row)[1:], strict=False):
        if sign.tag == "mo" and sign.text in SIGNS and before.tag == "mo" and before.text in BEFORE_SIGN:
            sign.set("form", "prefix")


def pieces(written: str) -> list[Piece]:
    """The parts of an inline formula: a long one may end a line after a relation or a sign outside all brackets."""
    root = ElementTree.fromstring(written)
    row = root.find("semantics/mrow")
    if row is None or length(row) < LONG:
        return [piece(root, written)]
    parts = []
    for children in broken(list(row)):
        part = deepcopy(root)
        shown = part.find("semantics/mrow")
        assert shown is not None
        shown[:] = children
        if parts:  # the first has what was typed, for all
            part[:] = [shown]
        parts.append(piece(part, ElementTree.tostring(part, encoding="unicode")))
    return parts


def piece(part: Element, written: str) -> Piece:
    """One part and how it must be shown."""
    return Piece(written, length(part) >= LONG, any(one.tag in TALL for one in part.iter()))


def length(element: Element) -> int:
    """About how wide it is, in characters."""
    if element.tag in {"annotation", "mspace"}:
        return 0
    widths = [length(child) for child in element]
    own = len((element.text or "").strip()) + 2 * (element.tag == "mo" and element.text in RELATIONS | SIGNS)
    return own + (max(widths, default=0) if element.tag == "mfrac" else sum(widths))


def broken(row: list[Element]) -> Iterator[list[Element]]:
    """A row up to every place where a line may end: after relations, and within what is still long after signs."""
    for part in parted(row, RELATIONS):
        yield from parted(part, SIGNS) if sum(map(length, part)) >= LONG else [part]


def parted(row: list[Element], marks: frozenset[str]) -> Iterator[list[Element]]:
    """A row up to every one of these marks outside all brackets."""
    depth, part = 0, []
    for position, child in enumerate(row):
        part.append(child)
        mark = innermost(child).text or ""
        depth += (mark in OPENING) - (mark in CLOSING)
        ends = child.tag == "mo" and mark in marks and child.get("form") != "prefix"
        if ends and depth == 0 and len(part) > 1 and position + 1 < len(row):
            yield part
            part = []
    yield part


def innermost(element: Element) -> Element:
    """What an exponent or an index belongs to: a bracket may carry one."""
    return innermost(element[0]) if element.tag in SCRIPTS and len(element) else element
