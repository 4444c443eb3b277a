"""Errors of storage files: one class, one sentence each, stating the condition that fails."""

from __future__ import annotations

import errno
import sqlite3
from typing import Any

from topalpha.storage.plain_text import plain

ROOM = "have room left on its disk"
WRITABLE = "be writable, and so its directory"
ALONE = "have no other writer"
SOUND = "be an undamaged topalpha file"

#: What SQLite's primary result codes mean to the owner of the file.
CONDITIONS = {
    sqlite3.SQLITE_FULL: ROOM,
    sqlite3.SQLITE_BUSY: ALONE,
    sqlite3.SQLITE_LOCKED: ALONE,
    sqlite3.SQLITE_READONLY: WRITABLE,
    sqlite3.SQLITE_PERM: WRITABLE,
    sqlite3.SQLITE_CANTOPEN: "be a file that can be opened",
    sqlite3.SQLITE_CORRUPT: SOUND,
    sqlite3.SQLITE_NOTADB: SOUND,
    sqlite3.SQLITE_IOERR: "be on a disk that can be read and written",
}

#: The same for error numbers of the operating system.
REASONS = {
    errno.ENOSPC: ROOM,
    errno.EDQUOT: ROOM,
    errno.EFBIG: ROOM,
    errno.EACCES: WRITABLE,
    errno.EPERM: WRITABLE,
    errno.EROFS: WRITABLE,
    errno.ENOENT: "exist",
    errno.EISDIR: "name a file",
    errno.ENOTDIR: "lie in an existing directory",
}


#: Errors of reading a file. Python may fail to decode SQLite's own message about damaged text.
BROKEN = (sqlite3.Error, UnicodeDecodeError)


class StorageError(ValueError):
    """A file that cannot be used: missing, damaged, foreign, locked, read-only or out of room.

    Examples
    --------
    >>> raise StorageError("path must exist, got 'nowhere.db'")
    Traceback (most recent call last):
    topalpha.storage.errors.StorageError: path must exist, got 'nowhere.db'
    """


class RecordLost(StorageError):
    """A file that was removed, moved, cut or overwritten while a search was recorded in it.

    Parameters
    ----------
    path, found
        The file, and the finding about it.
    saved
        The file to which the whole search was saved; None if saving failed.
    trouble
        Why saving failed.

    Attributes
    ----------
    result
        The proved result, if the caller can still supply one; else None.

    Examples
    --------
    >>> str(RecordLost("one.db", "it is gone", "one-saved.db"))
    "path must stay where it is while a search is recorded in it, got 'one.db' (it is gone); all of the search is saved
    in 'one-saved.db', to be resumed from there"
    """

    def __init__(self, path: str, found: str, saved: str | None = None, trouble: str = "") -> None:
        self.saved = saved
        self.result: Any = None
        where = f"all of the search is saved in {saved!r}, to be resumed from there"
        super().__init__(
            f"path must stay where it is while a search is recorded in it, got {path!r} ({plain(found)}); "
            + (f"the search could not be saved elsewhere: {trouble}" if saved is None else where)
        )


def afresh(error: StorageError) -> StorageError:
    """A copy of the error, to be raised again: raising the same object twice keeps growing its traceback.

    Examples
    --------
    >>> afresh(RecordLost("one.db", "it is gone", "one-saved.db")).saved
    'one-saved.db'
    """
    made = type(error).__new__(type(error), *error.args)
    vars(made).update({name: value for name, value in vars(error).items() if name != "__notes__"})
    return made


def refusal(condition: str, path: str, detail: str = "") -> StorageError:
    """The error ``path must <condition>, got <path> (<detail>)``.

    Examples
    --------
    >>> str(refusal("exist", "nowhere.db"))
    "path must exist, got 'nowhere.db'"
    """
    return StorageError(f"path must {condition}, got {path!r}" + (f" ({plain(detail)})" if detail else ""))


def explained(path: str, error: sqlite3.Error | OSError | UnicodeDecodeError) -> StorageError:
    """An error of SQLite or of the operating system as a :class:`StorageError`.

    Examples
    --------
    >>> str(explained("full.db", OSError(errno.ENOSPC, "No space left on device")))
    "path must have room left on its disk, got 'full.db' (No space left on device)"
    """
    if isinstance(error, OSError):
        return refusal(REASONS.get(error.errno or 0, "be accessible"), path, error.strerror or str(error))
    if isinstance(error, sqlite3.ProgrammingError):
        return refusal("be open", path, str(error))
    code = getattr(error, "sqlite_errorcode", None)
    # The low byte is the primary code, the rest is a subcode; errors of the Python layer have no code.
    condition = CONDITIONS.get(code & 0xFF, SOUND) if code is not None else SOUND
    return refusal(condition, path, str(error))
