"""Draw the pictures of docs/figures.md again, by running the lines that stand there: python docs/figures/draw.py."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "figures.md"


def blocks() -> list[str]:
    """The page's lines of Python, block by block."""
    return re.findall(r"^```python[^\n]*\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def main() -> None:
    """Run them in an empty folder, and keep the pictures."""
    back = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            space: dict[str, Any] = {"__name__": "__main__"}
            for block in blocks():
                exec(compile(block, PAGE.name, "exec"), space)
            for picture in sorted(Path(folder).glob("*.png")):
                shutil.copy(picture, HERE / picture.name)
                print(f"{picture.name}: {picture.stat().st_size / 1024:.0f} KB")
        finally:
            os.chdir(back)


if __name__ == "__main__":
    main()
