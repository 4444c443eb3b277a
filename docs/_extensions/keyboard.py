"""For readers with a keyboard or a screen reader: what the theme's pages lack."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

LATE = 900  # after the theme has written its navigation


def complete(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Captions of the navigation are headings of a level, and blocks that scroll can be reached by the tab key."""
    for name, plain, complete in (
        ("furo_navigation_tree", ' role="heading"', ' role="heading" aria-level="2"'),
        ("body", '<pre class="columns">', '<pre tabindex="0" class="columns">'),
        ("body", '<div class="math"', '<div tabindex="0" class="math"'),
        ("body", '<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
    ):
        if name in context:
            context[name] = context[name].replace(plain, complete)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect."""
    app.connect("html-page-context", complete, priority=LATE)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
