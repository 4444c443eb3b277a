"""How a search stands, and how it came to that: what figures, reports and tables show, in the caller's units."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from topalpha.ask_tell import Log, Search, steps
from topalpha.certificate import Certificate, proved_claims, strongest
from topalpha.rules.protocol import SUM, Certifier, Claim
from topalpha.session import RUNNING
from topalpha.standing.origin import ALLOWED, Origin, Source, origin_of
from topalpha.storage import Row
from topalpha.validate import require, whole


@dataclass(frozen=True, eq=False)
class Standing:
    """A search at one moment.

    ``arm``, ``pulls``, ``mean``, ``lower``, ``upper`` and ``pending`` are columns, one entry for each arm that is told
    about: its number, its rewards, their mean (NaN without any), its bounds and its pulls in flight. Bounds are those
    that the algorithm compares, each at a level of its own, and may be infinite.

    Attributes
    ----------
    name
        Of the search in its file; None where there is none.
    status
        ``running``, ``stopped``, or why it ended early.
    algorithm, family
        Names of both; the family as the caller gave it.
    alpha, epsilon, delta, minimise
        The target, and whether small rewards are good.
    bounded
        Whether the algorithm has bounds at any time; without, ``lower`` and ``upper`` are the range of all means.
    total, in_flight, drawn, wanted
        Rewards that count, pulls asked for and not among them, arms drawn, and arms that must be.
    leader
        The arm that the algorithm would return now; None before the first reward.
    selection
        All arms that it would return now: the leader, or several where several are looked for.
    line
        The level that every other arm's bound must fall under: the leader's lower bound plus epsilon, and of several
        leaders the lowest one. For costs, the level that it must rise above: the leader's upper bound minus epsilon.
        None without bounds or leader.
    others_at_best
        The best that the mean of any arm outside the selection may be by its bound; infinite while arms have no reward
        yet.
    above
        Arms outside the selection whose bound is beyond the line.
    challengers
        The same while the search has not stopped, and then none: a stopping rule that joins the evidence of many arms
        may be met before the last bound falls.
    claims, about
        Pairs of alpha and epsilon that are proved, all at once, and about which arm.
    certificate
        What the search ended with; None before, or where none was made.

    Examples
    --------
    >>> from topalpha import search
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

    @property
    def stopped(self) -> bool:
        """Whether the stopping rule was met."""
        return self.status == "stopped"

    @property
    def challengers(self) -> tuple[int, ...]:
        """Arms whose bound still contests the leader."""
        return () if self.stopped else self.above

    @property
    def rows(self) -> list[Row]:
        """The columns as rows, one for each arm; the mean is None without rewards."""
        means = [None if math.isnan(mean) else mean for mean in self.mean.tolist()]
        columns = (self.lower.tolist(), self.upper.tolist(), self.pending.tolist())
        return list(map(Row, self.arm.tolist(), self.pulls.tolist(), means, *columns))

    def row(self, arm: int) -> Row:
        """What is told about one arm."""
        place = int(np.searchsorted(self.arm, arm))
        known = place < len(self.arm) and self.arm[place] == arm
        require(bool(known), "arm", "be one that the standing tells about", arm)
        mean = float(self.mean[place])
        ends = (float(self.lower[place]), float(self.upper[place]), int(self.pending[place]))
        return Row(arm, int(self.pulls[place]), None if math.isnan(mean) else mean, *ends)


def standing(source: Source, name: str | None = None) -> Standing:
    """How a search stands now; a file is read once and its search replayed, which takes as long as its decisions did.

    Parameters
    ----------
    source
        A :class:`topalpha.Result`, or something that has one as its ``result``; a :class:`topalpha.Search` or
        :class:`topalpha.Session`; the path of a storage file, also while its search runs; or a recording of one. A
        standing is given back as it is.
    name
        Which search, if the file holds several.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, float(pull.arm == 1)) for pull in search.ask_many(10)])
    >>> now = standing(search)
    >>> now.leader, now.status, len(now.challengers), now.row(1).mean
    (1, 'running', 9, 1.0)
    >>> standing(3)
    Traceback (most recent call last):
    ValueError: source must be a Result, a Search, a Session, a Recording or the path of a storage file, got 3
    """
    if isinstance(source, Standing):
        return source
    if isinstance(source, Search):
        return _now(source, origin_of(source))
    origin = origin_of(source, name)
    return _now(origin.present(), origin)


