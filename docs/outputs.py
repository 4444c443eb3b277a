"""Pages whose code prints what stands below it; ``python -m docs.outputs`` runs it and writes the outputs again.

The blocks of a page run in order, in one namespace and an empty folder. A block without a language that follows a block
of Python at once is its output.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: The pages, as paths from the root of the repository.
PAGES = ("README.md", "docs/index.md", "docs/start.md", "docs/duels.md", "docs/questions.md", "docs/costs.md")
_BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:(```\n)(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def filled(page: str) -> str:
    """The text of a page with the outputs of today; files that its code makes go to the current folder."""
    space: dict[str, object] = {"__name__": "page"}

    def run(block: re.Match[str]) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block[1], page, "exec"), space)
        code = f"```python\n{block[1]}```\n"
        return code if block[2] is None else f"{code}```\n{printed.getvalue()}```"

    return _BLOCK.sub(run, (ROOT / page).read_text(encoding="utf-8"))


def main() -> None:
    """Write all pages again."""
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            text = filled(page)
        (ROOT / page).write_text(text, encoding="utf-8")
        print(page)


if __name__ == "__main__":
    main()
