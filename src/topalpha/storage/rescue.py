"""A new file for searches whose file was lost while they ran."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

#: How many names to try in a folder.
NAMES = 1000


def new_names(path: str) -> Iterator[str]:
    """Names of new, empty files: beside the lost file, then in the folder for temporary files.

    Each is created when the caller asks for it; a caller that cannot use one asks for the next.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     names = new_names(folder + "/searches.db")
    ...     os.path.basename(next(names)), os.listdir(folder)
    ('searches-saved.db', ['searches-saved.db'])
    """
    stem, ending = os.path.splitext(os.path.basename(path))
    for folder in (os.path.dirname(path), tempfile.gettempdir()):
        for number in range(1, NAMES):
            name = os.path.join(folder, f"{stem}-saved{'' if number == 1 else f'-{number}'}{ending}")
            try:
                os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            except FileExistsError:
                continue
            except OSError:  # this folder cannot be written
                break
            yield name
            break
