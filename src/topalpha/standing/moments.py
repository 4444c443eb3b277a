"""How a search stands now, and how it stood before: from a result, a search, a recording or a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from topalpha.ask_tell import Log, Result, Search, Standing, Trail, at_rest, begun_again, replay, stand, steps
from topalpha.certificate import Certificate
from topalpha.session import RUNNING, Session, confirmed, recorded_task
from topalpha.storage import Recording, read
from topalpha.validate import require, whole

#: See :data:`ALLOWED`; or an object with a ``result``, as a selection is.
Source: TypeAlias = Any

ALLOWED = "be a Result, a Search, a Session, a Recording or the path of a storage file"


@dataclass(frozen=True)
class Origin:
    """A log of a search, with its name, status, reward model and certificate.

    Attributes
    ----------
    log
        The asks and tells, to run them again.
    name, status, family
        The search's name in its file, its status, and its reward model.
    certificate
        The certificate at its end; None before. A certificate in a file is computed again.
    replayed
        The search as it stands, if it has already been replayed.

    Examples
    --------
    >>> from topalpha import design
    >>> search = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    >>> search.tell_many([(pull, 0.5) for pull in search.ask_many(3)])
    >>> origin = origin_of(search)
    >>> origin.status, origin.family, origin.present().history.t
    ('running', 'bernoulli', 3)
    """

    log: Log
    name: str | None
    status: str
    family: str
    certificate: Certificate | None
    replayed: Search | None = None

    def fresh(self) -> Search:
        """A new search."""
        if isinstance(self.log, Trail):
            return begun_again(self.log)
        assert isinstance(self.log, Recording)
        task = recorded_task(self.log.config)
        return Search(task.design(), task.seed, model=task.model)

    def present(self) -> Search:
        """The search as it stands."""
        if self.replayed is not None:
            return self.replayed
        if isinstance(self.log, Trail) and self.log.stopped:
            return at_rest(self.log)
        search = self.fresh()
        replay(self.log, search)
        return search


def origin_of(source: Source, name: str | None = None) -> Origin:
    """The origin of a source; ``name`` is the search, if the source is a file with several.

    Pickled candidates are not loaded. A certificate that disagrees with the recorded pulls raises
    :class:`topalpha.session.Refuted`.

    Examples
    --------
    >>> origin_of("/nowhere.db")
    Traceback (most recent call last):
    topalpha.storage.errors.StorageError: path must exist, got '/nowhere.db'
    """
    if isinstance(source, str | os.PathLike):
        source = read(source, name)
    if isinstance(source, Recording):
        family = recorded_task(source.config).family
        if source.certificate is None:
            return Origin(source, source.name, source.status, family, None)
        proved, session = confirmed(source)
        return Origin(source, source.name, source.status, family, proved, session)
    if isinstance(source, Search):
        record = source.record if isinstance(source, Session) else None
        called = None if record is None else record.name
        return Origin(source.trail, called, source.trail.status, source.model.text, None)
    found = source if isinstance(source, Result) else getattr(source, "result", None)
    require(isinstance(found, Result), "source", ALLOWED, source)
    assert isinstance(found, Result)
    require(found.trail is not None, "source", "be a Result of a search", found)
    assert found.trail is not None
    status = found.trail.status if found.certificate is None else found.certificate.reason
    return Origin(found.trail, None, status, found.trail.model.text, found.certificate)


def standing(source: Source, name: str | None = None) -> Standing:
    """How a search stands now; a file is read once and its search replayed, which takes as long as its decisions did.

    Parameters
    ----------
    source
        A :class:`topalpha.Result`, or an object with one as its ``result``; a :class:`topalpha.Search` or
        :class:`topalpha.Session`; the path of a storage file, also while its search runs; a recording of one; or a
        standing, which is returned.
    name
        The name of the search, if the file holds several.

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
    origin = origin_of(source, name)
    return _now(origin, source if isinstance(source, Search) else origin.present())


def timeline(source: Source, name: str | None = None, *, points: int = 60, arms: int | None = None) -> list[Standing]:
    """How a search stood at about ``points`` moments, evenly spaced in rewards, by running it again.

    The last moment is the present one. Claims are computed for that one only.

    Parameters
    ----------
    source, name
        As for :func:`standing`.
    points
        The number of moments.
    arms
        How many arms each moment tells about: the ones with most pulls at the end, and the leader of the moment. All
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
    require(told > 0, "source", "hold at least one reward", told)
    kept = None if arms is None else _most_pulled(origin.log, whole("arms", arms, 0))
    return list(_moments(origin, _evenly(told, points), kept))


def _moments(origin: Origin, due: set[int], kept: set[int] | None) -> Iterator[Standing]:
    search = origin.fresh()
    passing = replace(origin, status=RUNNING, certificate=None)
    for told in steps(origin.log, search):
        if told in due and search.history.t > 0:
            yield _now(passing, search, kept, proved=False)
    yield _now(origin, search, kept)


def _now(origin: Origin, search: Search, kept: set[int] | None = None, proved: bool = True) -> Standing:
    name, status, family, certificate = origin.name, origin.status, origin.family, origin.certificate
    return stand(search, name=name, status=status, family=family, certificate=certificate, kept=kept, proved=proved)


def _evenly(told: int, points: int) -> set[int]:
    """Evenly spaced numbers of rewards, without the last, which is the present."""
    return {round(told * place / points) for place in range(1, points)} - {0, told}


def _most_pulled(log: Log, count: int) -> set[int]:
    pulled = np.array([arm for arm, _ in log.asks])
    arms, pulls = np.unique(pulled, return_counts=True)
    return set(arms[np.argsort(-pulls, kind="stable")[:count]].tolist())
