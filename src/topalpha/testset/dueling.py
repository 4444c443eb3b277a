"""``duel(first, second, examples, evaluate)``: which of two candidates is better, or whether one may be replaced."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from topalpha.algorithms.duel import EQUAL, FIRST, OPEN, SECOND
from topalpha.ask_tell import Result, Task
from topalpha.certificate import Certificate
from topalpha.execution import Calls, arm_of
from topalpha.families.protocols import RewardModel
from topalpha.families.units import reward_model
from topalpha.running import Running, prepare
from topalpha.session import Session
from topalpha.storage.encoding import quotation
from topalpha.testset.selecting import KEPT, awaited, carried_out, fresh_seed, recorded_choice
from topalpha.testset.selection import Score, scores_of
from topalpha.validate import has_length, real, require

_WORDS = ("candidates", "evaluate", "examples")
# The epsilon of a gate without a margin, as a part of the range of scores.
_LEAST = 1e-9


@dataclass(frozen=True)
class DuelResult:
    """The result of :func:`topalpha.duel`.

    Attributes
    ----------
    result
        The result of the search, with its certificate.
    verdict
        ``first`` or ``second`` is better, or they are ``equal`` up to epsilon; of a gate ``pass`` or ``fail``. Or it is
        ``undecided``, because a budget ended the duel.
    interval
        The score of the second candidate less that of the first: with probability at least 1 - delta it lies in here.
        Of a gate each end holds with that probability.
    first, second
        The two candidates with their scores.
    discordant
        The positions of the examples on which the two differ, of those that both were evaluated on: where the first is
        better, and where the second is.
    evaluations, examples
        Results that came back, and the size of the test set.
    margin, epsilon, delta
        The question: the margin of a gate, else None; how near is as good as equal; and how often it may be wrong.

    Examples
    --------
    >>> from topalpha import duel
    >>> found = duel(2, 5, range(1, 101), lambda divisor, number: number % divisor == 0, seed=0)
    >>> found.verdict, found.interval[1] < 0.0, found.evaluations < found.full_evaluations
    ('first', True, True)
    """

    result: Result
    verdict: str
    interval: tuple[float, float]
    first: Score
    second: Score
    discordant: tuple[tuple[int, ...], tuple[int, ...]]
    evaluations: int
    examples: int
    margin: float | None
    epsilon: float
    delta: float

    @property
    def certificate(self) -> Certificate:
        """The certificate of the search."""
        assert self.result.certificate is not None
        return self.result.certificate

    @property
    def candidate(self) -> Any:
        """The candidate to use: the better one; of a gate the second if it passes, else the first."""
        return self.result.candidate

    @property
    def decided(self) -> bool:
        """Whether there is a verdict."""
        return self.verdict != "undecided"

    @property
    def exit_code(self) -> int:
        """For a build pipeline: 0 for a verdict but ``fail``, 1 for ``fail``, 3 if it is undecided."""
        return 3 if not self.decided else 1 if self.verdict == "fail" else 0

    @property
    def full_evaluations(self) -> int:
        """The cost of evaluating both candidates on every example."""
        return 2 * self.examples

    @property
    def statement(self) -> str:
        """The verdict in one sentence."""
        low, high = self.interval
        sure = f"With probability at least {1.0 - self.delta:.10g}"
        where = f"on these {self.examples} examples"
        if self.margin is not None:
            more = f"worse than the first by more than {self.margin:g} {where}"
            if self.verdict == "pass":
                return f"Pass: {sure[0].lower()}{sure[1:]}, the second candidate is not {more}."
            if self.verdict == "fail":
                return f"Fail: {sure[0].lower()}{sure[1:]}, the second candidate is {more}."
            return f"Undecided: whether the second candidate is {more} is not settled."
        between = f"the second candidate's score less the first's lies between {low:.3g} and {high:.3g} {where}"
        words = {
            "first": "The first candidate is better",
            "second": "The second candidate is better",
            "equal": f"They are equal up to {self.epsilon:g}",
            "undecided": "Undecided",
        }
        return f"{words[self.verdict]}: {sure[0].lower()}{sure[1:]}, {between}."

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {
            "statement": self.statement,
            "verdict": self.verdict,
            "interval": list(self.interval),
            "margin": self.margin,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "candidate": quotation(self.candidate),
            "first": self.first.to_dict(),
            "second": self.second.to_dict(),
            "discordant": [list(part) for part in self.discordant],
            "evaluations": self.evaluations,
            "full_evaluations": self.full_evaluations,
            "certificate": self.certificate.to_dict(),
        }

    def __str__(self) -> str:
        saved = 100.0 * (1.0 - self.evaluations / self.full_evaluations)
        ahead, behind = map(len, self.discordant)
        seen = min(self.first.evaluations, self.second.evaluations)
        return "\n".join(
            (
                self.statement,
                f"spent   {self.evaluations:,} of {self.full_evaluations:,} evaluations ({saved:.0f}% saved)",
                f"scores  first {self.first.score:.3f}, second {self.second.score:.3f}",
                f"differ  on {ahead + behind:,} of {seen:,} examples; first better on {ahead:,}, second on {behind:,}",
            )
        )


def duel(
    first: Any,
    second: Any,
    examples: Sequence[Any],
    evaluate: Callable[..., Any],
    *,
    epsilon: float = 0.05,
    delta: float = 0.05,
    margin: float | None = None,
    family: str | RewardModel | None = None,
    seed: int | None = None,
    on_error: str = "raise",
    storage: str | os.PathLike[str] | None = None,
    name: str = "duel",
    resume: bool = False,
    pickle: bool = False,
    durable: str = "process",
    interval: float = 0.0,
    **running: Any,
) -> DuelResult:
    """Compare two candidates on the same examples, with only as many evaluations as the verdict needs.

    Both go through the examples in one random order. The duel ends as soon as one is proved better, or both are proved
    to be within ``epsilon`` of each other, and at the latest after all examples; then the answer is exact. With a
    ``margin`` it is a gate: ``pass`` says that the second is not worse than the first by more than the margin, ``fail``
    that it is.

    Parameters
    ----------
    first, second
        The candidates. The claim is about their scores on these examples. They must be fixed before the duel begins.
    examples, evaluate
        The test set, and ``evaluate(candidate, example)``: a pass or a score; see :func:`topalpha.select`.
    epsilon, delta
        How near is as good as equal, and the allowed probability of a wrong verdict.
    margin
        The margin of a gate, fixed before anything is seen: 0 or more.
    family
        ``"pass-fail"``, the default; ``"graded"`` for scores in [0, 1]; ``"graded(lo,hi)"`` for another range.
    seed
        Seed of the order; by default a fresh one, as it should be where candidates are still being changed.
    on_error, storage, name, resume, pickle, durable, interval
        Failures, and the file that records the duel; see :func:`topalpha.select`.
    **running
        How it runs: executor, workers, width, budget, timeout, progress; see :class:`topalpha.running.Running`.

    Returns
    -------
    DuelResult
        The verdict in a sentence, the interval, the discordant examples, the cost and the certificate.

    Examples
    --------
    >>> from topalpha import duel
    >>> gate = duel(2, 3, range(1, 101), lambda divisor, number: number % divisor == 0, margin=0.25, seed=0)
    >>> gate.verdict, gate.exit_code
    ('pass', 0)
    """
    given = locals()
    how = Running.of(given.pop("running"), given)
    kept = {name: given.pop(name) for name in KEPT}
    task, calls = _asked(**given, recorded=recorded_choice(**kept))
    return carried_out(task, calls, how, kept, verdict_of, "aduel")


async def aduel(
    first: Any, second: Any, examples: Sequence[Any], evaluate: Callable[..., Any], **settings: Any
) -> DuelResult:
    """As :func:`duel`, inside an event loop; ``width`` evaluations are awaited at once, 8 by default.

    Parameters
    ----------
    first, second
        The candidates.
    examples
        The test set.
    evaluate
        ``evaluate(candidate, example)``; a coroutine function is awaited.
    **settings
        All other arguments of :func:`duel`.

    Examples
    --------
    >>> import asyncio
    >>> from topalpha import aduel
    >>> async def passes(divisor, number):
    ...     await asyncio.sleep(0)
    ...     return number % divisor == 0
    >>> asyncio.run(aduel(2, 5, range(1, 101), passes, seed=0)).verdict
    'first'
    """
    how, asked = Running.parted(settings, duel)
    kept = {"name": "duel"} | {name: asked.pop(name) for name in KEPT if name in asked}
    task, calls = _asked(first, second, examples, evaluate, **asked, recorded=recorded_choice(**kept))
    return await awaited(task, calls, how, kept, verdict_of)


def _asked(
    first: Any,
    second: Any,
    examples: Sequence[Any],
    evaluate: Callable[..., Any],
    *,
    margin: float | None = None,
    seed: int | None = None,
    recorded: Task | None = None,
    **target: Any,
) -> tuple[Task, Calls]:
    """The task of a duel, and the functions that evaluate it."""
    require(not isinstance(examples, str | bytes) and examples is not None, "examples", "be a list", examples)
    seed = fresh_seed(seed, recorded)
    options: dict[str, Any] = {"first": 1 + arm_of(seed, 2, 0)}
    if margin is not None:
        listed = has_length(examples) and len(examples) > 0  # else it is refused below
        unit = abs(reward_model(target.get("family"), items=len(examples) if listed else 1).factor)
        inside = 0.0 <= real("margin", margin) < unit
        require(inside, "margin", f"lie in [0, {unit:g})", margin)
        options["margin"] = margin / unit
        # The certificate claims what either answer implies: the candidate to use is at most the margin below the other.
        target["epsilon"] = max(margin, _LEAST * unit)
    target |= {"alpha": 0.5, "algorithm": "duel", "options": options, "seed": seed}
    return prepare([first, second], evaluate, items=examples, words=_WORDS, **target)


def verdict_of(session: Session, calls: Calls, result: Result) -> DuelResult:
    """The verdict of this duel, as it stands."""
    algorithm: Any = session.algorithm
    task, history, model = session.task, session.history, session.model
    found = algorithm.found(history) if result.stopped else OPEN
    gate = algorithm.gate
    words = {FIRST: "fail", SECOND: "pass"} if gate else {FIRST: "first", SECOND: "second", EQUAL: "equal"}
    both = len(session.candidates) == 2 and min(history.pulls[:2]) > 0
    low, high = algorithm.interval(history) if both else (-1.0, 1.0)
    unit = abs(model.factor)
    one = algorithm.first - 1
    scores = scores_of(session, calls)
    ends = model.to_user(0.0), model.to_user(1.0)
    scores += [Score(calls.candidate(arm), calls.place(arm), 0, 0, *ends) for arm in range(len(scores), 2)]
    apart = algorithm.differences(history, one, 1 - one) if both else []
    order = calls.order(0)
    return DuelResult(
        result=result,
        verdict=words.get(found, "undecided"),
        interval=(max(low, -1.0) * unit, min(high, 1.0) * unit),
        first=scores[one],
        second=scores[1 - one],
        discordant=(
            tuple(sorted(int(order[place]) for place, value in enumerate(apart) if value < 0.0)),
            tuple(sorted(int(order[place]) for place, value in enumerate(apart) if value > 0.0)),
        ),
        evaluations=session.told,
        examples=task.items,
        margin=algorithm.margin * unit if gate else None,
        epsilon=task.epsilon,
        delta=task.delta,
    )
