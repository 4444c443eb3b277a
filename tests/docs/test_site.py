"""The documentation site is built with warnings as errors, and what was built is whole and needs no network."""

import contextlib
import html
import importlib
import inspect
import os
import re
import shutil
import sqlite3
import subprocess
import sys

import pytest

from tests.support import chromium, site_checks
from tests.support.folders import ROOT
from tests.support.marks import quick
from topalpha.algorithms import ALGORITHMS, DEFAULT
from topalpha.cli.inputs import settable

DOCS = ROOT / "docs"
GALLERY = sorted(path.stem for path in (ROOT / "examples" / "gallery").glob("plot_*.py"))
MODULES = ("", ".sklearn", ".figures", ".storage", ".theory", ".reservoirs", ".testing")
OPENED = ("index.html", "start.html", "algorithms.html", "gallery/index.html", "api/searching.html", "search.html")
SIZES = """() => {
    const formulas = [...document.querySelectorAll("article math")];
    return {
        formulas: formulas.length,
        faulty: document.querySelectorAll("merror, .katex-error, .formula-error").length,
        empty: formulas.filter(one => one.getBoundingClientRect().width < 1).length,
    };
}"""
#: What reaches beyond the text and cannot be scrolled to; the theme lets headings stand out by half a letter.
HIDDEN = """() => {
    const article = document.querySelector("article");
    const letter = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const edge = article.getBoundingClientRect().right + letter / 2;
    const scrolls = one => one !== null && one !== article
        && (/auto|scroll/.test(getComputedStyle(one).overflowX) || scrolls(one.parentElement));
    return [...article.querySelectorAll("*")]
        .filter(one => one.getBoundingClientRect().right > edge && !scrolls(one.parentElement))
        .map(one => `${one.tagName} ${one.className}: ${one.textContent.slice(0, 60)}`);
}"""
WIDE_BLOCK = """() => {
    const block = document.createElement("div");
    block.style.width = "3000px";
    document.querySelector("article").append(block);
}"""


def build(folder, gallery):
    """The site of this tree, with or without running the gallery's examples, and what the build said."""
    shutil.rmtree(DOCS / "gallery", ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(folder / "doctrees")]
    command += ["-D", f"plot_gallery={gallery:d}"]
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": str(ROOT / "src")}
    command += [str(DOCS), str(folder / "site")]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)


def built(factory, gallery):
    """Built once, by whichever worker comes first: SQLite's lock, unlike a file's existence, ends with its process."""
    own = factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "documentation"
    place, said = folder / f"gallery{gallery:d}", folder / f"said{gallery:d}.txt"
    place.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(sqlite3.connect(folder / "lock.db", timeout=600)) as lock:
        lock.execute("BEGIN EXCLUSIVE")  # also between the two kinds, which share docs/gallery
        if not said.exists():
            done = build(place, gallery)
            said.write_text(f"{done.returncode}\n{done.stdout}{done.stderr}", encoding="utf-8")
    code, _, words = said.read_text(encoding="utf-8").partition("\n")
    assert code == "0", words
    return place / "site"


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """All pages; those of the gallery without what their examples print and draw."""
    return built(tmp_path_factory, gallery=False)


@pytest.fixture(scope="session")
def site_with_gallery(tmp_path_factory):
    """The site as it is published."""
    return built(tmp_path_factory, gallery=True)


@pytest.mark.slow
def test_every_page_can_be_reached(site):
    assert len(site_checks.pages(site)) > 40
    assert list(site_checks.unreachable(site)) == []


@pytest.mark.slow
def test_links_and_anchors_lead_somewhere(site):
    assert list(site_checks.broken_links(site)) == []


@pytest.mark.slow
def test_nothing_comes_from_outside(site):
    assert list(site_checks.outside_assets(site)) == []


@pytest.mark.slow
def test_formulas_are_set(site):
    assert site_checks.pages(site)["proofs.html"].formulas > 1000
    assert list(site_checks.unset_formulas(site, DOCS)) == []


