"""What lies under the name of a file: a plain file, a database, nothing yet, or something that must be left alone."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from contextlib import closing
from urllib.parse import quote

#: Endings of the files that may lie next to a storage file while it is written: SQLite's, and the writer's lock.
COMPANIONS = ("-wal", "-shm", "-journal", "-writer")
#: What a file of SQLite's begins with, and the bytes in the smallest page that it has.
HEADER, SMALLEST = b"SQLite format 3\0", 512

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def look(path: str, *, links: bool = True) -> os.stat_result | None:
    """The status of a plain file, or None for a new name in a folder that is there; ``OSError`` for anything else.

    Nothing is opened: that would wait for the other end of a FIFO. Links are followed unless ``links`` is False.

    Examples
    --------
    >>> look("nothing-yet.json") is None
    True
    >>> look(".")
    Traceback (most recent call last):
    IsADirectoryError: [Errno 21] a directory: '.'
    """
    try:
        status = os.stat(path, follow_symlinks=links)
    except FileNotFoundError:
        if os.path.isdir(os.path.dirname(os.path.realpath(path))):
            return None
        raise NotADirectoryError(errno.ENOTDIR, "No such directory", path) from None
    if not stat.S_ISREG(status.st_mode):
        # One number for all that is no file; the words say which.
        raise OSError(errno.EISDIR, _KINDS.get(stat.S_IFMT(status.st_mode), "a link"), path)
    return status


def address(path: str, options: str) -> str:
    """The file as SQLite's addresses name it, whatever bytes its name has.

    Examples
    --------
    >>> address("searches 1.db", "mode=ro")
    'file:searches%201.db?mode=ro'
    """
    return f"file:{quote(os.fsencode(path))}?{options}"


def is_database(path: str) -> bool:
    """Whether there is a file of SQLite's under this name; ``OSError`` if it cannot be read.

    Asked of SQLite itself, for closing a descriptor of a file drops the locks that this process holds on it: those of a
    search that runs here would be gone.

    Examples
    --------
    >>> is_database("nothing-yet.json")
    False
    """
    if not os.path.isfile(path) or os.stat(path).st_size < SMALLEST:
        return False
    try:
        with closing(sqlite3.connect(address(path, "mode=ro&immutable=1"), uri=True)) as connection:
            connection.execute("PRAGMA schema_version")
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_CANTOPEN:
            raise PermissionError(errno.EACCES, "it cannot be read", path) from error
        if code != sqlite3.SQLITE_NOTADB:
            return True
        with open(path, "rb") as stream:  # one that is damaged is one all the same
            return stream.read(len(HEADER)) == HEADER
    return True
