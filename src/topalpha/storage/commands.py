"""Commands to a running search: pause, continue, stop."""

from __future__ import annotations

import os
import time

from topalpha.storage.errors import StorageError
from topalpha.storage.overview import Overview, listing
from topalpha.storage.store import post
from topalpha.validate import choice

#: The control messages: start no new pulls for now; continue; end with the proved result so far.
PAUSE, CONTINUE, STOP = "pause", "continue", "stop"
ACTIONS = (PAUSE, CONTINUE, STOP)


def control(path: str | os.PathLike[str], name: str | None, action: str) -> str:
    """Tell a search to ``pause``, ``continue`` or ``stop``; raise if it is not running. Return its name.

    The search obeys within a second, or when its current pull ends if pulls run one by one.

    Parameters
    ----------
    path, name
        The file, and the name of the search in it; None for the only running search.
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
        return "which has not started to run"
    return f"whose last sign of life is {time.time() - one.updated:,.0f} seconds old"
