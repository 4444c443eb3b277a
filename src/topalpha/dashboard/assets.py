"""The files of the page: a fixed set, read once, so that no address can name another file."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

HERE = Path(__file__).parent
#: Bytes of a file that are sent at once.
PIECE = 65536
TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}


@dataclass(frozen=True)
class Asset:
    """A file, with its media type and tag.

    Examples
    --------
    >>> Asset(b"body {}", "text/css").tag[:1]
    '"'
    """

    content: bytes
    media_type: str

    @cached_property
    def tag(self) -> str:
        """A hash of the content."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'

    def response(self, request: Request) -> Response:
        """The file, unless the browser already has it."""
        headers = {"ETag": self.tag, "Cache-Control": "no-cache"}
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        headers["Content-Length"] = str(len(self.content))
        return StreamingResponse(self._pieces(), media_type=self.media_type, headers=headers)

    async def _pieces(self) -> AsyncIterator[bytes]:
        """The content in pieces, so that a slow client keeps only one of them in memory."""
        for start in range(0, len(self.content), PIECE):
            yield self.content[start : start + PIECE]


@cache
def static() -> dict[str, Asset]:
    """The files in ``static``, by name.

    Examples
    --------
    >>> "style.css" in static(), "../access.py" in static()
    (True, False)
    """
    folder = HERE / "static"
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and file.suffix in TYPES)
    return {file.relative_to(folder).as_posix(): Asset(file.read_bytes(), TYPES[file.suffix]) for file in files}


@cache
def plotly() -> Asset:
    """The chart library from its wheel, found without importing it, which is slow.

    Examples
    --------
    >>> len(plotly().content) > 1_000_000
    True
    """
    spec = find_spec("plotly")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'plotly'", name="plotly")
    return Asset((Path(spec.origin).parent / "package_data" / "plotly.min.js").read_bytes(), TYPES[".js"])
