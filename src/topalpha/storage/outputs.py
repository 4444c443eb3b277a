"""What lies under a file name, and writing there in one step: whole or not at all, never over a record."""

from __future__ import annotations

import errno
import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from topalpha.validate import file_name, require

#: A file name, or None for no file.
File = str | os.PathLike[str] | None
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


def writable(name: str, output: str | os.PathLike[str], *spared: File) -> Path:
    """The real path of ``output``; raise unless a plain file may be written there. Call it before the work begins.

    Plain files, new names and links to them may be written. Storage files, SQLite's files next to them and ``spared``
    may not: ``spared`` are files that the caller reads, or that a search of the caller is about to write.

    Examples
    --------
    >>> writable("output", "searches.png", "searches.db").name
    'searches.png'
    >>> writable("json", "searches.db-wal", "searches.db")
    Traceback (most recent call last):
    ValueError: json must be a separate file from 'searches.db', got 'searches.db-wal'
    >>> writable("json", ".")
    Traceback (most recent call last):
    ValueError: json must name a file that can be written, got '.' (a directory)
    """
    text = file_name(name, output)
    target = os.path.realpath(text)
    try:
        status = look(text)
        # A file that exists must be writable itself, although its replacement only needs the folder.
        if not os.access(os.path.dirname(target) if status is None else target, os.W_OK):
            raise PermissionError(errno.EACCES, "write-protected")
        for file in (os.fspath(one) for one in spared if one is not None):
            apart = target not in (os.path.realpath(file) + ending for ending in ("", *COMPANIONS))
            if apart and status is not None and os.path.exists(file):
                apart = not os.path.samestat(status, os.stat(file))
            require(apart, name, f"be a separate file from {file!r}", text)
        # Check the names of logs and locks first: opening and closing such a file would drop the locks on it.
        bases = [target.removesuffix(ending) for ending in COMPANIONS if target.endswith(ending)]
        record = any(is_database(one) for one in (*bases, target))
    except OSError as error:
        raise refused(name, text, error) from error
    require(not record, name, "not be a storage file", text)
    return Path(target)


@contextmanager
def draft_of(output: str | os.PathLike[str], *spared: File, name: str = "output") -> Iterator[Path]:
    """A temporary file that replaces ``output`` at the end, unless an exception was raised.

    :func:`writable` is checked before and after the work, because another process may have begun a search there
    meanwhile. In that case the temporary file is kept, and the error names it.

    Examples
    --------
    >>> with draft_of("searches.db", "searches.db"):
    ...     pass
    Traceback (most recent call last):
    ValueError: output must be a separate file from 'searches.db', got 'searches.db'
    """
    target = writable(name, output, *spared)
    draft = target.with_name(f".{target.name[:50]}.{secrets.token_hex(4)}")
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except OSError as error:
        raise refused(name, os.fspath(output), error) from error
    try:
        yield draft
        try:
            writable(name, output, *spared)
        except ValueError as error:
            kept = target.with_name(draft.name[1:])
            os.replace(draft, kept)
            raise ValueError(f"{error}; the output is in {str(kept)!r}") from error
        if target.exists():
            draft.chmod(target.stat().st_mode & 0o777)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def refused(name: str, output: str, error: OSError) -> ValueError:
    """The error for a file that cannot be written, with the reason.

    Examples
    --------
    >>> str(refused("json", "results.json", OSError(errno.ENOSPC, "No space left on device")))
    "json must name a file that can be written, got 'results.json' (No space left on device)"
    """
    reason = error.strerror or type(error).__name__
    return ValueError(f"{name} must name a file that can be written, got {output!r} ({reason})")
