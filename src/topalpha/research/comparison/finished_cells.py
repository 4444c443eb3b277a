"""Measured cells on disk: one line per cell, so that a crash loses only the current cell."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from topalpha import __version__
from topalpha.research.comparison.configuration import Comparison
from topalpha.storage.outputs import draft_of, refused, writable
from topalpha.storage.store import WriterLock
from topalpha.validate import require

#: The files of a comparison in its folder.
CONFIGURATION, CELLS = "comparison.json", "cells.jsonl"


class FinishedCells:
    """A folder with the configuration and the finished cells; a context manager that locks the folder.

    Parameters
    ----------
    folder
        Created if it does not exist. A folder with another comparison is refused, and left unchanged.
    comparison
        The configuration.

    Examples
    --------
    >>> import tempfile
    >>> from topalpha.research.comparison.configuration import ComparisonCase, Contender
    >>> comparison = Comparison((Contender("cc-lucb"),), (ComparisonCase("dirac(0.5)", 0.1, 0.1, 0.05),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with FinishedCells(folder, comparison) as finished:
    ...         finished.add({"key": "one", "pulls": 3})
    ...     with FinishedCells(folder, comparison) as finished:
    ...         finished.rows
    {'one': {'key': 'one', 'pulls': 3}}
    """

    def __init__(self, folder: str | os.PathLike[str], comparison: Comparison) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ValueError(f"folder must be writable ({reason}), got {str(folder)!r}") from error
        # Checked under their own names, so that links may lead elsewhere, but not to files that must be left alone.
        self._configuration, self._cells = (writable(name, self.folder / name) for name in (CONFIGURATION, CELLS))
        self._lock = WriterLock(str(self._cells))
        try:
            self._open(comparison)
        except BaseException:
            self._lock.release()
            raise

    def __enter__(self) -> FinishedCells:
        return self

    def __exit__(self, *exception: object) -> None:
        self._lock.release()

    def _open(self, comparison: Comparison) -> None:
        told = {"version": __version__, **comparison.to_dict()}
        text = json.dumps(told, indent=1)
        if self._configuration.exists():
            same = _read_json(self._configuration) == json.loads(text)
            require(same, "folder", "hold this comparison, by this version of the package, or none", str(self.folder))
        else:
            require(
                not self._cells.exists(), "folder", f"hold no {CELLS} without its {CONFIGURATION}", str(self.folder)
            )
            with draft_of(self._configuration) as draft:
                draft.write_text(text + "\n", encoding="utf-8")
        #: Finished cells, by key.
        self.rows = self._read()

    def _read(self) -> dict[str, dict[str, Any]]:
        """All complete lines; an incomplete last line, left by a crash, is removed."""
        if not self._cells.exists():
            return {}
        data = self._cells.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        try:
            rows = [json.loads(line) for line in whole.splitlines()]
        except ValueError as error:
            raise ValueError(
                f"{CELLS} must hold one JSON object per line, got {error} in {str(self._cells)!r}"
            ) from error
        for row in rows:
            whole_row = isinstance(row, dict) and "key" in row
            require(whole_row, CELLS, "hold cells with their keys", str(row)[:60])
        if len(whole) < len(data):
            with self._cells.open("r+b") as file:
                file.truncate(len(whole))
        return {row["key"]: row for row in rows}

    def add(self, row: Mapping[str, Any]) -> None:
        """Store a cell; on disk when this returns."""
        try:
            with self._cells.open("ab") as file:
                file.write(json.dumps(row, allow_nan=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise refused(CELLS, str(self._cells), error) from error
        self.rows[row["key"]] = dict(row)


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"comparison must be JSON, got {error} in {str(file)!r}") from error


def load(folder: str | os.PathLike[str]) -> Comparison:
    """The comparison with the configuration in a folder or file.

    Examples
    --------
    >>> load("/nowhere")
    Traceback (most recent call last):
    ValueError: comparison must be a folder or a JSON file that exists, got '/nowhere'
    """
    path = Path(folder)
    file = path / CONFIGURATION if os.path.isdir(path) else path
    require(os.path.isfile(file), "comparison", "be a folder or a JSON file that exists", str(folder))
    values = _read_json(file)
    require(isinstance(values, dict), "comparison", "be a JSON object", type(values).__name__)
    return Comparison.from_dict({name: value for name, value in values.items() if name != "version"})
