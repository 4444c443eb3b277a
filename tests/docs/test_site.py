"""The documentation site is built with warnings as errors, and what was built is whole and needs no network."""

import contextlib
import html
import importlib
import inspect
import re
import subprocess
import sys

import pytest

from tests.support import site_checks
from tests.support.folders import ROOT
from topalpha.algorithms import ALGORITHMS, DEFAULT
from topalpha.cli.inputs import settable

DOCS = ROOT / "docs"
GALLERY = sorted(path.stem for path in (ROOT / "examples" / "gallery").glob("plot_*.py"))
MODULES = ("", ".sklearn", ".figures", ".storage", ".theory", ".reservoirs", ".testing", ".testset")


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
    kinds = {4: "", 3: "rewards that are not normal", 0: "a one-parameter family"}
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


def test_what_was_printed_in_columns_is_known(extensions):
    in_columns = extensions("blocks").in_columns
    assert in_columns("rule     wrong\nmean   5%\nmedian   7%\n")
    assert in_columns("┌──┐\n└──┘")
    assert not in_columns("A sentence.  Another one.\nAnd a third one, in a line of its own.")
    assert not in_columns("def f(x):\n    return x\n")


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
