"""The kind of file under a name: a plain file, a database, nothing yet, or something that must be left alone."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from contextlib import closing
from urllib.parse import quote

#: Endings of the files next to a storage file while it is written: SQLite's, and the writer's lock.
COMPANIONS = ("-wal", "-shm", "-journal", "-writer")
#: The first bytes of every SQLite file, and the bytes of the smallest page.
HEADER, SMALLEST = b"SQLite format 3\0", 512

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def look(path: str, *, links: bool = True) -> os.stat_result | None:
    """The status of a plain file, or None for a new name in an existing folder; ``OSError`` for anything else.

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
        # One error number for everything that is not a plain file; the text says which kind.
        raise OSError(errno.EISDIR, _KINDS.get(stat.S_IFMT(status.st_mode), "a link"), path)
    return status


def address(path: str, options: str) -> str:
    """The file as a SQLite URI, for any bytes in its name.

    Examples
    --------
    >>> address("searches 1.db", "mode=ro")
    'file:searches%201.db?mode=ro'
    """
    return f"file:{quote(os.fsencode(path))}?{options}"


def is_database(path: str) -> bool:
    """Whether a SQLite file has this name; ``OSError`` if it cannot be read.

    SQLite itself is asked: closing the file here would drop the locks that this process holds on it.

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
        with open(path, "rb") as stream:  # a damaged database still counts
            return stream.read(len(HEADER)) == HEADER
    return True