@pytest.mark.slow
def test_pictures_have_words(site):
    assert list(site_checks.silent_pictures(site)) == []


@pytest.mark.slow
def test_with_the_gallery_nothing_is_missing_either(site_with_gallery):
    for check in ("unreachable", "broken_links", "outside_assets", "silent_pictures"):
        assert list(getattr(site_checks, check)(site_with_gallery)) == [], check


def needs(one):
    """What the table must say that an algorithm needs."""
    kinds = {3: "", 2: "rewards that are not normal", 0: "a one-parameter family"}
    rewards = "rewards in [0, 1]" if one.rewards == "unit" else kinds[len(one.models)]
    knows = "knowledge of the reservoir" if one.knowledge else ""
    return ", ".join(filter(None, (rewards, knows, "a budget" if one.budgeted else "")))


def options(one):
    """What the table must say about options: the choices, or the default."""
    said = ""
    for name, default in settable(one).items():
        numbers = ", ".join(f"{part:g}" for part in default) if isinstance(default, tuple) else default
        said += f"{name} {', '.join(one.options.get(name, ())) or ('(derived)' if default is None else numbers)}"
    return said


def proofs(one):
    """The page of every proof, and the letter or number of its section, if one is named."""
    for page, sections in re.findall(r"docs/([\w/]+)\.md(?:, (\w+(?: and \w+)*))?", one.proof):
        for section in sections.split(" and "):
            yield f"{page}.html", section


def led_to(site, link):
    """The page that a link leads to, and the letter or number of the section."""
    page, _, anchor = link.partition("#")
    if not anchor:
        return page, ""
    title = re.search(rf'id="{anchor}".*?<h\d>(.*?)<', site_checks.pages(site)[page].text, re.DOTALL)
    return page, title[1].partition(".")[0]


@pytest.mark.slow
def test_table_of_algorithms_is_the_registry(site):
    text = site_checks.pages(site)["algorithms.html"].text.partition('id="pulls-and-speed"')[0]
    rows = {}
    for row in re.findall(r"<tr.*?</tr>", text, re.DOTALL):
        found = re.findall(r"<td.*?</td>", row, re.DOTALL)
        cells = [html.unescape(re.sub(r"<[^>]+>", "", cell)).strip().replace("\n", "") for cell in found]
        if cells:
            rows[cells[0].removesuffix(" (default)")] = (cells, re.findall(r'href="([^"]+)"', row))
    assert list(rows) == [one.name for one in ALGORITHMS]
    for one in ALGORITHMS:
        cells, links = rows[one.name]
        wanted = list(proofs(one))
        assert cells[0] == one.name + " (default)" * (one.name == DEFAULT)
        assert cells[1:3] == [one.guarantee, one.reference]
        assert (cells[3] == "none") == (not wanted)
        assert cells[4:] == [needs(one), options(one)]
        assert [led_to(site, link) for link in links] == wanted


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference(site, module):
    documented = set().union(*(page.ids for place, page in site_checks.pages(site).items() if place.startswith("api/")))
    top, home = importlib.import_module("topalpha"), importlib.import_module(f"topalpha{module}")
    for name in (name for name in home.__all__ if not inspect.ismodule(getattr(home, name, home))):
        same = {f"topalpha.{one}" for one in top.__all__ if getattr(top, one) is getattr(home, name)}
        assert documented & {f"topalpha{module}.{name}", *same}, name


@pytest.mark.slow
@pytest.mark.parametrize("script", GALLERY)
def test_every_example_ran_and_drew(site_with_gallery, script):
    page = site_checks.pages(site_with_gallery)[f"gallery/{script}.html"]
    drawn = [one for one in page.pictures if f"sphx_glr_{script}_" in one["src"] and "thumb" not in one["src"]]
    assert drawn
    assert "Traceback" not in page.text


def test_the_gallery_is_large_enough():
    assert len(GALLERY) >= 6


