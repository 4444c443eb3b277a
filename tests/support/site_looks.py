"""How the site looks in a browser: what is cut off, what can hardly be read, and pictures on white in the dark."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from PIL import Image

from tests.support.pictures import contrast

#: The least contrast of text, by the guidelines for accessible pages.
LEGIBLE = 4.5
#: The most contrast of the ground of a picture with the page: more is a plate.
PLATE = 1.3

#: Blocks that are cut at the right: they cannot be scrolled or do not show it, or room beside them is left empty.
CUT = """() => {
    const letter = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const contents = document.querySelector(".toc-drawer")?.getBoundingClientRect();
    const edge = Math.min(innerWidth, contents && contents.width ? contents.left : innerWidth);
    const blocks = document.querySelectorAll(
        "article pre, article table, article dt.sig, article .table-wrapper, article .math, article .wide");
    const faults = [];
    for (const one of blocks) {
        const box = one.getBoundingClientRect(), style = getComputedStyle(one);
        const cut = one.scrollWidth - one.clientWidth > 1 && style.display !== "inline";
        const text = `${one.tagName} ${one.className}: ${one.textContent.trim().slice(0, 60)}`;
        if (!cut || style.overflowX === "visible") {
            continue;  // what stands out of its box is found by its own place
        }
        if (!/auto|scroll/.test(style.overflowX) || one.tabIndex < 0 || !style.backgroundImage.includes("gradient")) {
            faults.push(`${text} is cut off`);
        } else if (edge - box.right > 4 * letter) {
            faults.push(`${text} is cut off while ${Math.round(edge - box.right)} pixels beside it are empty`);
        }
    }
    return faults;
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

#: Every pair of colours that text in code has, as red, green and blue from 0 to 1, with an example of it.
COLOURS = """() => {
    const parsed = (colour) => {
        const [red, green, blue, alpha = 1] = colour.match(/[0-9.]+/g).map(Number);
        return { parts: [red / 255, green / 255, blue / 255], alpha };
    };
    const ground = (one) => {
        for (; one !== null; one = one.parentElement) {
            const found = parsed(getComputedStyle(one).backgroundColor);
            if (found.alpha === 1) {
                return found.parts;
            }
        }
        return [1, 1, 1];
    };
    const pairs = new Map();
    const walker = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
        const one = text.parentElement;
        if (text.data.trim() && one.closest("pre, code, .sig") && one.checkVisibility({ visibilityProperty: true })) {
            const pair = [parsed(getComputedStyle(one).color).parts, ground(one)];
            pairs.set(JSON.stringify(pair), [...pair, text.data.trim().slice(0, 40)]);
        }
    }
    return [...pairs.values()];
}"""


def illegible(page: Any) -> list[str]:
    """Text in code whose contrast is too small."""
    found = [(contrast(ink, ground), text) for ink, ground, text in page.evaluate(COLOURS)]
    return [f"{text!r} has a contrast of {ratio:.2f}" for ratio, text in found if ratio < LEGIBLE]


def plates(page: Any) -> list[str]:
    """Pictures whose corners do not have the ground of the page, as they are on the screen."""
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).map(Number)")[:3]
    faults = []
    for picture in page.locator("article img:visible").all():
        with Image.open(io.BytesIO(picture.screenshot())) as shown:
            seen = shown.convert("RGB")
        right, low = seen.width - 4, seen.height - 4  # corners may be round
        corners = [seen.getpixel(place) for place in ((3, 3), (right, 3), (3, low), (right, low))]
        found = sorted(contrast([part / 255 for part in one], [part / 255 for part in ground]) for one in corners)
        if found[1] > PLATE:  # in one of them may be something of the picture
            name = Path(picture.get_attribute("src")).name
            faults.append(f"{name} has corners with a contrast of {found[1]:.2f} to the page and more")
    return faults
