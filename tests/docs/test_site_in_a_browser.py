"""The site in a browser: all of it can be read, in narrow and wide windows, in the light and in the dark."""

import re

import pytest

from tests.support import site_checks, site_looks
from tests.support.marks import quick

OPENED = ("index.html", "start.html", "algorithms.html", "gallery/index.html", "api/searching.html", "search.html")
SIZES = """() => {
    const formulas = [...document.querySelectorAll("article math")];
    return {
        formulas: formulas.length,
        faulty: document.querySelectorAll("merror, .katex-error, .formula-error").length,
        empty: formulas.filter(one => one.getBoundingClientRect().width < 1).length,
    };
}"""
WIDE_BLOCK = """() => {
    const block = document.createElement("div");
    block.style.width = "3000px";
    document.querySelector("article").append(block);
}"""
#: For each check a rule that spoils the site, and the page where it must be found.
SPOILED = {
    "cut": ("article pre { white-space: pre; overflow: hidden }", "start.html"),
    "empty room": (".content { flex: none; width: 40rem }", "reproduction.html"),
    "out of the page": ("article .sig { width: 70rem }", "api/searching.html"),
    "colours": (".highlight .k, .highlight .kn { color: #565604 !important }", "start.html"),
    "plate": ("article img { filter: none !important }", "index.html"),
}


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
            assert page.evaluate(site_looks.HIDDEN) == [], (place, width)
    page.evaluate(WIDE_BLOCK)
    assert len(page.evaluate(site_looks.HIDDEN)) == 1  # the negative control
    page.goto((site / "search.html").as_uri() + "?q=reservoir")
    page.wait_for_selector("#search-results li a")
    assert page.locator("#search-results li a").count() > 3
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert said == []
    assert formulas > (2500 if which == "all" else 150)


def faults(page, scheme):
    """Everything on this page that is cut off or can hardly be read."""
    found = page.evaluate(site_looks.CUT) + page.evaluate(site_looks.HIDDEN) + site_looks.illegible(page)
    return found + (site_looks.plates(page) if scheme == "dark" else [])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_nothing_is_cut_off_and_all_is_legible(site_with_gallery, browser, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    found = {}
    for place in site_checks.pages(site_with_gallery):
        page.goto((site_with_gallery / place).as_uri())
        if one := faults(page, scheme):
            found[place] = one
    assert found == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", SPOILED)
def test_negative_control_what_spoils_the_site_is_found(site, browser, name):
    style, place = SPOILED[name]
    page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="dark")
    page.goto((site / place).as_uri())
    assert faults(page, "dark") == []
    page.add_style_tag(content=style)
    assert faults(page, "dark") != []
