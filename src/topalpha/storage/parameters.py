"""Candidates as tables show them: a column for each parameter, where all have the same; numbers with four digits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from topalpha.storage.encoding import from_json
from topalpha.storage.plain_text import plain

#: Candidates with more parameters than this are one text each.
MOST = 8
#: How many levels of lists and mappings are shown.
DEEPEST = 4


def readable(value: Any, levels: int = DEEPEST) -> str:
    """A candidate in one line: numbers with four significant digits, the parameters of a mapping by their names.

    Examples
    --------
    >>> readable({"rate": 0.9932439459314972, "layers": [64, 64], "kind": "wide"})
    'rate=0.9932, layers=[64, 64], kind=wide'
    >>> readable("Answer in one word.")
    'Answer in one word.'
    """
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping | list) and levels == 0:
        return "…"
    if isinstance(value, Mapping):
        text = ", ".join(f"{_harmless(key)}={readable(one, levels - 1)}" for key, one in value.items())
        return text if levels == DEEPEST else f"({text})"
    if isinstance(value, list):
        return f"[{', '.join(readable(one, levels - 1) for one in value)}]"
    return _harmless(str(value))


def _harmless(text: str) -> str:
    """The text in one line, without control characters."""
    return text if text.isprintable() else plain(text)


class Candidates:
    """Candidates by arm, of which more may be added.

    Attributes
    ----------
    texts, exact
        Each candidate in one line, and as it is stored.
    names
        The parameters, if every candidate is a mapping with these keys; empty otherwise.

    Examples
    --------
    >>> found = Candidates(['{"rate":0.9932439459314972,"kind":"wide"}', '{"rate":2,"kind":"deep"}'])
    >>> found.names, found.cells(0), [found.is_number(name) for name in found.names]
    (('rate', 'kind'), ['0.9932', 'wide'], [True, False])
    >>> found.add('{"rate":1}')
    >>> found.names, found.texts
    ((), ['rate=0.9932, kind=wide', 'rate=2, kind=deep', 'rate=1'])
    """

    def __init__(self, stored: Iterable[str] = (), longest: int | None = None) -> None:
        self.texts: list[str] = []
        self.exact: list[str] = []
        self.names: tuple[str, ...] = ()
        self._longest = longest
        self._values: list[dict[str, float | str | None]] = []
        self._numbers: set[str] = set()
        for text in stored:
            self.add(text)

    def add(self, stored: str) -> None:
        """Add a candidate: JSON as in the file, or what is shown of a pickle."""
        try:
            value = from_json(stored)
        except ValueError:
            value = stored
        keys = tuple(value) if isinstance(value, dict) and len(value) <= MOST else ()
        if not self.texts:
            self.names, self._numbers = keys, set(keys)
        elif keys != self.names and set(keys) != set(self.names):
            self.names, self._values = (), []
        if self.names:
            self._values.append({name: self._kept(value[name]) for name in self.names})
            self._numbers = {name for name in self._numbers if isinstance(self._values[-1][name], int | float)}
        self.texts.append(readable(value)[: self._longest])
        self.exact.append(stored[: self._longest])

    def cells(self, arm: int) -> list[str]:
        """The parameters of a candidate, as text; empty where candidates have no columns."""
        names, values = self.names, self._values  # another thread may add one without these
        return [readable(values[arm][name]) for name in names] if arm < len(values) else []

    def is_number(self, name: str) -> bool:
        """Whether this parameter is a number for all candidates."""
        return name in self._numbers

    def place(self, arm: int, name: str) -> tuple[bool, Any] | None:
        """The place of a candidate in the order by a parameter, numbers before texts; None if it has no value."""
        values = self._values
        value = values[arm].get(name) if arm < len(values) else None
        return None if value is None else (isinstance(value, str), value)

    def _kept(self, value: Any) -> float | str | None:
        """A number or nothing as it is; anything else as text."""
        plain = value is None or (isinstance(value, int | float) and not isinstance(value, bool))
        return value if plain else readable(value, DEEPEST - 1)[: self._longest]
