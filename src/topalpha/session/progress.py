"""How far a search is: the figures, and the line that shows them."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any

from topalpha.ask_tell import Search
from topalpha.certificate import proved_claims, strongest
from topalpha.rules.protocol import SUM, Certifier
from topalpha.validate import choice

LOGGER = logging.getLogger("topalpha")

#: Log lines, where there is no terminal, come this often, in seconds.
LINE_PERIOD = 5.0

#: How progress may be shown; ``auto`` is a live line on a terminal and log lines without one.
STYLES = ("auto", "live", "lines", "none")


@dataclass(frozen=True)
class Progress:
    """A search at one moment, in the caller's units.

    Attributes
    ----------
    pulls, in_flight, arms
        Rewards that count, pulls asked for and not among them, and candidates drawn.
    leader, mean, low, high
        The arm that leads, its empirical mean and its interval.
    gap
        By how much the epsilon that is proved exceeds the one wanted, about the arm ``about``; None before anything is
        proved.
    unresolved
        How many other arms have an upper bound more than epsilon above the leader's lower bound.
    left
        About how many more pulls it will take, if the means are what they look like; None if that cannot be said.
    paused
        Whether no new pulls are started until someone says ``continue``.
    claims
        Pairs of alpha and epsilon that are proved about the arm ``about``, all true at once; None where that was not
        computed.
    about
        The arm that a certificate would have named when ``gap``, ``left`` and ``claims`` were computed, which is not at
        every moment: the one with the largest lower bound, while another may lead by now. None before that.
    bounded
        Whether the algorithm has bounds at any time; without, ``low`` and ``high`` are the range of all means.

    Examples
    --------
    >>> from topalpha import design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, float(pull.arm == 1)) for pull in search.ask_many(10)])
    >>> progress = survey(search)
    >>> progress.leader, progress.pulls, progress.gap > 0.0, progress.left > 1
    (1, 10, True, True)
    """

    pulls: int
    in_flight: int
    arms: int
    leader: int
    mean: float
    low: float | None
    high: float | None
    gap: float | None
    unresolved: int
    left: int | None
    paused: bool = False
    claims: tuple[tuple[float, float], ...] | None = None
    about: int | None = None
    bounded: bool = True

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        values = asdict(self)
        values["claims"] = None if self.claims is None else [list(claim) for claim in self.claims]
        return values

    @property
    def text(self) -> str:
        """In one line."""
        ends = ("-inf" if self.low is None else f"{self.low:.4g}", "inf" if self.high is None else f"{self.high:.4g}")
        parts = [f"{self.pulls:,} pulls of {self.arms:,} arms", f"leader {self.leader}: {self.mean:.4g}"]
        parts[-1] += f" in [{ends[0]}, {ends[1]}]"
        if self.gap is not None:
            whose = "" if self.about in (None, self.leader) else f" of arm {self.about}"
            parts.append(f"gap {max(self.gap, 0.0):.3g}{whose}")
        parts.append(f"{self.unresolved:,} unresolved")
        if self.left is not None:
            parts.append(f"about {self.left:,} to go")
        return " · ".join(["paused", *parts] if self.paused else parts)


def survey(search: Search, *, proved: bool = True, curve: bool = True) -> Progress:
    """The figures of a search that has at least one reward.

    Without ``proved`` what is proved is left out, which may take a while to find; without ``curve`` the claims alone,
    which take longest.
    """
    history, algorithm, model = search.history, search.algorithm, search.model
    leader = search.best
    lower, upper = search.lower(leader), search.upper(leader)
    totals, pulls = history.stats[SUM], history.pulls
    mean = totals[leader] / pulls[leader]
    seen = [arm for arm in range(history.arms) if pulls[arm]]
    uppers = {arm: search.upper(arm) for arm in seen if arm != leader}
    unresolved = sum(bound > lower + algorithm.epsilon for bound in uppers.values()) + algorithm.arms - len(seen)
    gap, left = (0.0, 0) if search.stopped else (None, None)
    about = leader if search.stopped else strongest(search) if proved else None
    complete = proved and not search.stopped and len(seen) == algorithm.arms
    claims = search.claims(about) if complete and about is not None else None
    if claims is not None and about is not None:
        reached = claims[0].epsilon / abs(model.factor) if claims and claims[0].alpha == algorithm.alpha else math.inf
        gap = reached - algorithm.epsilon
        level = totals[about] / pulls[about] + 0.5 * algorithm.epsilon
        close = [arm for arm, bound in uppers.items() if arm != about and bound > level]
        if about != leader and upper > level:
            close.append(leader)
        most = algorithm.family.capacity
        left = remaining([pulls[arm] for arm in (about, *close)], reached / algorithm.epsilon, most)
    pairs = None
    if proved and curve and about is not None:
        # Finding the claims takes longest: those that are known are handed on.
        pairs = tuple((claim.alpha, claim.epsilon) for claim in proved_claims(search, about, claims))
    low, high = sorted((model.to_user(lower), model.to_user(upper)))
    return Progress(
        pulls=history.t,
        in_flight=history.in_flight,
        arms=history.arms,
        leader=leader,
        mean=model.to_user(mean),
        low=low if math.isfinite(low) else None,
        high=high if math.isfinite(high) else None,
        gap=None if gap is None or math.isinf(gap) else gap * abs(model.factor),
        unresolved=0 if search.stopped else unresolved,
        left=left,
        claims=pairs,
        about=about,
        bounded=isinstance(algorithm, Certifier),
    )


def remaining(pulls: Sequence[int], ratio: float, most: float = math.inf) -> int | None:
    """About how many pulls are left, when these pulls of the arms in question prove ``ratio`` times epsilon.

    What is proved narrows with the square root of the pulls N of each; on a finite test set, of which an arm sees
    ``most`` items at the most, with that of 1/N - 1/most.

    Examples
    --------
    >>> remaining([60, 40], 2.0), remaining([60, 40], 0.9), remaining([60, 40], math.inf)
    (300, 0, None)
    >>> remaining([60, 40], 2.0, 68), remaining([68], 2.0, 68)
    (24, 0)
    """
    if math.isinf(ratio):
        return None
    total = 0.0
    for one in pulls:
        narrow = 1.0 / most + (1.0 / one - 1.0 / most) / max(ratio, 1.0) ** 2
        total += 1.0 / narrow - one
    return round(total)


class Reporter:
    """Shows progress; a context manager, so that a live line is taken down again.

    Examples
    --------
    >>> with Reporter("none") as report:
    ...     report(Progress(1, 0, 1, 0, 0.5, None, None, None, 0, None))
    """

    def __init__(self, style: str = "auto") -> None:
        style = choice("progress", style, STYLES)
        if style == "auto":
            style = "live" if sys.stderr is not None and sys.stderr.isatty() else "lines"
        self.style = style
        self._live: Any = None
        self._next_line = 0.0
        self._line = ""

    def __enter__(self) -> Callable[[Progress], None]:
        if self.style == "live":
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)
            self._live.start()
        return self.show

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, progress: Progress) -> None:
        """Show this moment."""
        if self._live is not None:
            from rich.text import Text

            self._live.update(Text(progress.text), refresh=True)
        elif self.style == "lines" and (now := time.monotonic()) >= self._next_line and progress.text != self._line:
            self._next_line, self._line = now + LINE_PERIOD, progress.text
            LOGGER.info("%s", progress.text)
