"""Another C library: logarithms and exponentials that are off by one unit in the last place, at random."""

from __future__ import annotations

import math
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from topalpha.arithmetic import elementary
from topalpha.former_rules import ROOMS

#: The functions of the C library that rules of an earlier version used.
BORROWED = tuple(getattr(math, name) for name in ("cbrt", "exp", "expm1", "log", "log1p", "pow"))
#: Those that rules use now.
OWN = tuple(getattr(elementary, name) for name in elementary.__all__)


def nudge(function: Callable[..., float]) -> Callable[..., float]:
    """The function with results left alone or moved by a unit in the last place, as their bits say."""

    def moved(*arguments: float) -> float:
        value = function(*arguments)
        if not math.isfinite(value) or value == 0.0:
            return value
        mixed = zlib.crc32(struct.pack(f"<{1 + len(arguments)}d", value, *arguments))
        return (value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf))[mixed % 3]

    return moved


@contextmanager
def nudged(functions: tuple[Any, ...]) -> Iterator[list[str]]:
    """While this is open, these functions are nudged wherever a rule has them; the modules that have them."""
    others = {id(one): nudge(one) for one in functions}
    rooms = (*(f"topalpha.{room}" for room in ROOMS), "topalpha.former_rules")
    changed = []
    for name, module in list(sys.modules.items()):
        if name == "math" or (name.startswith(rooms) and not name.startswith("topalpha.arithmetic")):
            changed += [(module, key, value) for key, value in vars(module).items() if id(value) in others]
    try:
        for module, key, value in changed:
            setattr(module, key, others[id(value)])
        yield [module.__name__ for module, *_ in changed]
    finally:
        for module, key, value in changed:
            setattr(module, key, value)