@pytest.mark.slow
def test_blocks_that_need_a_package_are_shown_as_python(site):
    for name in ("boosting", "figures", "prompt_choice"):
        blocks = re.findall(
            r"^```python needs \w+\n(\w+)", (DOCS / f"{name}.md").read_text(encoding="utf-8"), re.MULTILINE
        )
        text = site_checks.pages(site)[f"{name}.html"].text
        shown = re.findall(r'<div class="highlight-python notranslate"><div class="highlight"><pre[^>]*>(.*?)\n', text)
        assert len(blocks) >= 2
        for word in blocks:
            assert any(re.search(rf"<span class=\"(?:k|kn|n)\">{word}</span>", line) for line in shown), word


@pytest.mark.slow
def test_files_outside_docs_are_pages(site):
    shown = "".join(site_checks.pages(site)["project/contributing.html"].prose)
    assert "A new family" in shown
    assert any("project/contributing.html" in link for link in site_checks.pages(site)["algorithms.html"].links)


@pytest.fixture
def browser():
    """Chromium, or one sentence on how to get it."""
    path = chromium.find()
    if path is None:
        (pytest.fail if chromium.is_mandatory() else pytest.skip)(chromium.MISSING)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=list(chromium.FLAGS))
        yield opened
        opened.close()


@pytest.mark.slow
@pytest.mark.parametrize("which", quick(["some", "all"], ["some"]))
def test_in_a_browser_nothing_is_fetched_and_all_can_be_read(site, browser, which):
    found = site_checks.pages(site)
    chosen = dict.fromkeys((*OPENED, *(place for place, page in found.items() if page.formulas)))
    if which == "some":
        chosen = (*OPENED, "notation.html", "field/biased_coin.html")
    asked, said, formulas = [], [], 0
    page = browser.new_page(viewport={"width": 400, "height": 800})
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.route(re.compile(r"^(?!file:|data:)"), lambda route: route.abort())
    for place in chosen:
        page.goto((site / place).as_uri())
        shown = page.evaluate(SIZES)
        assert shown["faulty"] == 0, place
        assert shown["empty"] == 0, place
        formulas += shown["formulas"]
        for width in (400, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(HIDDEN) == [], (place, width)
    page.evaluate(WIDE_BLOCK)
    assert len(page.evaluate(HIDDEN)) == 1  # the negative control
    page.goto((site / "search.html").as_uri() + "?q=reservoir")
    page.wait_for_selector("#search-results li a")
    assert page.locator("#search-results li a").count() > 3
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert said == []
    assert formulas > (2500 if which == "all" else 150)


@pytest.fixture
def extensions():
    """The modules that the build adds to Sphinx."""
    return lambda name: importlib.import_module(f"docs._extensions.{name}")


def test_links_are_rewritten_where_the_site_has_another_place_for_a_file(extensions):
    rewritten = extensions("outside").rewritten
    assert rewritten("[a](../CONTRIBUTING.md#style)", "choosing") == "[a](project/contributing.md#style)"
    assert rewritten("[a](../../VISION.md)", "field/p2") == "[a](../project/vision.md)"
    assert rewritten("![a](docs/a.png) [b](src/b.py)", "project/overview") == "![a](../a.png) [b](../../src/b.py)"
    assert rewritten("[c](docs/c.md), [d](CHANGELOG.md)", "project/overview") == "[c](../c.md), [d](changelog.md)"
    assert rewritten("[a](../examples/gallery/plot_a.py)", "choosing") == "[a](gallery/plot_a.rst)"
    assert rewritten("[a](examples/gallery/GALLERY_HEADER.rst)", "project/overview") == "[a](../gallery/index.rst)"
    assert rewritten("[proofs.md](../proofs.md#a)", "field/p2") == "[](../proofs.md#a)"
    for kept in ("[e](../examples/width.py)", "[f](https://example.org/README.md)", "[g](#here)", "[h](field/p2.md)"):
        assert rewritten(kept, "choosing") == kept


def test_formulas_are_written_as_mathml_and_wrong_ones_are_refused(extensions):
    with contextlib.closing(extensions("formulas").Typesetter()) as typesetter:
        assert "<mi>𝒰</mi>" in typesetter.mathml(r"\mathcal U", False)
        assert "<mi>ℒ</mi>" in typesetter.mathml(r"\mathcal L", False)
        assert '<mo>\u2061</mo><mspace width="0.1667em" />' in typesetter.mathml(r"\ln x", False)
        assert "mspace" not in typesetter.mathml(r"\ln(x)", False)
        assert 'display="block"' in typesetter.mathml("x", True)
        assert '<mo form="prefix">−</mo>' in typesetter.mathml("a=-b", False)
        assert "form=" not in typesetter.mathml("a-b", False)
        assert "sup" not in typesetter.mathml("N'_t", False)
        with pytest.raises(ValueError, match="nosuch"):
            typesetter.mathml(r"\nosuch{x}", False)


@pytest.mark.parametrize(
    ("formula", "parts"),
    [
        ("a=b", 1),
        ("a+b+c+d=g+h+i+j", 2),  # after the relation; both halves are short
        ("f(a=b)+f(c=d)+f(e=f)+f(g=h)^2+x", 5),  # no relation outside brackets: after the signs there
        (r"x=-a\ge b+\frac{c}{d}+e+f+g", 3),  # not after the sign of a number
    ],
)
def test_long_formulas_may_end_a_line_in_their_midst(extensions, formula, parts):
    with contextlib.closing(extensions("formulas").Typesetter()) as typesetter:
        written = typesetter.mathml(formula, False)
    found = extensions("mathml").pieces(written)
    assert len(found) == parts
    bare = [re.sub(r"<annotation.*?</annotation>|<[^>]+>", "", text) for text in (written, *(one[0] for one in found))]
    assert "".join(bare[1:]) == bare[0]


@pytest.mark.slow
@pytest.mark.parametrize(("formula", "code"), [(r"\frac12", 0), (r"\nosuch{x}", 1)])
def test_negative_control_a_wrong_formula_fails_the_build(tmp_path, formula, code):
    (tmp_path / "index.md").write_text(f"# Title\n\n${formula}$\n", encoding="utf-8")
    (tmp_path / "conf.py").write_text(
        "extensions = ['myst_parser', 'docs._extensions.formulas']\n"
        "myst_enable_extensions = ['dollarmath']\nhtml_math_renderer = 'mathml'\nhtml_theme = 'basic'\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "sphinx", "-W", "-q", str(tmp_path), str(tmp_path / "built")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == code, done.stderr
    assert ("nosuch" in done.stderr) == bool(code)


def test_negative_control_a_broken_site_is_found_out(tmp_path):
    """One page with everything wrong that the checks look for."""
    (tmp_path / "index.html").write_text(
        '<script src="https://example.org/a.js"></script><link rel="stylesheet" href="b.css"><article>'
        '<a href="missing.html">1</a><a href="#nothing">2</a><img src="c.png">'
        r"<p>$\alpha$</p><math><merror></merror></math></article>",
        encoding="utf-8",
    )
    (tmp_path / "alone.html").write_text("<article></article>", encoding="utf-8")
    (tmp_path / "b.css").write_text("@import 'https://example.org/d.css'; p {background: url(e.png)}", encoding="utf-8")
    (tmp_path / "c.js").write_text("fetch('https://example.org/f'); image.src = '//example.org/g'", encoding="utf-8")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("$a$ and $$b$$, not `$c$`", encoding="utf-8")
    assert list(site_checks.unreachable(tmp_path)) == ["alone.html cannot be reached"]
    assert len(list(site_checks.broken_links(tmp_path))) == 2
    assert len(list(site_checks.outside_assets(tmp_path))) == 6
    assert len(list(site_checks.silent_pictures(tmp_path))) == 1
    assert len(list(site_checks.unset_formulas(tmp_path, docs))) == 3
