"""Files of searches: one process writes, others read, and anyone may leave a message.

The writer holds a lock, which the operating system releases when the process ends, in any way.
"""

from __future__ import annotations

import logging
import os
import shlex
import sqlite3
import stat
import sys
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from topalpha.storage import tables
from topalpha.storage.encoding import legible, settings
from topalpha.storage.errors import ALONE, BROKEN, WRITABLE, RecordLost, StorageError, explained, refusal
from topalpha.storage.files import connect, establish, inspect, resolve, size, unaltered, verify
from topalpha.storage.record import Record, log_of, misread
from topalpha.storage.recording import find, lacking, listed, load
from topalpha.storage.rescue import new_names
from topalpha.storage.writer import Step, Writer
from topalpha.validate import choice, real, require

if sys.platform == "win32":
    import msvcrt

    def _seize(descriptor: int) -> None:
        # Lock a byte far behind the process number, which others must be able to read.
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _seize(descriptor: int) -> None:
        # lockf, not flock: a flock is shared with forked workers and would outlive a killed parent.
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


LOGGER = logging.getLogger("topalpha")

#: What rewards must survive, and SQLite's setting for it.
DURABLE = {"process": "NORMAL", "power": "FULL"}

#: Most bytes of a process number; a longer file is not a lock, and is not overwritten.
LONGEST = 32
# Do not follow links and do not wait for FIFOs, where the system supports these flags.
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

#: A lockf lock belongs to the process and lets it lock again: this set prevents that. Its keys name the process
#: because a forked child inherits the set but not the locks.
_held: set[tuple[int, str]] = set()


class WriterLock:
    """The right to write ``path``, held until :meth:`release`.

    The lock is on a separate file, ``<path>-writer``: closing the database file would drop SQLite's locks on it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lock = WriterLock(folder + "/searches.db")
    ...     os.listdir(folder)
    ...     lock.release()
    ...     os.listdir(folder)
    ['searches.db-writer']
    []
    """

    def __init__(self, path: str) -> None:
        self._key = (os.getpid(), path)
        self._released = False
        self._file = path + "-writer"
        if self._key in _held:
            raise refusal(ALONE, path, "this process is writing it")
        while True:
            try:
                self._descriptor = os.open(self._file, _FLAGS, 0o666)
            except OSError as error:
                raise explained(path, error) from error
            status = os.fstat(self._descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > LONGEST:
                os.close(self._descriptor)
                raise refusal("have no other file in place of its lock", path, f"{self._file!r} is not a lock")
            try:
                _seize(self._descriptor)
                current = self._is_current()
            except (BlockingIOError, PermissionError) as error:
                raise refusal(ALONE, path, self._owner()) from error
            except OSError as error:
                os.close(self._descriptor)
                raise explained(path, error) from error
            if current:
                break
            os.close(self._descriptor)  # its owner removed it before we locked it: try again
        _held.add(self._key)
        with suppress(OSError):  # only for error messages of other processes
            os.ftruncate(self._descriptor, 0)
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, str(os.getpid()).encode())

    def check(self) -> None:
        """Raise unless this process holds the lock."""
        if self._released or self._key[0] != os.getpid():
            raise refusal("be open", self._key[1], "it was closed" if self._released else "by another process")

    def release(self) -> None:
        """Release the lock; does nothing the second time or in a forked child."""
        if self._released or self._key[0] != os.getpid():
            return
        self._released = True
        _held.discard(self._key)
        # Removed before it is unlocked: a process that waits for this file then notices that the file is gone.
        with suppress(OSError):
            os.unlink(self._file)
        os.close(self._descriptor)

    def _is_current(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self._file))
        except FileNotFoundError:
            return False

    def _owner(self) -> str:
        try:
            number = os.read(self._descriptor, LONGEST).decode("ascii", "replace")
        except OSError:
            number = ""
        os.close(self._descriptor)
        return f"process {number} is writing it" if number.isdigit() else "another process is writing it"


