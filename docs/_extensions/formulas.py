"""Formulas as MathML, written by the build: a page needs no script, no style and no font for them.

KaTeX comes out of the wheel of ``sphinxcontrib-katex``, whose own Sphinx extension would have the pages fetch a style
sheet and fonts; node runs it. A formula that KaTeX does not understand is a warning, so that the build fails.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import matplotlib
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

from docs._extensions import mathml

ADJACENT = ("before", "after")
ENDS, BEGINS = re.compile(r"[^\w\s]+$"), re.compile(r"^(?:[^\w\s]+|\w{1,2}\b)")

logger = logging.getLogger(__name__)

OPTIONS = {"output": "mathml", "throwOnError": True, "strict": "error", "trust": False}
#: A line in, a line out: a formula and its options, what became of it or what is wrong with it.
PROGRAM = """
const katex = require(process.argv[1]);
require("readline").createInterface({input: process.stdin}).on("line", line => {
  const [latex, options] = JSON.parse(line);
  let answer;
  try { answer = {written: katex.renderToString(latex, options)}; } catch (error) { answer = {fault: error.message}; }
  process.stdout.write(JSON.stringify(answer) + "\\n");
});
"""
#: It has the calligraphic letters, for readers without a mathematical font, and lies in matplotlib's wheel.
FONT = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "STIXGeneral.ttf"


def place_of(package: str) -> Path | None:
    """The folder of an installed package."""
    spec = find_spec(package)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def node_program() -> str:
    """The machine's own node, or the one in the wheel of Playwright."""
    found, wheel = shutil.which("node"), place_of("playwright")
    if found is None and wheel is not None:
        found = shutil.which("node", path=str(wheel / "driver"))
    if found is None:
        raise ExtensionError("formulas need node: install Node.js, or pip install playwright, whose wheel holds it")
    return found


class Typesetter:
    """KaTeX in a process of its own, until it is closed."""

    def __init__(self) -> None:
        folder = place_of("sphinxcontrib.katex")
        if folder is None:
            raise ExtensionError("formulas need KaTeX: pip install sphinxcontrib-katex, whose wheel holds it")
        command = [node_program(), "-e", PROGRAM, str(folder / "katex.min.js")]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def mathml(self, latex: str, display: bool) -> str:
        """One formula as a ``math`` element; ``ValueError`` if KaTeX does not understand it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([latex, {**OPTIONS, "displayMode": display}]) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "fault" in answer:
            raise ValueError(answer["fault"])
        return mathml.tidy(answer["written"])

    def close(self) -> None:
        """End the process: it ends with its input."""
        self._process.communicate()


@cache
def typesetter() -> Typesetter:
    """The one of this build."""
    return Typesetter()


def visit(translator: Any, node: nodes.math | nodes.math_block) -> None:
    """Write a formula; one that KaTeX does not understand stays as it was typed, with a warning."""
    display = isinstance(node, nodes.math_block)
    try:
        written = typesetter().mathml(node.astext(), display)
    except ValueError as error:
        logger.warning("formula: %s", error, location=node)
        written = f'<code class="formula-error">{translator.encode(node.astext())}</code>'
    kind = "div" if display else "span"
    shown = written if display else inline(written, *(translator.encode(node.get(side, "")) for side in ADJACENT))
    translator.body.append(translator.starttag(node, kind, "", CLASS="math") + shown + f"</{kind}>")
    raise nodes.SkipNode


def inline(written: str, before: str, after: str) -> str:
    """A formula in the text: its parts stay whole, with what stands beside the first and the last."""
    if not written.startswith("<math"):
        return before + written + after
    parts = mathml.pieces(written)
    shown = []
    for position, part in enumerate(parts):
        kind = "piece" + " wide" * part.wide + " tall" * part.tall
        left, right = before * (position == 0), after * (position == len(parts) - 1)
        reached = ' tabindex="0"' if part.wide else ""  # it may scroll
        shown.append(f'<span class="{kind}"{reached}>{left}<span>{part.written}</span>{right}</span>')
    return "".join(shown)


def keep_together(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Browsers end a line between a formula and a comma: what stands beside a formula becomes part of it."""
    for node in list(doctree.findall(nodes.math)):
        for side, step, pattern in zip(ADJACENT, (-1, 1), (ENDS, BEGINS), strict=True):
            position = node.parent.index(node) + step
            text = node.parent[position] if 0 <= position < len(node.parent) else None
            if isinstance(text, nodes.Text) and (found := pattern.search(text)):
                node[side] = found[0]
                node.parent[position] = nodes.Text(text[: found.start()] + text[found.end() :])


def finish(app: Sphinx, exception: Exception | None) -> None:
    """End the typesetter, and put the font beside the style sheet that names it."""
    if typesetter.cache_info().currsize:
        typesetter().close()
        typesetter.cache_clear()
    if exception is None and app.builder.format == "html":
        shutil.copyfile(FONT, Path(app.outdir) / "_static" / FONT.name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", inline_renderers=(visit, None), block_renderers=(visit, None))
    app.connect("doctree-resolved", keep_together)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
