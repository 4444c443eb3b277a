"""Searches to report on, and what a browser would make of the page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

EASY = {"alpha": 0.2, "epsilon": 0.2, "delta": 0.1, "seed": 3, "progress": "none"}
QUIET = {"progress": "none"}
EVIL = "<script>alert(1)</script>"
VOID = {"meta", "link", "br", "img", "hr", "input"}


def draw(rng):
    return {"rate": round(float(rng.random()), 3)}


def reward(candidate, rng):
    return float(rng.random() < 0.1 + 0.8 * candidate["rate"])


class Page(HTMLParser):
    """What a browser would make of the page: elements, attributes, texts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.words, self.data = [], [], [], []
        self.open, self.rows = [], []
        self.feed(text)
        self.close()
        assert self.open == [], "every element is closed"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, key, value) for key, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "data":
            self.data.append(float(dict(attrs)["value"]))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open[-1] == tag, (self.open[-3:], tag)
        self.open.pop()

    def handle_data(self, data):
        self.words.append(data)
        if "td" in self.open or ("th" in self.open and "tr" in self.open):
            self.rows[-1][-1] += data

    @property
    def text(self):
        return " ".join("".join(self.words).split())

    def ids(self):
        return [value for _, key, value in self.attributes if key == "id"]


def svgs(text):
    return [ElementTree.fromstring(found) for found in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]


def self_contained(text):
    """Whether nothing outside the page is asked for, and nothing in it runs."""
    page = Page(text)
    assert not re.search(r"https?:|//|@import|javascript:", re.sub(r"<(code|td)\b.*?</\1>", "", text, flags=re.S))
    assert set(re.findall(r"url\((.)", text)) <= {"#"}
    assert not {"script", "link", "img", "iframe", "object", "embed", "base", "form", "image"} & set(page.tags)
    for tag, key, value in page.attributes:
        assert not key.startswith("on"), (tag, key)
        assert key not in ("src", "srcset", "action"), (tag, key)
        assert key != "href" or value.startswith("#")
    names = page.ids()
    assert len(names) == len(set(names)), "no two things have one name"
    inside = re.findall(r"url\(#([^)]*)\)", text) + [
        value[1:] for _, key, value in page.attributes if key == "href" and value.startswith("#")
    ]
    assert set(inside) <= set(names), "all that is pointed at is there"
    return page