class Storage:
    """A file of searches, open for writing by this process alone; the first search creates the file.

    A file that is not an undamaged topalpha file is refused and left alone. After a failed write (no room, a lock)
    everything acknowledged is on disk, nothing of the failed write is, and every further write raises the same error.
    Calls must not overlap, but may come from different threads.

    Parameters
    ----------
    path
        The file. While it is open, files with the endings ``-wal``, ``-shm`` and ``-writer`` lie next to it.
    durable
        "process": rewards survive the end of the process, also by kill -9. "power": they also survive a power failure,
        at the price of waiting for the disk at every reward.
    interval
        Seconds for which rewards may wait in memory; 0 means that each is on disk when ``tell`` returns.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Storage(folder + "/searches.db") as storage:
    ...     record = storage.create("first", {"alpha": 0.05})
    ...     storage.names(), storage.open().config, storage.open() is record
    (['first'], {'alpha': 0.05}, True)
    """

    def __init__(self, path: str | os.PathLike[str], *, durable: str = "process", interval: float = 0.0) -> None:
        self._synchronous = DURABLE[choice("durable", durable, DURABLE)]
        self._interval = real("interval", interval)
        require(self._interval >= 0.0, "interval", "be at least 0", interval)
        self.path = resolve(path)
        self._records: dict[str, Record] = {}
        if size(self.path) > 0:
            # Before locking, which creates a file: nothing must be created next to a foreign file.
            inspect(self.path)
        if os.path.exists(self.path) and not os.access(self.path, os.W_OK):
            raise refusal(WRITABLE, self.path)
        self._lock = WriterLock(self.path)
        try:
            #: None until the first search creates the file: a file without a search could not be resumed.
            self._writer = None if size(self.path) == 0 else self._connected()
        except BaseException:
            self._lock.release()
            raise

    def _connected(self) -> Writer:
        verify(self.path)
        return Writer(self.path, self._synchronous)

    def create(self, name: str, config: Mapping[str, Any], *, pickle: bool = False) -> Record:
        """A new search. ``pickle`` allows any object as a candidate; loading it later must be allowed explicitly."""
        require(isinstance(name, str) and name != "" and legible(name) == name, "name", "be text", name)
        text = settings("config", config)
        if name in self.names():
            on = f"resume=True, topalpha.resume or, on the command line, topalpha resume {shlex.quote(self.path)}"
            held = f"to go on with that search: {on}; for a new one: another name or file"
            raise StorageError(f"name must be new in {self.path!r}, got {name!r}; {held}")
        created = datetime.now(UTC).isoformat(timespec="seconds")
        row = (name, created, text, int(bool(pickle)), "running")
        if self._writer is None:
            establish(self.path, row)
            self._writer = self._connected()
        else:
            self._writer.write([(tables.CREATE, [row])])
        return self.open(name)

    def open(self, name: str | None = None) -> Record:
        """The search of this name, to continue it; without a name, the only one in the file."""
        if self._writer is None:
            self._lock.check()
            raise lacking(self.path, name, [])
        try:
            name = find(self._writer.connection, self.path, name)[1]
            if name not in self._records:
                self._records[name] = Record(self._writer, name, self._interval, self._move)
        except BROKEN as error:
            raise explained(self.path, error) from error
        return self._records[name]

    def names(self) -> list[str]:
        """The names of the searches in the file, in order of creation."""
        if self._writer is None:
            self._lock.check()
            return []
        try:
            return listed(self._writer.connection)
        except BROKEN as error:
            raise explained(self.path, error) from error

    def close(self) -> None:
        """Commit everything and release the file; closing twice does no harm."""
        if self._writer is None:
            self._lock.release()
            return
        if not self._writer.is_ours:
            return
        before = [record.loss for record in self._records.values()]
        try:
            for record in self._records.values():
                if self._writer.is_sound:
                    record.commit()
                    record.look(now=True)
        finally:
            records, self._records = self._records, {}
            self._writer.close()
            self._lock.release()
        for record in records.values():
            if record.loss is not None and record.loss not in before:
                raise record.loss

    def _move(self, found: str) -> None:
        """Continue in a new file with the open searches, and with the other searches if they can still be read."""
        lost, lock = self._writer, self._lock
        if lost is None:  # there was no file to lose
            return
        others = self._others(lost.connection)
        trouble = "no folder could be written"
        for name in new_names(self.path):
            try:
                taken = WriterLock(name)
                try:
                    establish(name)
                    writer = Writer(name, self._synchronous)
                    writer.write([step for record in self._records.values() for step in record.rows()] + others)
                    for record in self._records.values():
                        if (wrong := misread(name, record.remembered())) is not None:
                            raise StorageError(wrong)
                except BaseException:
                    taken.release()
                    raise
            except StorageError as error:
                trouble = str(error)
                continue
            loss = RecordLost(self.path, found, name)
            break
        else:
            lost.failure = lost.failure or RecordLost(self.path, found, trouble=trouble)
            raise RecordLost(self.path, found, trouble=trouble)
        LOGGER.warning("topalpha: %s", loss)
        self.path, self._writer, self._lock = name, writer, taken
        for record in self._records.values():
            record.moved_to(writer, loss)
        lost.retire()
        lock.release()

    def _others(self, connection: sqlite3.Connection) -> list[Step]:
        """The searches that are not open, as far as the connection can still read them."""
        steps: list[Step] = []
        try:
            for name in listed(connection):
                if name not in self._records:
                    search = find(connection, self.path, name)
                    logs = log_of(search[0], load(connection, self.path, name))
                    steps += [(tables.RESTORE, [search]), *logs]
        except (*BROKEN, StorageError) as error:
            LOGGER.warning("topalpha: other searches in %r cannot be saved: %s", self.path, error)
            return []
        return steps

    def __enter__(self) -> Storage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def post(path: str | os.PathLike[str], name: str | None, text: str) -> None:
    """Leave a message for a search, running or not, from any process.

    Parameters
    ----------
    path, name
        The file, and the name of the search in it; None for the only one.
    text
        The message. Searches obey ``pause``, ``continue`` and ``stop``, and ignore anything else.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Storage(folder + "/searches.db") as storage:
    ...     record = storage.create("first", {})
    ...     post(storage.path, "first", "stop")
    ...     record.take_messages(), record.take_messages()
    (['stop'], [])
    """
    require(isinstance(text, str), "text", "be text", text)
    file = resolve(path)
    inspect(file)
    if not os.access(file, os.W_OK):
        raise refusal(WRITABLE, file)
    try:
        with closing(connect(file, "mode=rw")) as connection:
            unaltered(connection, file)
            search = find(connection, file, name)[0]
            # One statement is one transaction: two processes that post at once get two numbers.
            connection.execute(tables.POST, {"search": search, "at": time.time(), "text": legible(text)})
    except BROKEN as error:
        raise explained(file, error) from error
