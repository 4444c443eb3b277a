"""How a search stands: one answer for the progress line, files, pages, pictures and certificates.

It is computed only here. A snapshot stores it, as figures of the arms and of the whole search; :func:`contest_of` reads
the contest from these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topalpha.ask_tell.forecast import Arms, forecast
from topalpha.ask_tell.search import Search
from topalpha.rules.protocol import SUM, Certifier, Claim, Joining
from topalpha.storage import Row
from topalpha.validate import require

if TYPE_CHECKING:
    from topalpha.certificate import Certificate
    from topalpha.storage import Recording

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Standing:
    """A search at one moment, in the caller's units.

    ``arm``, ``pulls``, ``mean``, ``lower``, ``upper`` and ``pending`` are columns with one entry per arm: its number,
    its number of rewards, their mean (NaN without any), its bounds and its pulls in flight. The bounds are those
    compared by the algorithm, each at its own confidence level, and may be infinite.

    Attributes
    ----------
    name
        The name of the search in its file; None without a file.
    status
        ``running``, ``stopped``, or why it ended early.
    algorithm, family
        Their names; the family as the caller gave it.
    alpha, epsilon, delta, minimise
        The target, and whether small rewards are good.
    bounded
        Whether the algorithm has bounds at any time; without, ``lower`` and ``upper`` are the range of all means.
    total, in_flight, drawn, wanted
        Rewards that count, other pulls asked for, arms drawn, and arms to draw.
    leader
        The returned arm: the algorithm's choice now, or the certificate's at the end. None before the first reward.
    selection
        All returned arms: the leader, or several if several are looked for.
    line
        The level that every other arm's bound must fall under: the leader's lower bound plus epsilon, and of several
        leaders the lowest one. For costs, the level that it must rise above: the leader's upper bound minus epsilon.
        None without bounds or leader.
    reach
        The best possible mean of any arm outside the selection, by its bound; the highest of all means while arms are
        still to be drawn.
    above
        Arms outside the selection whose bound is beyond the line.
    challengers
        The same while the search has not stopped, and then none: a stopping rule that joins the evidence of many arms
        may be met before the last bound falls.
    claims, about
        Proved pairs of alpha and epsilon, all true at once, and the arm they are about: while the search runs the one
        with the largest lower bound, which need not lead.
    others_at_best
        As ``reach``, of all arms that the claims are not about.
    gap
        The proved epsilon minus the target's; None if unknown.
    left
        The estimated number of further pulls; None where it cannot be trusted. See
        ``topalpha.ask_tell.forecast``.
    shown
        The epsilon within which the leader is shown to be: its lower bound against the reach, or what the evidence of
        all arms together shows. The rule is met once it is the target's or less. Infinite if nothing is shown yet, None
        without bounds or leader.
    joined
        Whether the stopping rule joins the evidence of all arms: then ``shown`` decides, and not the bounds.
    certificate
        The certificate at the end; None before, or if none was made.

    Examples
    --------
    >>> from topalpha import search
    >>> from topalpha.standing import standing
    >>> found = search(lambda rng: rng.random(), lambda p, rng: float(rng.random() < p), alpha=0.2, epsilon=0.2,
    ...                algorithm="cc-lucb", progress="none")
    >>> now = standing(found)
    >>> now.leader == found.arm, now.total == found.pulls, now.challengers
    (True, True, ())
    >>> now.line == now.row(now.leader).lower + 0.2, now.others_at_best <= now.line
    (True, True)
    """

    name: str | None
    status: str
    algorithm: str
    family: str
    alpha: float
    epsilon: float
    delta: float
    minimise: bool
    bounded: bool
    total: int
    in_flight: int
    drawn: int
    wanted: int
    leader: int | None
    line: float | None
    others_at_best: float
    above: tuple[int, ...] = field(repr=False)
    arm: NDArray[np.int64] = field(repr=False)
    pulls: NDArray[np.int64] = field(repr=False)
    mean: NDArray[np.float64] = field(repr=False)
    lower: NDArray[np.float64] = field(repr=False)
    upper: NDArray[np.float64] = field(repr=False)
    pending: NDArray[np.int64] = field(repr=False)
    claims: tuple[Claim, ...] = ()
    about: int | None = None
    certificate: Certificate | None = field(default=None, repr=False)
    selection: tuple[int, ...] = ()
    # Standings pickled by earlier versions have none of these.
    reach: float = field(default=math.nan, repr=False)
    gap: float | None = field(default=None, repr=False)
    left: int | None = field(default=None, repr=False)
    shown: float | None = field(default=None, repr=False)
    joined: bool = field(default=False, repr=False)

    @property
    def stopped(self) -> bool:
        """Whether the stopping rule was met."""
        return self.status == "stopped"

    @property
    def challengers(self) -> tuple[int, ...]:
        """Arms whose bound still contests the leader."""
        return () if self.stopped else self.above

    @property
    def evidence(self) -> float | None:
        """The share of the needed evidence that there is: the target's epsilon over the one shown, at most 1.

        It is 1 exactly while the condition to stop holds, which some rules check only now and then. None if unknown.
        """
        return share_of_evidence(self.epsilon, self.shown)

    @property
    def rest(self) -> float | None:
        """The best mean of any other arm that the evidence leaves open: the search stops once it crosses the line.

        With separate bounds it is the reach. None without a line; beyond all means if nothing is shown.
        """
        if self.line is None or self.shown is None:
            return None
        if math.isinf(self.shown):
            return -math.inf if self.minimise else math.inf
        beyond = self.shown - self.epsilon
        return self.line - beyond if self.minimise else self.line + beyond

    @property
    def rows(self) -> list[Row]:
        """The columns as rows, one for each arm; the mean is None without rewards."""
        means = [None if math.isnan(mean) else mean for mean in self.mean.tolist()]
        columns = (self.lower.tolist(), self.upper.tolist(), self.pending.tolist())
        return list(map(Row, self.arm.tolist(), self.pulls.tolist(), means, *columns))

    def row(self, arm: int) -> Row:
        """The figures of one arm."""
        place = int(np.searchsorted(self.arm, arm))
        known = place < len(self.arm) and self.arm[place] == arm
        require(bool(known), "arm", "have a row in the standing", arm)
        mean = float(self.mean[place])
        ends = (float(self.lower[place]), float(self.upper[place]), int(self.pending[place]))
        return Row(arm, int(self.pulls[place]), None if math.isnan(mean) else mean, *ends)


def stand(
    search: Search,
    *,
    name: str | None = None,
    status: str | None = None,
    family: str | None = None,
    certificate: Certificate | None = None,
    ended: bool = False,
    kept: set[int] | None = None,
    proved: bool = True,
    weighed: bool = True,
) -> Standing:
    """How this search stands.

    Parameters
    ----------
    search
        The search.
    name, status, family, certificate
        Facts of a file or a result beside the pulls.
    ended
        Whether the search has ended, as one with a certificate has: before the stop it returns the arm of its claims.
    kept
        The arms to include, beside the leader; by default all. Counts always cover all arms.
    proved
        Whether to compute the claims, which may take a while.
    weighed
        Whether to weigh the evidence of all arms together, if the rule joins it; with thousands of arms it takes a
        while. Without, ``shown`` and ``left`` are unknown.

    Examples
    --------
    >>> from topalpha import design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, float(pull.arm == 1)) for pull in search.ask_many(10)])
    >>> now = stand(search)
    >>> now.leader, now.challengers, now.gap > 0.0, now.shown > now.epsilon
    (1, (0, 2, 3, 4, 5, 6, 7, 8, 9), True, True)
    """
    history, algorithm, model = search.history, search.algorithm, search.model
    arm, bounded, minimise = np.arange(history.arms), isinstance(algorithm, Certifier), model.minimise
    lowers, uppers = np.array(list(map(search.lower, arm.tolist()))), np.array(list(map(search.upper, arm.tolist())))
    ends = model.offset + model.factor * lowers, model.offset + model.factor * uppers
    lower, upper = reversed(ends) if minimise else ends
    pulls = np.array(history.pulls[: history.arms], dtype=np.int64)
    totals = np.array(history.stats[SUM][: history.arms])
    mean = model.offset + model.factor * np.divide(totals, pulls, np.full(len(arm), math.nan), where=pulls > 0)
    ended = ended or (certificate is not None and certificate.reason != "running")
    leader, selection, named = (None, (), None) if history.t == 0 else _named(search, lowers, ended)
    epsilon = algorithm.epsilon * abs(model.factor)
    around = contest(arm, lower, upper, selection if bounded else (), epsilon, minimise)
    highest, lowest = model.to_user(algorithm.family.highest), model.to_user(algorithm.family.lowest)
    missing = history.t == 0 or history.arms < algorithm.arms

    def best(bound: float | None) -> float:
        return highest if missing else lowest if bound is None else bound

    spoken_of = selection if search.stopped or named is None else (named,)
    about = named if proved or certificate is not None else None
    claims, gap = _proved(search, about)
    reached = best(around.reach)
    joined = isinstance(algorithm, Joining)
    shown = _shown(search, leader, around.line, reached, epsilon) if weighed or not joined else None
    arms = Arms(pulls.astype(float), mean, lower, upper)
    left = None if missing or shown is None else _left(search, arms, selection, epsilon, shown)
    told = np.ones(len(arm), dtype=bool) if kept is None else np.isin(arm, [*kept, -1 if leader is None else leader])
    return Standing(
        name=name,
        status=status or ("stopped" if search.stopped else "running"),
        algorithm=search.traits.name,
        family=model.text if family is None else family,
        alpha=algorithm.alpha,
        epsilon=epsilon,
        delta=algorithm.delta,
        minimise=minimise,
        bounded=bounded,
        total=history.t,
        in_flight=history.in_flight,
        drawn=history.arms,
        wanted=algorithm.arms,
        leader=leader,
        line=around.line,
        others_at_best=best(_best_outside(arm, lower, upper, spoken_of, minimise)),
        above=around.above,
        arm=arm[told],
        pulls=pulls[told],
        mean=mean[told],
        lower=lower[told],
        upper=upper[told],
        pending=np.array(history.pending[: history.arms], dtype=np.int64)[told],
        claims=claims,
        about=about,
        certificate=certificate,
        selection=selection,
        reach=reached,
        gap=gap,
        left=0 if search.stopped else left,
        shown=shown,
        joined=joined,
    )


def _named(search: Search, lowers: Numbers, ended: bool) -> tuple[int, tuple[int, ...], int]:
    """The returned arm, all returned arms, and the arm of the claims."""
    best, selection = search.best, tuple(search.selection)
    if search.stopped:
        return best, selection, best
    named = _strongest(best, lowers)
    return (named, (named,), named) if ended else (best, selection, named)


def _proved(search: Search, about: int | None) -> tuple[tuple[Claim, ...], float | None]:
    """The claims about an arm, and their distance from the target."""
    gap = 0.0 if search.stopped else None
    if about is None:
        return (), gap
    history, algorithm = search.history, search.algorithm
    pulls = np.array(history.pulls[: history.arms])
    if search.stopped or np.count_nonzero(pulls) != algorithm.arms:
        return tuple(proved_claims(search, about)), gap
    # Computing the claims takes longest: do it once.
    found = search.claims(about)
    if found and found[0].alpha == algorithm.alpha:
        factor = abs(search.model.factor)
        gap = (found[0].epsilon / factor - algorithm.epsilon) * factor
    return tuple(proved_claims(search, about, found)), gap


def _shown(search: Search, leader: int | None, line: float | None, reach: float, epsilon: float) -> float | None:
    """The epsilon that is shown of the leader, by the evidence that decides."""
    if leader is None or line is None:
        return None
    found = search.shown(leader)
    if found is None:
        beyond = line - reach if search.model.minimise else reach - line
        found = max(epsilon + beyond, 0.0)
    # Where the rule compares without inverting its bounds, these may differ in the last digit.
    return min(found, epsilon) if search.stopped else found


def _left(search: Search, arms: Arms, selection: Sequence[int], epsilon: float, shown: float) -> int | None:
    """The estimated number of further pulls, by the figures of all arms."""
    pulls, mean, lower, upper = arms
    family, to_user = search.algorithm.family, search.model.to_user
    ends = sorted((to_user(family.lowest), to_user(family.highest)))
    if not ((lower > ends[0]) | (upper < ends[1])).any():
        return None  # the bounds of single arms say nothing
    if not pulls.all() or hasattr(search.algorithm, "design_pulls"):
        return None  # some have no reward, or the number of pulls is not a matter of bounds
    if search.model.minimise:
        mean, lower, upper = -mean, -upper, -lower
    chosen = np.zeros(len(pulls), dtype=bool)
    chosen[list(selection)] = True
    own = min(selection, key=lambda arm: float(lower[arm]))
    leader, others = (Arms(pulls[some], mean[some], lower[some], upper[some]) for some in ([own], ~chosen))
    joined = isinstance(search.algorithm, Joining)
    return forecast(search.history.t, leader, others, epsilon, shown, family.capacity, joined)


def share_of_evidence(epsilon: float, shown: float | None) -> float | None:
    """The share of the needed evidence that there is, from the target's epsilon and the one shown; at most 1.

    Examples
    --------
    >>> share_of_evidence(0.1, 0.4), share_of_evidence(0.1, 0.05), share_of_evidence(0.1, None)
    (0.25, 1.0, None)
    """
    return None if shown is None else 1.0 if shown <= epsilon else epsilon / shown


class Contest(NamedTuple):
    """Line, arms above it and reach, as in :class:`Standing`; None without chosen arms, or without others.

    Examples
    --------
    >>> contest(np.arange(2), np.array([0.25, 0.0]), np.array([0.75, 0.5]), [0], 0.125, minimise=False)
    Contest(line=0.375, above=(1,), reach=0.5)
    """

    line: float | None
    above: tuple[int, ...]
    reach: float | None


def contest(
    arm: NDArray[np.int64], lower: Numbers, upper: Numbers, selection: Sequence[int], epsilon: float, minimise: bool
) -> Contest:
    """The contest for this selection, by the bounds of all arms.

    Examples
    --------
    >>> contest(np.arange(2), np.array([0.25, 0.0]), np.array([0.75, 0.5]), [1], 0.125, minimise=True)
    Contest(line=0.375, above=(0,), reach=0.25)
    """
    chosen = np.isin(arm, selection)
    if not chosen.any():
        return Contest(None, (), None)
    line = float(upper[chosen].max() - epsilon if minimise else lower[chosen].min() + epsilon)
    beyond = lower < line if minimise else upper > line
    reach = _best_outside(arm, lower, upper, selection, minimise)
    return Contest(line, tuple(arm[beyond & ~chosen].tolist()), reach)


def contest_of(recording: Recording) -> tuple[list[int], Contest]:
    """The arms that a recorded search returns, and their contest, from the figures of its last snapshot.

    Nothing else is computed: it is quick, and works for files of all versions.

    Examples
    --------
    >>> from topalpha.storage import Recording
    >>> rows = [Row(0, 9, 0.5, 0.25, 0.75, 0), Row(1, 9, 0.25, 0.0, 0.5, 0)]
    >>> task, progress = {"epsilon": 0.125}, {"leader": 0}
    >>> contest_of(Recording("one", {"task": task}, "running", None, "now", snapshot=rows, progress=progress))
    ([0], Contest(line=0.375, above=(1,), reach=0.5))
    """
    task, progress, rows = recording.config.get("task") or {}, recording.progress or {}, recording.snapshot
    arms = [row.arm for row in rows]
    # At its end a search returns the arms of its certificate.
    selection = _stated(recording.certificate, "arm", arms) or _stated(progress, "leader", arms)
    # Files of older versions do not say whether there are bounds; most algorithms have some.
    bounded = progress.get("bounded") is not False and "epsilon" in task
    lower, upper = np.array([row.lower for row in rows]), np.array([row.upper for row in rows])
    epsilon, minimise = float(task.get("epsilon", 0.0)), bool(task.get("minimise"))
    return selection, contest(np.array(arms, dtype=np.int64), lower, upper, selection * bounded, epsilon, minimise)


def _stated(said: Any, one: str, arms: list[int]) -> list[int]:
    """The selection in a file, or the one arm; empty unless these arms include it."""
    found = (said.get("selection") or [said.get(one)]) if isinstance(said, dict) else []
    return found if isinstance(found, list) and all(arm in arms for arm in found) else []


def _best_outside(
    arm: NDArray[np.int64], lower: Numbers, upper: Numbers, chosen: Sequence[int], minimise: bool
) -> float | None:
    """The best bound of any other arm; None if there is no other."""
    others = ~np.isin(arm, chosen)
    if not others.any():
        return None
    return float(lower[others].min() if minimise else upper[others].max())


def figures_of(search: Search, arm: int) -> Row:
    """The figures of an arm now, in the caller's units.

    Examples
    --------
    >>> from topalpha import design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, float(pull.arm == 1)) for pull in search.ask_many(10)])
    >>> row = figures_of(search, 1)
    >>> row.pulls, row.mean, row.upper
    (1, 1.0, 1.0)
    """
    history, model = search.history, search.model
    pulls = history.pulls[arm]
    mean = model.to_user(history.stats[SUM][arm] / pulls) if pulls else None
    low, high = sorted((model.to_user(search.lower(arm)), model.to_user(search.upper(arm))))
    return Row(arm, pulls, mean, low, high, history.pending[arm])


def strongest(search: Search) -> int:
    """The arm with the largest lower bound, about which most is proved; of ties, the recommended one.

    Examples
    --------
    >>> from topalpha import design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, float(pull.arm == 1)) for pull in search.ask_many(10)])
    >>> strongest(search)
    1
    """
    return _strongest(search.best, np.array(list(map(search.lower, range(search.history.arms)))))


def _strongest(best: int, lowers: Numbers) -> int:
    # Arms without a reward have the lowest possible bound, and so are never better.
    largest = int(lowers.argmax())
    return largest if lowers[largest] > lowers[best] else best


def proved_claims(search: Search, arm: int, claims: list[Claim] | None = None) -> list[Claim]:
    """The informative claims about the arm: an epsilon as wide as the range of means says nothing.

    ``claims`` is the result of :meth:`Search.claims`, if it is already known.

    Examples
    --------
    >>> from topalpha import design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, float(pull.arm == 1)) for pull in search.ask_many(10)])
    >>> [round(claim.epsilon, 2) for claim in proved_claims(search, 1)][:1]
    [0.65]
    """
    algorithm, model = search.algorithm, search.model
    if not algorithm.traits.covered or search.refutation:
        return []
    width = (algorithm.family.highest - algorithm.family.lowest) * abs(model.factor)
    found = search.claims(arm) if claims is None else claims
    curve = [claim for claim in found if claim.epsilon < width]
    if not search.stopped:
        return curve
    asked = Claim(algorithm.alpha, algorithm.epsilon * abs(model.factor))
    return [asked, *(claim for claim in curve if claim.alpha > asked.alpha and claim.epsilon < asked.epsilon)]
