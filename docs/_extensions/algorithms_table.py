"""``{algorithms}``: the table of algorithms, from the registry."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from topalpha.algorithms import DEFAULT, FIELD, PRINCIPAL
from topalpha.cli.inputs import settable
from topalpha.families import FAMILIES, MODELS
from topalpha.rules.registration import Entry

PROOF = re.compile(r"docs/(?P<page>[\w/]+\.md)(?:, (?P<sections>\w+(?: and \w+)*))?")
BEYOND = [name for name in MODELS if name not in FAMILIES and name != "mirrored"]  # that is a family or none
GROUPS = {"principal": PRINCIPAL, "field": FIELD}


def anchor(page: Path, section: str) -> str:
    """The anchor of the section whose title begins with this letter or number."""
    text = page.read_text(encoding="utf-8")
    title = re.search(rf"^#+ ({re.escape(section)}\. .*)$", text, re.MULTILINE)
    if title is None:
        raise ValueError(f"section must be one of {page.name}, got {section!r}")
    return re.sub(r"[^\w\- ]", "", title[1].strip().lower()).replace(" ", "-")


def proof(one: Entry, docs: Path) -> str:
    """Links to every section that the entry names."""
    links = []
    for found in PROOF.finditer(one.proof):
        page = found["page"]
        for section in (found["sections"] or "").split(" and "):
            name = f"{Path(page).stem.replace('_', ' ')} {section}".strip()
            links.append(f"[{name}]({page}#{anchor(docs / page, section)})" if section else f"[{name}]({page})")
    if bool(one.proof) != bool(links):
        raise ValueError(f"proof of {one.name} must name sections of pages under docs/, got {one.proof!r}")
    return ", ".join(links) or "none"


def needs(one: Entry) -> str:
    """What it needs beyond alpha, epsilon and delta."""
    said = {
        rewards(one): True,
        "knowledge of the reservoir": one.knowledge is not None,
        "a budget": one.budgeted,
    }
    return ", ".join(text for text, holds in said.items() if text and holds)


def rewards(one: Entry) -> str:
    """Which rewards it takes, unless it takes them all."""
    if one.rewards == "unit":
        return "rewards in [0, 1]"
    if not one.models:
        return "a one-parameter family"
    refused = [name for name in BEYOND if name not in one.models]
    return f"rewards that are not {' or '.join(refused)}" if refused else ""


def options(one: Entry) -> str:
    """Its options, each with its choices, the default first, or with its default."""
    said = []
    for name, default in settable(one).items():
        choices = ", ".join(one.options.get(name, ()))
        said.append(f"`{name}` {choices or written(default)}")
    return "<br>".join(said)


def written(default: Any) -> str:
    """A default in words."""
    if isinstance(default, tuple):
        return ", ".join(f"{part:g}" for part in default)
    return "(derived)" if default is None else str(default)


def table(entries: tuple[Entry, ...], docs: Path) -> str:
    """The table in Markdown."""
    rows = ["| algorithm | guarantee | from | proof | needs | options |", "|---|---|---|---|---|---|"]
    for one in entries:
        name = f"`{one.name}`" + (" (default)" if one.name == DEFAULT else "")
        cells = (name, one.guarantee, one.reference, proof(one, docs), needs(one), options(one))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


class Algorithms(SphinxDirective):
    """The table of one group of the registry."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """Write it as the page that asks for it is written, in Markdown."""
        import topalpha.algorithms

        self.env.note_dependency(str(topalpha.algorithms.__file__))
        return self.parse_text_to_nodes(table(GROUPS[self.arguments[0]], Path(self.env.srcdir)))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("algorithms", Algorithms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
