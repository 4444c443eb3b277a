"""What the files of the page must and must not hold; the browser is asked about the rest."""

import re
from pathlib import Path

import topalpha.dashboard

FOLDER = Path(topalpha.dashboard.__file__).parent
PAGE = (FOLDER / "templates" / "index.html").read_text(encoding="utf-8")
SCRIPTS = {file.name: file.read_text(encoding="utf-8") for file in (FOLDER / "static").glob("*.js")}
STYLE = (FOLDER / "static" / "style.css").read_text(encoding="utf-8")


def test_every_module_is_fetched_at_once():
    assert len(SCRIPTS) >= 9
    named = re.findall(r'(?:src|href)="/static/([a-z]+\.js)"', PAGE)
    assert sorted(named) == sorted(SCRIPTS)


def test_nothing_stored_can_become_markup():
    for name, text in SCRIPTS.items():
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert way not in text, (name, way)
    assert not re.search(r"<script(?![^>]*\bsrc=)", PAGE)
    assert not re.search(r"\son[a-z]+=", PAGE)


def test_nothing_is_named_that_lies_elsewhere():
    for name, text in {**SCRIPTS, "index.html": PAGE, "style.css": STYLE}.items():
        assert not re.search(r"(https?:)?//[a-z]+\.[a-z]", text), name
        assert "@import" not in text


def test_files_are_small():
    """Text is on the screen before anything large is loaded."""
    assert len(PAGE) + len(STYLE) + sum(map(len, SCRIPTS.values())) < 100_000
    assert all(text.count("\n") <= 300 for text in SCRIPTS.values())
