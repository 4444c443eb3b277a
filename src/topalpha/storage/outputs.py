"""Writing a file in one step: whole or not at all, and never over the record of a search."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from topalpha.storage.places import COMPANIONS, is_database, look
from topalpha.validate import file_name, require

#: A file, or None where there is none.
File = str | os.PathLike[str] | None


def writable(name: str, output: str | os.PathLike[str], *spared: File) -> Path:
    """Where ``output`` leads, if a plain file may be written there; whoever writes asks before the work begins.

    Plain files and new names may be written, and links to them. Storage files may not, nor the files that SQLite keeps
    next to them, nor ``spared``: the files that the caller reads, or that a search of the caller's is about to write.

    Examples
    --------
    >>> writable("output", "searches.png", "searches.db").name
    'searches.png'
    >>> writable("json", "searches.db-wal", "searches.db")
    Traceback (most recent call last):
    ValueError: json must be a file of its own, apart from 'searches.db', got 'searches.db-wal'
    >>> writable("json", ".")
    Traceback (most recent call last):
    ValueError: json must name a file that can be written, got '.' (a directory)
    """
    text = file_name(name, output)
    target = os.path.realpath(text)
    try:
        status = look(text)
        # The folder as well: what is written takes the old file's place.
        if not os.access(os.path.dirname(target) if status is None else target, os.W_OK):
            raise PermissionError(errno.EACCES, "write-protected")
        for file in (os.fspath(one) for one in spared if one is not None):
            apart = target not in (os.path.realpath(file) + ending for ending in ("", *COMPANIONS))
            if apart and status is not None and os.path.exists(file):
                apart = not os.path.samestat(status, os.stat(file))
            require(apart, name, f"be a file of its own, apart from {file!r}", text)
        # The names of logs and locks come first: to open such a file and close it drops the locks on it.
        bases = [target.removesuffix(ending) for ending in COMPANIONS if target.endswith(ending)]
        record = any(is_database(one) for one in (*bases, target))
    except OSError as error:
        raise refused(name, text, error) from error
    require(not record, name, "not be a storage file", text)
    return Path(target)


@contextmanager
def draft_of(output: str | os.PathLike[str], *spared: File, name: str = "output") -> Iterator[Path]:
    """A file to write to, which takes the place of ``output`` at the end, if nothing went wrong before.

    :func:`writable` decides what may be replaced, before the work and after it: another process may have begun a search
    there meanwhile. Then the draft stays, and the error says where.

    Examples
    --------
    >>> with draft_of("searches.db", "searches.db"):
    ...     pass
    Traceback (most recent call last):
    ValueError: output must be a file of its own, apart from 'searches.db', got 'searches.db'
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
            raise ValueError(f"{error}; what was to be written there is in {str(kept)!r}") from error
        if target.exists():
            draft.chmod(target.stat().st_mode & 0o777)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def refused(name: str, output: str, error: OSError) -> ValueError:
    """The error that says why a file cannot be written.

    Examples
    --------
    >>> str(refused("json", "results.json", OSError(errno.ENOSPC, "No space left on device")))
    "json must name a file that can be written, got 'results.json' (No space left on device)"
    """
    reason = error.strerror or type(error).__name__
    return ValueError(f"{name} must name a file that can be written, got {output!r} ({reason})")