def timeline(source: Source, name: str | None = None, *, points: int = 60, arms: int | None = None) -> list[Standing]:
    """How a search stood at about ``points`` moments, evenly spaced in rewards, by running it again.

    The last moment is the present one. What is proved is worked out for that one only.

    Parameters
    ----------
    source, name
        As for :func:`standing`.
    points
        How many moments.
    arms
        How many arms each moment tells about: those with most pulls at the end, and whoever leads at that moment. All
        unless given, which for thousands of arms takes a while.

    Examples
    --------
    >>> from topalpha import Search, design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, float(pull.arm == 2))
    >>> moments = timeline(search, points=5)
    >>> [(now.total, now.leader, len(now.challengers)) for now in moments]
    [(4, 2, 3), (9, 2, 8), (13, 2, 9), (18, 2, 5), (22, 2, 0)]
    """
    if isinstance(source, Sequence) and source and all(isinstance(one, Standing) for one in source):
        return list(source)
    require(not isinstance(source, Standing), "source", f"{ALLOWED}: a standing is a single moment", source)
    points = whole("points", points)
    origin = origin_of(source, name)
    told = len(origin.log.tells)
    require(told > 0, "source", "hold a reward at least", told)
    kept = None if arms is None else _most_pulled(origin.log, whole("arms", arms, 0))
    return list(_moments(origin, _evenly(told, points), kept))


def _moments(origin: Origin, due: set[int], kept: set[int] | None) -> Iterator[Standing]:
    search = origin.fresh()
    passing = replace(origin, status=RUNNING, certificate=None)
    for told in steps(origin.log, search):
        if told in due and search.history.t > 0:
            yield _now(search, passing, kept, proved=False)
    yield _now(search, origin, kept)


def _evenly(told: int, points: int) -> set[int]:
    """So many numbers of rewards without the last, which is the present."""
    return {round(told * place / points) for place in range(1, points)} - {0, told}


def _most_pulled(log: Log, count: int) -> set[int]:
    pulled = np.array([arm for arm, _ in log.asks])
    arms, pulls = np.unique(pulled, return_counts=True)
    return set(arms[np.argsort(-pulls, kind="stable")[:count]].tolist())


def _now(search: Search, origin: Origin, kept: set[int] | None = None, proved: bool = True) -> Standing:
    """How this search stands, with a row for all arms or for those kept and the leader."""
    history, algorithm, model = search.history, search.algorithm, search.model
    leader = search.best if history.t > 0 else None
    selection = tuple(search.selection) if history.t > 0 else ()
    bounded = isinstance(algorithm, Certifier)
    above: list[int] = []
    line, others = None, algorithm.family.highest
    if leader is not None and bounded:
        level = min(map(search.lower, selection)) + algorithm.epsilon
        line = model.to_user(level)
        chosen = set(selection)
        rest = {arm: search.upper(arm) for arm in range(history.arms) if arm not in chosen}
        above = [arm for arm, upper in rest.items() if upper > level]
        missing = history.arms < algorithm.arms
        others = algorithm.family.highest if missing else max(rest.values(), default=algorithm.family.lowest)
    arms = [arm for arm in range(history.arms) if kept is None or arm in kept or arm == leader]
    means, lows, highs = [], [], []
    for arm in arms:
        pulls = history.pulls[arm]
        low, high = sorted((model.to_user(search.lower(arm)), model.to_user(search.upper(arm))))
        means.append(model.to_user(history.stats[SUM][arm] / pulls) if pulls else math.nan)
        lows.append(low)
        highs.append(high)
    about: int | None = None
    claims: tuple[Claim, ...] = ()
    if origin.certificate is not None:
        about, claims = origin.certificate.arm, origin.certificate.claims
    elif proved and leader is not None:
        about = leader if search.stopped else strongest(search)
        claims = tuple(proved_claims(search, about))
    return Standing(
        name=origin.name,
        status=origin.status,
        algorithm=search.traits.name,
        family=origin.family,
        alpha=algorithm.alpha,
        epsilon=algorithm.epsilon * abs(model.factor),
        delta=algorithm.delta,
        minimise=model.minimise,
        bounded=bounded,
        total=history.t,
        in_flight=history.in_flight,
        drawn=history.arms,
        wanted=algorithm.arms,
        leader=leader,
        line=line,
        others_at_best=model.to_user(others),
        above=tuple(above),
        arm=np.array(arms, dtype=np.int64),
        pulls=np.array([history.pulls[arm] for arm in arms], dtype=np.int64),
        mean=np.array(means),
        lower=np.array(lows),
        upper=np.array(highs),
        pending=np.array([history.pending[arm] for arm in arms], dtype=np.int64),
        claims=claims,
        about=about,
        certificate=origin.certificate,
        selection=selection,
    )
