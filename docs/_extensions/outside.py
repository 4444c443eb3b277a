"""Pages out of the files that lie above ``docs/``, so that links between them lead somewhere here as on a git web view.

A Markdown file of the repository's root becomes a page under ``project/``, a script of the gallery one under
``gallery/``. Links are written for the place where a file lies in the repository; where it has another place on the
site they are rewritten, and only there.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from sphinx.application import Sphinx

PAGES = {
    "README.md": "project/overview",
    "CONTRIBUTING.md": "project/contributing",
    "CHANGELOG.md": "project/changelog",
    "VISION.md": "project/vision",
}
GALLERY = PurePosixPath("examples/gallery")
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)#])")
#: A link whose text is a file's name: a reader of the site wants the title of that page.
NAMED_BY_FILE = re.compile(r"\[[\w/.]+\.md\](?=\([^)]+\.md[)#])")
ELSEWHERE = re.compile(r"^[a-z]+:")


def source_of(page: str) -> PurePosixPath:
    """Where the text of a page lies in the repository."""
    for file, name in PAGES.items():
        if name == page:
            return PurePosixPath(file)
    return PurePosixPath("docs") / f"{page}.md"


def on_site(target: str) -> str:
    """Where a file of the repository is on the site, from ``docs/``: a page of its own, or where it lies."""
    file = PurePosixPath(target)
    if target in PAGES:
        return PAGES[target] + ".md"
    if file.parent == GALLERY:
        return f"gallery/{'index' if file.stem == 'GALLERY_HEADER' else file.stem}.rst"
    return os.path.relpath(target, "docs")


def rewritten(text: str, page: str) -> str:
    """The text with every link as it must be on the site."""
    source, here = source_of(page), PurePosixPath(page).parent

    def place(found: re.Match[str]) -> str:
        if ELSEWHERE.match(found[1]):
            return found[1]
        target = os.path.normpath(source.parent / found[1])
        if target.startswith("docs/") and source.parts[0] == "docs":
            return found[1]
        return PurePosixPath(os.path.relpath(on_site(target), here)).as_posix()

    return NAMED_BY_FILE.sub("[]", LINK.sub(place, text))


def place_pages(app: Sphinx) -> None:
    """Sphinx reads what lies under ``docs/``: an empty page for each file outside, filled when it is read."""
    for name in PAGES.values():
        file = Path(app.srcdir) / f"{name}.md"
        file.parent.mkdir(exist_ok=True)
        if not file.exists():
            file.write_text("", encoding="utf-8")


def read(app: Sphinx, page: str, source: list[str]) -> None:
    """Fill the pages from outside, and rewrite links of all."""
    if not (Path(app.srcdir) / f"{page}.md").exists():
        return
    if page in PAGES.values():
        file = Path(app.srcdir).parent / source_of(page)
        app.env.note_dependency(str(file))
        source[0] = file.read_text(encoding="utf-8")
    source[0] = rewritten(source[0], page)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect."""
    app.connect("builder-inited", place_pages)
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
