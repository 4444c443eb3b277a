"""What a comparison has measured, on disk: one line a cell, so that a crash loses the cell it was at and no other."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from topalpha import __version__
from topalpha.comparison.configuration import Comparison
from topalpha.validate import require

#: The files of a comparison in its folder.
CONFIGURATION, CELLS = "comparison.json", "cells.jsonl"


class Ledger:
    """A folder with the configuration and the cells that are done.

    Parameters
    ----------
    folder
        Made if it does not exist. One that holds another comparison is refused, and left as it is.
    comparison
        What is compared.

    Examples
    --------
    >>> import tempfile
    >>> from topalpha.comparison.configuration import Case, Contender
    >>> comparison = Comparison((Contender("cc-lucb"),), (Case("dirac(0.5)", 0.1, 0.1, 0.05),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Ledger(folder, comparison).add({"key": "one", "pulls": 3})
    ...     Ledger(folder, comparison).rows
    {'one': {'key': 'one', 'pulls': 3}}
    """

    def __init__(self, folder: str | os.PathLike[str], comparison: Comparison) -> None:
        self.folder = Path(folder)
        require(not self.folder.exists() or self.folder.is_dir(), "folder", "be a folder", str(folder))
        self.folder.mkdir(parents=True, exist_ok=True)
        self._cells = self.folder / CELLS
        told = {"version": __version__, **comparison.to_dict()}
        file = self.folder / CONFIGURATION
        text = json.dumps(told, indent=1)
        if file.exists():
            same = json.loads(file.read_text(encoding="utf-8")) == json.loads(text)
            require(same, "folder", "hold this comparison, by this version of the package, or none", str(folder))
        else:
            require(not self._cells.exists(), "folder", f"hold no {CELLS} without its {CONFIGURATION}", str(folder))
            _write_whole(file, text + "\n")
        #: Cells that are done, by key.
        self.rows = self._read()

    def _read(self) -> dict[str, dict[str, Any]]:
        """All whole lines; a last one that was cut off by a crash is taken away."""
        if not self._cells.exists():
            return {}
        data = self._cells.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        try:
            rows = [json.loads(line) for line in whole.splitlines()]
        except ValueError as error:
            raise ValueError(
                f"{CELLS} must hold one JSON object a line, got {error} in {str(self._cells)!r}"
            ) from error
        if len(whole) < len(data):
            with self._cells.open("r+b") as file:
                file.truncate(len(whole))
        return {row["key"]: row for row in rows}

    def add(self, row: Mapping[str, Any]) -> None:
        """Write down a cell; on disk when this returns."""
        with self._cells.open("ab") as file:
            file.write(json.dumps(row, allow_nan=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.rows[row["key"]] = dict(row)


def _write_whole(file: Path, text: str) -> None:
    """All of it or nothing."""
    temporary = file.with_name(file.name + ".part")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(file)


def load(folder: str | os.PathLike[str]) -> Comparison:
    """The comparison whose configuration lies in a folder, or in a file.

    Examples
    --------
    >>> load("/nowhere")
    Traceback (most recent call last):
    ValueError: comparison must be a folder or a JSON file that exists, got '/nowhere'
    """
    path = Path(folder)
    file = path / CONFIGURATION if path.is_dir() else path
    require(file.is_file(), "comparison", "be a folder or a JSON file that exists", str(folder))
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"comparison must be JSON, got {error} in {str(file)!r}") from error
    require(isinstance(values, dict), "comparison", "be a JSON object", type(values).__name__)
    return Comparison.from_dict({name: value for name, value in values.items() if name != "version"})
