"""What the reference leaves out of the docstrings."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def skip(app: Sphinx, what: str, name: str, member: Any, skipped: bool, options: Any) -> bool | None:
    """Fields of named tuples are parameters of their class; what scikit-learn adds is in its own reference."""
    alias = str(getattr(member, "__doc__", "")).startswith("Alias for field number")
    routed = name.rpartition(".")[2].startswith("set_") and name.endswith("_request")
    return True if alias or routed else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect."""
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
