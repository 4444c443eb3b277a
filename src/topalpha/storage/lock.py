"""One writer per file, by a lock that the operating system releases when the process ends, in any way."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress

from topalpha.storage.errors import ALONE, explained, refusal

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
