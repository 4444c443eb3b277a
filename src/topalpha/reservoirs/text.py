"""Reservoirs written as text, for the command line and for results on disk."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from topalpha.reservoirs.atoms import Dirac, Discrete, TwoPoint
from topalpha.reservoirs.base import Reservoir
from topalpha.reservoirs.mixture import Mixture
from topalpha.reservoirs.smooth import Beta, Uniform
from topalpha.reservoirs.truncated import Clipped, Conditioned
from topalpha.validate import quoted, require

_TOKEN = re.compile(r"\s*([a-z][a-z-]*|[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[(),:*])", re.IGNORECASE)

#: All forms, one example of each.
FORMS = (
    "beta(a,b)",
    "uniform(low,high)",
    "dirac(x)",
    "two-point(low,high,p)",
    "discrete(x:p,...)",
    "discrete(x,...)",
    "mixture(w*reservoir,...)",
    "conditioned(reservoir,at_most)",
    "clipped(reservoir,at_most)",
)


def parse(text: str, at_most: float | None = None, clip: float | None = None) -> Reservoir:
    """Read a reservoir; ``at_most`` conditions it on mean <= at_most, ``clip`` replaces means by min(mean, clip).

    Parameters
    ----------
    text
        A name and its parameters in parentheses, such as ``beta(1,2)``; ``topalpha list`` prints all forms.
    at_most
        The largest mean: the reservoir is conditioned on means of at most this.
    clip
        The largest mean: higher means are replaced by it. Not together with ``at_most``.

    Examples
    --------
    >>> parse("Mixture(0.9*beta(1, 2), 0.1*dirac(0.8))").expression
    'mixture(0.9*beta(1,2),0.1*dirac(0.8))'
    >>> parse("beta(1,1)", at_most=0.95).supremum
    0.95
    >>> parse("beta(1;2)")
    Traceback (most recent call last):
    ValueError: reservoir must consist of names, numbers and ( ) , : *, got ';' in 'beta(1;2)'
    """
    require(isinstance(text, str), "reservoir", f"be text such as {', '.join(FORMS)}", text)
    if at_most is not None and clip is not None:
        raise ValueError(f"clip must be left out when at_most is given, got {clip!r}")
    reader = _Reader(text)
    try:
        reservoir = reader.reservoir()
    except RecursionError:
        raise ValueError(f"reservoir must be nested less deeply, got {quoted(text)}") from None
    reader.finish()
    if at_most is not None:
        return Conditioned(reservoir, at_most)
    return reservoir if clip is None else Clipped(reservoir, clip)


class _Reader:
    """One pass over the tokens; every method consumes the part that it names."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = []
        position = 0
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None:
                self.refuse("consist of names, numbers and ( ) , : *", text[position:].strip()[0])
            self.tokens.append(match[1].lower())
            position = match.end()
        self.place = 0

    def refuse(self, condition: str, found: str) -> NoReturn:
        seen = f"{found!r} in " if found else "the end of "
        raise ValueError(f"reservoir must {condition}, got {seen}{self.text!r}")

    @property
    def ahead(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, token: str, condition: str) -> None:
        if self.ahead != token:
            self.refuse(condition, self.ahead)
        self.place += 1

    def number(self, what: str) -> float:
        try:
            value = float(self.ahead)
        except ValueError:
            self.refuse(f"have a number for {what}", self.ahead)
        self.place += 1
        return value

    def finish(self) -> None:
        if self.ahead:
            self.refuse("end after its last closing bracket", self.ahead)

    def reservoir(self) -> Reservoir:
        name = self.ahead
        if name not in _READERS:
            self.refuse(f"start with a known name ({', '.join(sorted(_READERS))})", name)
        self.place += 1
        entry = _READERS[name]
        self.take("(", f"be written {entry.form}, with an opening bracket")
        result = entry.read(self, entry.form)
        self.take(")", f"be written {entry.form}, with a closing bracket after the last value")
        return result

    def numbers(self, form: str) -> list[float]:
        names = form[form.index("(") + 1 : -1].split(",")
        values = []
        for index, name in enumerate(names):
            if index:
                self.take(",", f"be written {form}, with a comma before {name}")
            values.append(self.number(f"{name} of {form}"))
        return values

    def discrete(self, form: str) -> Reservoir:
        values = [self.number(f"a mean of {form}")]
        weights: list[float] | None = None
        if self.ahead == ":":
            self.place += 1
            weights = [self.number(f"a weight of {form}")]
        while self.ahead == ",":
            self.place += 1
            values.append(self.number(f"a mean of {form}"))
            if weights is not None:
                self.take(":", f"give every mean of {form} a weight, or none of them")
                weights.append(self.number(f"a weight of {form}"))
            elif self.ahead == ":":
                self.refuse(f"give every mean of {form} a weight, or none of them", self.ahead)
        return Discrete(values, weights)

    def mixture(self, form: str) -> Reservoir:
        weights: list[float] = []
        parts: list[Reservoir] = []
        while not parts or self.ahead == ",":
            if parts:
                self.place += 1
            weights.append(self.number(f"a weight of {form}"))
            self.take("*", f"be written {form}, with * between a weight and its part")
            parts.append(self.reservoir())
        return Mixture(weights, parts)

    def wrapped(self, form: str) -> tuple[Reservoir, float]:
        base = self.reservoir()
        self.take(",", f"be written {form}, with a comma before at_most")
        return base, self.number(f"at_most of {form}")


class _Entry(NamedTuple):
    form: str
    read: Callable[[_Reader, str], Reservoir]


_READERS: dict[str, _Entry] = {
    "beta": _Entry("beta(a,b)", lambda reader, form: Beta(*reader.numbers(form))),
    "uniform": _Entry("uniform(low,high)", lambda reader, form: Uniform(*reader.numbers(form))),
    "dirac": _Entry("dirac(x)", lambda reader, form: Dirac(*reader.numbers(form))),
    "two-point": _Entry("two-point(low,high,p)", lambda reader, form: TwoPoint(*reader.numbers(form))),
    "discrete": _Entry("discrete(x:p,...)", lambda reader, form: reader.discrete(form)),
    "mixture": _Entry("mixture(w*reservoir,...)", lambda reader, form: reader.mixture(form)),
    "conditioned": _Entry("conditioned(reservoir,at_most)", lambda reader, form: Conditioned(*reader.wrapped(form))),
    "clipped": _Entry("clipped(reservoir,at_most)", lambda reader, form: Clipped(*reader.wrapped(form))),
}
