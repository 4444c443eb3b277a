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

#: A file name, or None for no file.
File = str | os.PathLike[str] | None


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
