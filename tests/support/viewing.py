"""Pages in a browser, with everything that they say and ask for."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import topalpha.dashboard
from tests.support.waiting import PATIENCE, until

FOLDER = Path(topalpha.dashboard.__file__).parent
LOST, GONE = "net::ERR_", ("status of 404", "status of 503")


class Viewer:
    """Opens pages and keeps a list of their complaints and requests."""

    def __init__(self, context):
        self._context = context
        self._apart = []
        self.pages = []
        self.complaints = []
        self.requests = []
        self.origins = set()
        #: Whether the server may vanish: then the browser itself says that it cannot reach it.
        self.may_be_lost = False
        #: Whether the file may vanish: then the browser itself notes that a question about it was refused.
        self.may_be_missing = False

    def __call__(self, address, width=1280, scheme="light", apart=False):
        """A page; ``apart`` from the others it has no token but what its address brings."""
        context = self._context
        if apart:
            context = self._context.browser.new_context(reduced_motion="reduce")
            self._apart.append(context)
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.set_default_timeout(1000 * PATIENCE)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        self.origins.add(origin(address))
        self.pages.append(page)
        page.goto(address)
        return page

    def _hear(self, message):
        lost = self.may_be_lost and LOST in message.text
        missing = self.may_be_missing and any(one in message.text for one in GONE)
        if message.type in ("error", "warning") and not lost and not missing:
            self.complaints.append(message.text)

    def judge(self):
        assert self.complaints == []
        outside = [url for url in self.requests if origin(url) not in self.origins and not url.startswith("data:")]
        assert outside == []

    def photograph(self, folder, test):
        folder.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^a-z0-9]+", "-", test.partition(" ")[0].rpartition("::")[2].lower())
        for number, page in enumerate(self.pages):
            page.screenshot(path=folder / f"{name}-{number}.png", full_page=True)

    def close(self):
        for one in (*self.pages, *self._apart):
            one.close()


def origin(url):
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def text(page, identity):
    return page.locator(f"#{identity}").inner_text()


def number(page, identity="pulls"):
    """The figure that an element shows; None if it shows none."""
    found = text(page, identity).replace(",", "")
    return float(found) if re.fullmatch(r"[0-9.e-]+", found) else None


def shown(page, identity, words):
    """Wait until an element shows these words."""
    page.wait_for_timeout(10)
    until(lambda: (words in page.locator(f"#{identity}").text_content() and visible(page, identity)) or pump(page))


def visible(page, identity):
    return page.locator(f"#{identity}").is_visible()


def press(page, identity):
    """Press a button now: a click would wait until the page stands still, and what it is to see may be over by then."""
    page.locator(f"#{identity}").evaluate("button => button.click()")


def pump(page):
    """Let the page's events through; never true."""
    page.wait_for_timeout(20)
    return False


@contextmanager
def scripted(context, address, text):
    """While this is open, pages are given another script from such an address."""
    context.route(address, lambda route: route.fulfill(content_type="text/javascript", body=text))
    try:
        yield
    finally:
        context.unroute(address)


def quicker(context, script, **milliseconds):
    """While this is open, times in a script of the page are others, by name: a test would have to wait for them."""
    text = (FOLDER / "static" / f"{script}.js").read_text(encoding="utf-8")
    for name, value in milliseconds.items():
        text, found = re.subn(rf"^const {name} = [0-9]+;$", f"const {name} = {value};", text, flags=re.MULTILINE)
        assert found == 1, f"{script}.js has no number {name}"
    return scripted(context, f"**/static/{script}.js", text)


def moment(page, name):
    """Milliseconds from the start of loading to a mark of the page; None before it."""
    found = page.evaluate("name => performance.getEntriesByName(name).map(entry => entry.startTime)", name)
    return found[0] if found else None


def drawn(page):
    """Wait until the charts are there."""
    until(lambda: moment(page, "topalpha-charts-drawn") is not None or pump(page))


def bars(page):
    """The places of the bars in the race: of beaten arms, of those that contest, and of the leader."""
    paths = page.evaluate("document.getElementById('race').layout.shapes.slice(0, 3).map(shape => shape.path)")
    found = [re.findall(r"M([0-9]+),([-0-9.e]+)L[0-9]+,([-0-9.e]+)", path) for path in paths]
    return [[int(place) for place, low, high in one if low != high] for one in found]


def overflow(page):
    """By how many pixels the page is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
