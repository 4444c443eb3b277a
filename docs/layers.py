"""The map of the package in CONTRIBUTING.md: its layers from ``pyproject.toml``, and what each room says of itself.

``python docs/layers.py`` writes it again.
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- layers: written by docs/layers.py -->\n", "<!-- end of layers -->\n"


def layers() -> list[list[str]]:
    """The rooms of each layer, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (one for one in settings["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    return [[name.strip().removeprefix("topalpha.") for name in re.split("[|:]", one)] for one in contract["layers"]]


def sentence(room: str) -> str:
    """What a room says of itself: the first paragraph of its docstring, without its markup."""
    place = ROOT / "src" / "topalpha" / room
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    text = str(ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))))
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text.split("\n\n")[0].replace("\n", " ")).replace("``", "`")


def drawn() -> str:
    """The table: a row for each room, numbered by layer."""
    rows = ["| layer | room | |", "|---|---|---|"]
    for number, rooms in enumerate(layers()):
        for place, room in enumerate(rooms):
            rows.append(f"| {len(layers()) - number if place == 0 else ''} | `{room}` | {sentence(room)} |")
    return "\n".join(rows) + "\n"


def filled(text: str) -> str:
    """The document with the table of today."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + drawn() + END + rest.split(END)[1]


if __name__ == "__main__":
    page = ROOT / "CONTRIBUTING.md"
    page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
