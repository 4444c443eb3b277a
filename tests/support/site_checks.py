"""What can be wrong with a built site, found in its files: each check returns a sentence for everything that is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Elements without an end.
VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
#: Pages that Sphinx makes for its own purposes, and that no other need link to.
MACHINERY = frozenset({"search.html", "genindex.html", "py-modindex.html"})
#: Text in these is not prose.
VERBATIM = frozenset({"code", "pre", "script", "style", "math", "title"})
ASSETS = {
    "img": "src",
    "script": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
}
FAULTY = frozenset({"katex-error", "formula-error"})
LOADING = frozenset({"stylesheet", "icon", "preload", "prefetch", "modulepreload", "dns-prefetch", "preconnect"})
#: How style sheets and scripts fetch something.
FETCHED = {
    ".css": r"(?:url\(|@import)\s*[\"']?(?!data:)([^\"')\s;]+)",
    ".js": r"(?:(?:import|fetch|importScripts|open)\(|\.src\s*=)\s*[\"'`]((?:https?:)?//[^\"'`]+)",
}


@dataclass
class Page(HTMLParser):
    """What the checks need to know about one page."""

    text: str
    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    assets: list[str] = field(default_factory=list)
    pictures: list[dict[str, str]] = field(default_factory=list)
    formulas: int = 0
    faulty: int = 0
    prose: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag: str, pairs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in pairs}
        if tag not in VOID:
            self._open.append(tag)
        self.ids.update(found[name] for name in ("id", "name") if name in found and (name == "id" or tag == "a"))
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in ASSETS and "src" in found:
            self.assets.append(found["src"])
        if "srcset" in found:
            self.assets += [one.split()[0] for one in found["srcset"].split(",")]
        if tag == "link" and LOADING & set(found.get("rel", "").split()):
            self.assets.append(found["href"])
        if tag == "img":
            self.pictures.append(found)
        inside = "article" in self._open
        classes = set(found.get("class", "").split())
        self.formulas += "math" in classes and inside
        self.faulty += tag == "merror" or bool(FAULTY & classes)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if "article" in self._open and not VERBATIM & set(self._open):
            self.prose.append(data)


@cache
def pages(site: Path) -> dict[str, Page]:
    """Every page, by its place in the site."""
    return {
        path.relative_to(site).as_posix(): Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
    }


def inner(site: Path, place: str, link: str) -> tuple[Path, str] | None:
    """The file and the anchor that a link of a page leads to; None if it leads out of the site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    file = (site / place).parent / unquote(parts.path) if parts.path else site / place
    return (file / "index.html" if parts.path.endswith("/") else file).resolve(), unquote(parts.fragment)


def broken_links(site: Path) -> Iterator[str]:
    """Links that lead to no file or to no anchor."""
    known = {(site / place).resolve(): page for place, page in pages(site).items()}
    for place, page in pages(site).items():
        for link in page.links:
            target = inner(site, place, link)
            if target is None:
                continue
            file, anchor = target
            if not file.exists():
                yield f"{place}: {link} leads nowhere"
            elif anchor and file in known and anchor not in known[file].ids:
                yield f"{place}: {link} has no such anchor"


def unreachable(site: Path) -> Iterator[str]:
    """Pages that cannot be reached from the index."""
    root = site.resolve()
    reached, waiting = set(), ["index.html"]
    while waiting:
        place = waiting.pop()
        if place in reached or place not in pages(site):
            continue
        reached.add(place)
        targets = [inner(site, place, link) for link in pages(site)[place].links]
        waiting += [
            file.relative_to(root).as_posix()
            for file, _ in filter(None, targets)
            if file.suffix == ".html" and file.is_relative_to(root)
        ]
    for place in sorted(set(pages(site)) - reached - MACHINERY):
        yield f"{place} cannot be reached"


def outside_assets(site: Path) -> Iterator[str]:
    """Whatever a browser would fetch from another place, or would not find."""
    for place, page in pages(site).items():
        for asset in page.assets:
            target = None if asset.startswith("data:") else inner(site, place, asset)
            if target is None and not asset.startswith("data:"):
                yield f"{place} needs {asset}"
            elif target is not None and not target[0].exists():
                yield f"{place} misses {asset}"
    for path in sorted((*site.rglob("*.css"), *site.rglob("*.js"))):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for found in re.finditer(FETCHED[path.suffix], text):
            asset = found[1]
            if re.match(r"(?:https?:)?//", asset):
                yield f"{path.relative_to(site)} needs {asset}"
            elif path.suffix == ".css" and not (path.parent / urlsplit(asset).path).exists():
                yield f"{path.relative_to(site)} misses {asset}"


def silent_pictures(site: Path) -> Iterator[str]:
    """Pictures in the text without words for those who do not see them; a thumbnail has its title beside it."""
    for place, page in pages(site).items():
        for picture in page.pictures:
            if not picture.get("alt", "").strip() and "thumb" not in picture["src"]:
                yield f"{place}: {picture['src']} has no alternative text"


def formulas_in(markdown: str) -> int:
    """How many formulas a page in Markdown has."""
    text = re.sub(r"^```.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`]*`", "", text)
    return len(re.findall(r"\$\$.+?\$\$|(?<![\\$])\$[^$]+?\$", text, re.DOTALL))


def unset_formulas(site: Path, docs: Path) -> Iterator[str]:
    """Formulas that are errors, that are missing, or that stand in the text as they were typed."""
    for place, page in pages(site).items():
        if page.faulty:
            yield f"{place}: {page.faulty} formulas are errors"
        for raw in re.findall(r"\$[^$\n]*\\[a-z]+|\\(?:varepsilon|alpha|delta|mu|frac|ge|le)\b", "".join(page.prose)):
            yield f"{place}: a formula as it was typed, {raw!r}"
        source = docs / Path(place).with_suffix(".md")
        if source.is_file() and (wanted := formulas_in(source.read_text(encoding="utf-8"))) != page.formulas:
            yield f"{place}: {page.formulas} formulas instead of {wanted}"
