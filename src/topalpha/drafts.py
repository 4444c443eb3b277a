"""Writing a file in one step: whole or not at all, and never over the record of a search."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from topalpha.validate import require

#: What a storage file begins with, and the endings of what lies next to one.
_RECORD, _ENDINGS = b"SQLite format 3\0", ("", "-wal", "-shm", "-writer", "-new")


@contextmanager
def draft_of(output: str | os.PathLike[str], record: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """A file to write to, which takes the place of ``output`` at the end, if nothing went wrong before.

    A storage file is never replaced, and least of all ``record``, the one that is read from. Links are followed. What
    cannot be written says so at once, before the work that leads to it.

    Examples
    --------
    >>> with draft_of("searches.png", record="searches.png"):
    ...     pass
    Traceback (most recent call last):
    ValueError: output must not be the file that is reported on, got 'searches.png'
    """
    target = Path(os.path.realpath(output))
    own = [] if record is None else [os.path.realpath(record) + ending for ending in _ENDINGS]
    require(str(target) not in own, "output", "not be the file that is reported on", os.fspath(output))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "Is a directory", str(target))
    if target.is_file():
        with target.open("rb") as stream:
            require(stream.read(len(_RECORD)) != _RECORD, "output", "not be a storage file", os.fspath(output))
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        draft.touch()
        yield draft
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
