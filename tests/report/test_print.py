"""A report on paper, and in a narrow window, as Chromium shows it."""

import re

import pytest

from tests.support import chromium
from topalpha import search
from topalpha.report import html

CANDIDATES = [
    {
        "learning_rate": 0.001 * 1.1**number,
        "max_depth": 2 + number % 9,
        "subsample": 1 / (1 + number),
        "booster": "dart",
    }
    for number in range(47)
]


def reward(candidate, rng):
    return float(rng.random() < 0.4 + 0.6 * candidate["subsample"])


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The report of a choice among 47 candidates."""
    path = tmp_path_factory.mktemp("print") / "searches.db"
    result = search(CANDIDATES, reward, alpha=0.1, epsilon=0.1, delta=0.05, storage=path, progress="none")
    assert result.arms == 47
    return html(path)


@pytest.fixture
def opened(page):
    with chromium.opened() as browser:

        def opened(text=page, width=1280, scheme="light"):
            shown = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            shown.set_content(text)
            return shown

        yield opened


def sheets(shown):
    """How many pages it is on paper."""
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", shown.pdf(format="A4", prefer_css_page_size=True)))


def test_it_prints_on_three_pages(opened, page):
    assert sheets(opened()) <= 3
    # The negative control: what the style sheet says about paper is what does it.
    assert sheets(opened(page.replace("@media print", "@media tv"))) > 3


def test_parameters_are_columns_with_few_digits(opened, page):
    shown = opened()
    assert shown.locator(".arms thead th").all_inner_texts()[1:2] == ["index"]
    assert shown.locator(".arms thead th").all_inner_texts()[6:] == list(CANDIDATES[0])
    assert shown.locator("code.candidate").all_inner_texts() == [
        "learning_rate=0.001, max_depth=2, subsample=1, booster=dart",
        '{"learning_rate":0.001,"max_depth":2,"subsample":1.0,"booster":"dart"}',
    ]
    first = shown.locator(".arms tbody tr.chosen")
    assert first.locator("td").all_inner_texts()[5:] == ["0.001", "2", "1", "dart"]
    sides = shown.evaluate("""() => [...document.querySelectorAll(".arms tbody tr:first-child td")]
        .map((one) => getComputedStyle(one).textAlign)""")
    assert sides == ["right"] * 8 + ["left"]
    digits = re.findall(r"[0-9.]+", " ".join(shown.locator(".arms tbody td").all_inner_texts()))
    assert digits
    assert not [one for one in digits if len(one.strip("0.").replace(".", "")) > 7]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_narrow_window_nothing_is_cut_off(opened, scheme):
    shown = opened(width=400, scheme=scheme)
    assert shown.evaluate("document.documentElement.scrollWidth") == 400
    cut = shown.evaluate("""() => [...document.querySelectorAll("main *")].filter((one) => !one.closest("svg"))
        .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline")
        .filter((one) => !/auto|scroll/.test(getComputedStyle(one).overflowX) || one.tabIndex < 0)
        .filter((one) => !one.closest(".scroll")).map((one) => one.outerHTML.slice(0, 100))""")
    assert cut == []
    assert shown.evaluate("parseFloat(getComputedStyle(document.querySelector('.statement')).fontSize)") >= 16
