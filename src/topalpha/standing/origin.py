"""What a search can be read from: a result, the search itself, a recording, or the file that holds one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, TypeAlias

from topalpha.ask_tell import Log, Result, Search, Trail, at_rest, replay
from topalpha.certificate import Certificate
from topalpha.session import Session, confirmed, recorded_task
from topalpha.storage import Recording, read
from topalpha.validate import require

#: What may be given: see :data:`ALLOWED`; or something that has a result, as a selection has.
Source: TypeAlias = Any

ALLOWED = "be a Result, a Search, a Session, a Recording or the path of a storage file"


@dataclass(frozen=True)
class Origin:
    """A log of a search, and what is known beside it.

    Attributes
    ----------
    log
        The asks and tells, to run them again.
    name, status, family
        The search's name in its file, how it stands, and what was said about its rewards.
    certificate
        What it ended with; None before. One in a file is computed again.
    replayed
        The search as it stands, where it has been run again already.

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
        """A search that has not begun."""
        if isinstance(self.log, Trail):
            return Search(self.log.algorithm, self.log.seed, model=self.log.model)
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
    """What a source stands for; ``name`` says which search, if it is a file that holds several.

    Pickled candidates are not loaded. A certificate that the recorded pulls do not bear out raises
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
    require(found.trail is not None, "source", "be a Result that a search returned", found)
    assert found.trail is not None
    status = found.trail.status if found.certificate is None else found.certificate.reason
    return Origin(found.trail, None, status, found.trail.model.text, found.certificate)
