"""What was printed in columns keeps them and scrolls; in all other blocks long lines are wrapped."""

from __future__ import annotations

import html
import re
from typing import Any

from sphinx.application import Sphinx

#: A block that is no program: the name of its language, and its contents.
PRINTED = re.compile(
    r'(<div class="[^"]*highlight-(?:text|none)[^"]*"><div class="highlight">)<pre>(.*?)</pre>', re.DOTALL
)
TAG = re.compile(r"<[^>]+>")
#: In columns: a line has parts that stand apart, or is drawn.
APART = re.compile(r"\S {2,}\S|[\u2500-\u259f]")
#: So many such lines are no accident.
SEVERAL = 2


def in_columns(text: str) -> bool:
    """Whether these lines are a table or a drawing: wrapped, they could not be read."""
    return sum(APART.search(line) is not None for line in text.splitlines()) >= SEVERAL


def mark(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Mark the blocks in columns for the style sheet."""

    def marked(found: re.Match[str]) -> str:
        kind = '<pre class="columns">' if in_columns(html.unescape(TAG.sub("", found[2]))) else "<pre>"
        return f"{found[1]}{kind}{found[2]}</pre>"

    if "body" in context:
        context["body"] = PRINTED.sub(marked, context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect."""
    app.connect("html-page-context", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
