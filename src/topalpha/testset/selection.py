"""The result of a choice on a test set: the candidate, the proof, every score, and the cost."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from topalpha.ask_tell import Result
from topalpha.certificate import Certificate, statement
from topalpha.confidence import bounds_for
from topalpha.display.candidate_names import called, short_name, titled
from topalpha.display.printing import Printed, Table
from topalpha.execution import Calls
from topalpha.families import PassFail
from topalpha.families.units import reward_model
from topalpha.rules.columns import EXTRA, UPPER
from topalpha.rules.protocol import SUM, History
from topalpha.session import Session
from topalpha.storage.encoding import quotation

# How many scores are printed, and how many characters of a candidate.
_ROWS, _WIDTH = 10, 60


@dataclass(frozen=True)
class Score:
    """The evaluations of one drawn candidate.

    Attributes
    ----------
    candidate, index
        The candidate, and its position in the list of candidates; None if a function drew it.
    evaluations, passes
        On how many examples it was evaluated, and how many of these it passed; of graded scores, their sum.
    low, high
        An interval for its score on all examples. With probability at least 1 - delta the intervals of all candidates
        hold at once, at all times: docs/proofs.md, C.4 and C.8, at level delta / 2n on each side, n the number of
        candidates that will be drawn.

    Examples
    --------
    >>> Score("prompt", 0, evaluations=40, passes=30, low=0.6, high=0.9).score
    0.75
    """

    candidate: Any
    index: int | None
    evaluations: int
    passes: float
    low: float
    high: float

    @property
    def score(self) -> float:
        """The fraction of its examples that it passed, or its mean score; NaN if it was not evaluated."""
        return self.passes / self.evaluations if self.evaluations else math.nan

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {
            "candidate": quotation(self.candidate),
            "index": self.index,
            "evaluations": self.evaluations,
            "passes": self.passes,
            "score": self.score if self.evaluations else None,
            "interval": [self.low, self.high],
        }


@dataclass(frozen=True)
class Selection(Printed):
    """The result of :func:`topalpha.select`.

    Attributes
    ----------
    result
        The result of the search, with its certificate.
    scores
        Every drawn candidate, the chosen one first, then by score.
    evaluations
        Results that came back. With several evaluations at a time more may have been running at the end.
    examples
        The size of the test set.

    Examples
    --------
    >>> from topalpha import select
    >>> chosen = select(["a", "b", "ab"], list("abbabab"), lambda word, letter: letter in word, epsilon=0.2)
    >>> chosen.candidate, chosen.stopped, chosen.evaluations <= chosen.full_evaluations
    ('ab', True, True)
    """

    result: Result
    scores: tuple[Score, ...]
    evaluations: int
    examples: int

    @property
    def candidate(self) -> Any:
        """The candidate to use."""
        return self.result.candidate

    @property
    def index(self) -> int | None:
        """Its position in the list of candidates; None if a function draws them."""
        return self.scores[0].index

    @property
    def score(self) -> float:
        """The fraction of its examples that it passed."""
        return self.scores[0].score

    @property
    def certificate(self) -> Certificate:
        """The certificate of the search."""
        assert self.result.certificate is not None
        return self.result.certificate

    @property
    def stopped(self) -> bool:
        """Whether the target is proved; if not, the certificate holds weaker statements."""
        return self.result.stopped

    @property
    def statement(self) -> str:
        """The proved statement."""
        name = called(quotation(self.candidate), self.result.arm)
        place = "" if self.index is None else f" (index {self.index})"
        examples = "this example" if self.examples == 1 else f"these {self.examples} examples"
        return statement(self.certificate, f"the score of {name}{place} on {examples} is")

    @property
    def full_evaluations(self) -> int:
        """The cost of evaluating every drawn candidate on every example."""
        return len(self.scores) * self.examples

    @property
    def saved(self) -> float:
        """The fraction of full evaluation that was not needed."""
        return 1.0 - self.evaluations / self.full_evaluations

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {
            "statement": self.statement,
            "stopped": self.stopped,
            "candidate": quotation(self.candidate),
            "index": self.index,
            "score": self.score,
            "evaluations": self.evaluations,
            "full_evaluations": self.full_evaluations,
            "scores": [score.to_dict() for score in self.scores],
            "certificate": self.certificate.to_dict(),
        }

    def _facts(self) -> list[tuple[str, str]]:
        spent = f"{self.evaluations:,} of {self.full_evaluations:,} evaluations ({100.0 * self.saved:.0f}% saved)"
        chosen = titled(quotation(self.candidate), self.result.arm, self.index)
        return [("chosen", chosen), ("proved", self.statement), ("spent", spent)]

    def _table(self) -> Table:
        listed = self.index is not None
        headings = ("score", "interval", "evaluations", *["index"] * listed, "candidate")
        rows = [_row(one, listed) for one in self.scores[:_ROWS]]
        return Table(headings, rows, len(self.scores) - len(rows))


def _row(one: Score, listed: bool) -> list[str]:
    score = f"{one.score:.3f}" if one.evaluations else ""
    figures = [score, f"[{one.low:.3f}, {one.high:.3f}]", f"{one.evaluations:,}", *[str(one.index)] * listed]
    return [*figures, short_name(quotation(one.candidate), _WIDTH)]


def scores_of(session: Session, calls: Calls) -> list[Score]:
    """The scores of all candidates of this session, by arm."""
    model, level = session.model, session.task.delta / session.algorithm.arms
    family = reward_model(session.task.family, items=session.task.items).family  # also where former rules decide
    scores = []
    for arm, seen in enumerate(session.rewards[: len(session.candidates)]):
        ends = interval(family, map(model.to_internal, seen), session.algorithm.epsilon, level)
        low, high = map(model.to_user, ends)
        passes = round(sum(seen)) if isinstance(family, PassFail) else sum(seen)
        scores.append(
            Score(session.candidates[arm], calls.place(arm) if calls.pool else None, len(seen), passes, low, high)
        )
    return scores


def selection_of(session: Session, calls: Calls, result: Result) -> Selection:
    """The choice made by this search."""
    scores = scores_of(session, calls)
    chosen = scores.pop(result.arm)
    scores.sort(key=lambda one: (-one.score if one.evaluations else math.inf, -one.evaluations))
    return Selection(result, (chosen, *scores), session.told, session.task.items)


def interval(family: Any, scores: Iterable[float], epsilon: float, level: float) -> tuple[float, float]:
    """A two-sided interval for a score on all items of the family, from the first ones in a random order.

    It fails with probability at most ``level``, for any reason to stop; it is tightest at widths of about ``epsilon``.

    Examples
    --------
    >>> interval(PassFail(100), [1.0] * 30 + [0.0] * 10, 0.05, 0.05)
    (0.56, 0.87)
    >>> interval(PassFail(4), [1.0, 0.0, 1.0, 1.0], 0.05, 0.05)
    (0.75, 0.75)
    """
    threshold = math.log(2.0 / level)
    bounds = bounds_for(family, "tilt", epsilon, threshold, threshold)
    columns = [[0.0] for _ in range(EXTRA + bounds.extra)]
    history, lookup = History(0, 1, [0], columns, []), bounds.tables()
    for score in scores:
        history.pulls[0] += 1
        history.stats[SUM][0] += score
        bounds.fold(history, lookup, 0, score)
    return (bounds.lower_now(history, lookup, 0), columns[UPPER][0]) if history.pulls[0] else (0.0, 1.0)
