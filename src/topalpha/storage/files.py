"""Files of searches, made in one step and opened: foreign, damaged and newer ones are recognised before writing."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import lru_cache
from typing import Any, TypeVar

from topalpha.storage import tables
from topalpha.storage.errors import BROKEN, SOUND, StorageError, explained, refusal
from topalpha.storage.outputs import COMPANIONS, SMALLEST, address, draft_of, is_database, look
from topalpha.validate import file_name

Answer = TypeVar("Answer")

#: Seconds to wait for another process that writes: its transactions take microseconds, unless it hangs.
PATIENCE = 5.0
#: How many times a reader starts again because the file changed while it was read.
ATTEMPTS = 8


def resolve(path: str | os.PathLike[str]) -> str:
    """The real path of the file, with links followed; raise unless it is a plain file or a new name.

    Examples
    --------
    >>> resolve("folder/../searches.db") == os.path.join(os.path.realpath("."), "searches.db")
    True
    """
    given = file_name("path", path)
    name = os.path.realpath(given)
    if sqlite3.sqlite_version_info < tables.OLDEST_SQLITE:
        needed = ".".join(map(str, tables.OLDEST_SQLITE))
        raise StorageError(f"SQLite must be version {needed} or later, got {sqlite3.sqlite_version}")
    try:
        look(given)
    except PermissionError as error:
        raise refusal("lie in a directory that may be entered", name, str(error.strerror)) from error
    except OSError as error:
        raise explained(name, error) from error
    for ending in COMPANIONS:
        try:
            look(name + ending, links=False)
            base = name.removesuffix(ending)
            taken = base != name and is_database(base)
        except OSError as error:
            detail = f"{error.filename!r}: {error.strerror}"
            raise refusal("have plain files or none for its log and lock", name, detail) from error
        if taken:
            raise refusal("not be the name of another file's log or lock", name)
    return name


def size(path: str) -> int:
    """Bytes in a file; 0 if there is none.

    Examples
    --------
    >>> size("nowhere.db")
    0
    """
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def connect(path: str, options: str) -> sqlite3.Connection:
    """A connection that leaves transactions to the caller.

    Examples
    --------
    >>> connection = connect("searches.db", "mode=memory")
    >>> connection.isolation_level is None
    True
    >>> connection.close()
    """
    # Calls must not overlap, but may come from different threads, for example those of an executor.
    where = address(path, options)
    return sqlite3.connect(where, uri=True, isolation_level=None, timeout=PATIENCE, check_same_thread=False)


def consult(path: str, work: Callable[[sqlite3.Connection], Answer]) -> Answer:
    """The result of ``work``, which reads the file as of one moment; nothing is created or changed.

    A file without a log is read as immutable, because a plain reader would leave an empty log behind. If a writer
    opens the file meanwhile, the result is dropped and ``work`` runs again.

    Examples
    --------
    >>> consult("/nowhere.db", lambda connection: None)
    Traceback (most recent call last):
    topalpha.storage.errors.StorageError: path must exist, got '/nowhere.db'
    """
    failure: StorageError | None = None
    for _ in range(ATTEMPTS):
        before = _state(path)
        if before is None:
            raise refusal("exist", path)
        quiet = before[-1] == 0
        try:
            with closing(connect(path, "mode=ro&immutable=1" if quiet else "mode=ro")) as connection:
                connection.execute("PRAGMA temp_store = MEMORY")
                connection.execute("BEGIN")
                if work is not _signature:
                    unaltered(connection, path)
                answer = work(connection)
        except BROKEN as error:
            failure = explained(path, error)
            failure.__cause__ = error
        except StorageError as error:
            failure = error
        else:
            if not quiet or _state(path) == before:
                return answer
            continue
        if _state(path) == before:
            break
    raise refusal("hold still while it is read", path) if failure is None else failure


def unaltered(connection: sqlite3.Connection, path: str) -> None:
    """Raise unless the file has our tables and nothing else: a view or a trigger may show or do anything.

    Examples
    --------
    >>> connection = sqlite3.connect(":memory:")
    >>> unaltered(connection, "searches.db")
    Traceback (most recent call last):
    topalpha.storage.errors.StorageError: path must be an undamaged topalpha file, got 'searches.db' (no table 'arms')
    >>> connection.close()
    """
    found, wanted = set(connection.execute(tables.CONTENTS)), set(contents())
    for kind, name, *_ in sorted(found - wanted, key=repr):
        known = any(name == other for _, other, *_ in wanted)
        raise refusal(SOUND, path, f"the {kind} {name!r} is {'not as it was made' if known else 'foreign'}")
    for kind, name, *_ in sorted(wanted - found, key=lambda row: (row[0] != "table", row[1])):
        raise refusal(SOUND, path, f"no {kind} {name!r}")


def inspect(path: str) -> None:
    """Raise unless the file is a topalpha file of a known version.

    Only the main file is read: its header is complete from the start and never changes.

    Examples
    --------
    >>> inspect("/nowhere.db")
    Traceback (most recent call last):
    topalpha.storage.errors.StorageError: path must exist, got '/nowhere.db'
    """
    if size(path) == 0:
        raise refusal("be a topalpha file", path, "empty") if os.path.exists(path) else refusal("exist", path)
    if size(path) < SMALLEST:  # SQLite treats less than a page as an empty file
        raise refusal(SOUND, path, "file is not a database")
    try:
        with closing(connect(path, "mode=ro&immutable=1")) as connection:
            application, version = _signature(connection)
    except BROKEN as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise explained(path, error) from error
        # A file also looks damaged while a writer copies its log into it, page by page: look again, with the log.
        application, version = consult(path, _signature)
    if application != tables.APPLICATION:
        raise refusal("be a topalpha file", path, "a SQLite file of another application")
    if version > tables.VERSION:
        raise refusal(f"have schema version {tables.VERSION}", path, f"version {version}, of a newer topalpha")
    if version != tables.VERSION:
        raise refusal(SOUND, path, f"schema version {version}")


def verify(path: str) -> None:
    """Raise unless the file is a topalpha file in which SQLite finds no damage.

    Examples
    --------
    >>> verify("/nowhere.db")
    Traceback (most recent call last):
    topalpha.storage.errors.StorageError: path must exist, got '/nowhere.db'
    """
    inspect(path)

    def check(connection: sqlite3.Connection) -> None:
        finding = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if finding != "ok":
            raise refusal(SOUND, path, " ".join(str(finding).split()))

    consult(path, check)


def establish(path: str, *rows: Sequence[Any]) -> None:
    """Put a file with these searches in place: after a kill, either the whole file exists or none.

    Pass the first search as well: a process could not resume from a file without one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     establish(folder + "/searches.db", ("first", "2024-01-01T00:00:00+00:00", "{}", 0, "running"))
    ...     verify(folder + "/searches.db")
    ...     os.listdir(folder)
    ['searches.db']
    """
    left = [path + ending for ending in ("-wal", "-journal") if size(path + ending) > 0]
    if left:  # SQLite would apply the old file's log to the new file
        raise refusal("have no log of a file that is gone beside it", path, f"move {left[0]!r} away")
    try:
        with draft_of(path, name="path") as draft, draft.open("wb") as stream:
            stream.write(image(*rows))
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise explained(path, error) from error
    except ValueError as error:
        raise StorageError(*error.args) from error


@lru_cache(maxsize=1)
def contents() -> tuple[tuple[str, str, str, str | None], ...]:
    """The tables and indexes of our files, as :data:`topalpha.storage.tables.CONTENTS` lists them.

    Examples
    --------
    >>> [name for kind, name, *_ in contents() if kind == "table"][:3]
    ['arms', 'asks', 'failures']
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.executescript(tables.TABLES)
        return tuple(connection.execute(tables.CONTENTS))
    finally:
        connection.close()


def image(*rows: Sequence[Any]) -> bytes:
    """The bytes of a new file with these searches, given as rows of ``CREATE``, to be put in place in one step.

    Examples
    --------
    >>> image(("first", "2024-01-01T00:00:00+00:00", "{}", 0, "running"))[:15]
    b'SQLite format 3'
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.executescript(tables.TABLES)
        connection.executemany(tables.CREATE, rows)
        content = bytearray(connection.serialize())
    finally:
        connection.close()
    # Bytes 18 and 19 of a SQLite file are its write and read version: 2 is the write-ahead log. A database in memory
    # cannot have one; setting it here avoids a later switch, which a kill could interrupt.
    content[18:20] = b"\x02\x02"
    return bytes(content)


def _signature(connection: sqlite3.Connection) -> tuple[int, int]:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    return application, connection.execute("PRAGMA user_version").fetchone()[0]


def _state(path: str) -> tuple[int, int, int, int] | None:
    """Figures that change with every write; the last one is the length of the log."""
    try:
        status = os.stat(path)
        return status.st_ino, status.st_size, status.st_mtime_ns, size(path + "-wal")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise explained(path, error) from error
