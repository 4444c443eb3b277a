"""Telling a running search to pause, to go on or to end."""

from __future__ import annotations

import os
import time

from topalpha.storage.errors import StorageError
from topalpha.storage.overview import Overview, listing
from topalpha.storage.store import post
from topalpha.validate import choice

#: The control messages: start no new pulls for now, go on, and end with what is proved.
PAUSE, CONTINUE, STOP = "pause", "continue", "stop"
ACTIONS = (PAUSE, CONTINUE, STOP)


def control(path: str | os.PathLike[str], name: str | None, action: str) -> str:
    """Tell a search to ``pause``, ``continue`` or ``stop``, and say which; an error if nobody works on it.

    Without a name: the only search that runs. It obeys within a second, as soon as its present pull is over where
    pulls run one by one.

    Parameters
    ----------
    path, name
        The file, and which search in it; None for the only one that runs.
    action
        ``pause``, ``continue`` or ``stop``.

    Examples
    --------
    >>> import tempfile
    >>> from topalpha.storage import Storage
    >>> with tempfile.TemporaryDirectory() as folder, Storage(folder + "/searches.db") as storage:
    ...     record = storage.create("first", {})
    ...     record.snapshot([], {})
    ...     control(storage.path, "first", "pause"), record.take_messages()
    ('first', ['pause'])
    """
    choice("action", action, ACTIONS)
    found = listing(path)
    if name is None:
        found = [one for one in found if one.alive()] or found
        name = found[0].name if len(found) == 1 else None
    one = next((one for one in found if one.name == name), None)
    if one is not None and not one.alive():
        raise StorageError(f"the search must be running to be told to {action}, got {one.name!r}, {_standing(one)}")
    post(path, name, action)
    return str(name)


def _standing(one: Overview) -> str:
    if one.status != "running":
        return f"which has ended ({one.status})"
    if one.updated is None:
        return "which has not begun to run by itself"
    return f"whose last sign of life is {time.time() - one.updated:,.0f} seconds old"
