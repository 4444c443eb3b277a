"""Formulas as MathML, written by the build: a page needs no script, no style and no font for them.

KaTeX comes out of the wheel of ``sphinxcontrib-katex``, of which only the renderer is used: its Sphinx extension would
have the pages fetch a style sheet and fonts. A formula that KaTeX does not understand is a warning, so the build fails.
"""

from __future__ import annotations

import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import matplotlib
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinxcontrib import katex

logger = logging.getLogger(__name__)

OPTIONS = {"output": "mathml", "throwOnError": True, "strict": "error", "trust": False}
#: Browsers know no other variant than "normal": calligraphic letters are characters of their own.
CALLIGRAPHIC = re.compile(r'<mi mathvariant="script">([A-Z])</mi>')
OLD_LETTERS = dict(zip("BEFHILMR", "ℬℰℱℋℐℒℳℛ", strict=True))  # they had a place in Unicode before the others came
#: The name of a function stands apart from what follows, unless that is a parenthesis.
APPLIED = re.compile("<mo>\u2061</mo>(?!(?:<mrow>)?<mo[^>]*>[(\\[{|]</mo>)")
#: "x tends to y from below" is a relation, not a tall parenthesis.
ARROWS = re.compile("<mo>([\u2191\u2193])</mo>")
#: It has the calligraphic letters, for readers without a mathematical font, and lies in matplotlib's wheel.
FONT = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "STIXGeneral.ttf"


def node_program() -> str:
    """Node runs KaTeX: the machine's own, or the one in the wheel of Playwright."""
    found = shutil.which("node")
    if found is None and (spec := find_spec("playwright")) is not None and spec.origin is not None:
        found = shutil.which("node", path=str(Path(spec.origin).parent / "driver"))
    if found is None:
        raise ExtensionError("formulas need node: install Node.js, or pip install playwright, whose wheel holds it")
    return found


def calligraphic(letter: str) -> str:
    """The calligraphic capital of this letter."""
    return OLD_LETTERS.get(letter) or chr(0x1D49C + ord(letter) - ord("A"))


def mathml(latex: str, display: bool) -> str:
    """One formula as a ``math`` element."""
    written = katex.render_latex(latex, {**OPTIONS, "displayMode": display})
    written = CALLIGRAPHIC.sub(lambda found: f"<mi>{calligraphic(found[1])}</mi>", written)
    written = APPLIED.sub('<mo>\u2061</mo><mspace width="0.1667em"/>', written)
    written = ARROWS.sub(r'<mo stretchy="false">\1</mo>', written)
    return written.replace('<mtext mathvariant="monospace">', '<mtext class="monospace">')


def visit(translator: Any, node: nodes.math | nodes.math_block) -> None:
    """Write a formula; one that KaTeX does not understand stays as it was typed, with a warning."""
    display = isinstance(node, nodes.math_block)
    try:
        written = mathml(node.astext(), display)
    except katex.KaTeXError as error:
        logger.warning("formula: %s", error, location=node)
        written = f'<code class="formula-error">{translator.encode(node.astext())}</code>'
    kind = "div" if display else "span"
    translator.body.append(translator.starttag(node, kind, "", CLASS="math") + written + f"</{kind}>")
    raise nodes.SkipNode


def prepare(app: Sphinx) -> None:
    """Find what runs KaTeX before anything is read."""
    katex.NODEJS_BINARY = node_program()


def copy_font(app: Sphinx, exception: Exception | None) -> None:
    """Put the font beside the style sheet that names it."""
    if exception is None and app.builder.format == "html":
        shutil.copyfile(FONT, Path(app.outdir) / "_static" / FONT.name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", inline_renderers=(visit, None), block_renderers=(visit, None))
    app.connect("builder-inited", prepare)
    app.connect("build-finished", copy_font)
    return {"parallel_read_safe": True, "parallel_write_safe": False}
