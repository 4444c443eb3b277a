"""The routes: the page and its files, the file of searches, and the three controls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from jinja2 import Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from topalpha import __version__
from topalpha.dashboard import assets
from topalpha.dashboard.access import Access, Gate, most, refused
from topalpha.dashboard.file_reader import ODD
from topalpha.dashboard.states import asked, encode, table
from topalpha.dashboard.watching import MOST, Hub
from topalpha.storage import ACTIONS, StorageError, post
from topalpha.validate import choice

#: The most bytes in the body of a request.
LARGEST_BODY = 65536


def application(hub: Hub, access: Access) -> Starlette:
    """The server's application.

    Examples
    --------
    >>> found = application(Hub("searches.db"), Access("correct-horse", "127.0.0.1", 8765))
    >>> [route.path for route in found.routes if route.path.startswith("/api")]
    ['/api/searches', '/api/stream', '/api/arms', '/api/control']
    """
    routes = Routes(hub)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await hub.aclose()

    return Starlette(
        routes=[
            Route("/", routes.page),
            Route("/static/{name:path}", routes.static),
            Route("/assets/plotly.js", routes.plotly),
            Route("/api/searches", routes.searches),
            Route("/api/stream", routes.stream),
            Route("/api/arms", routes.arms),
            Route("/api/control", routes.control, methods=["POST"]),
        ],
        middleware=[Middleware(Gate, access=access)],
        exception_handlers={HTTPException: _sentence},
        lifespan=lifespan,
    )


class Events(StreamingResponse):
    """A stream of events that counts as a viewer until it ends.

    Examples
    --------
    >>> Events(Hub("searches.db"), None, controls=False).headers["content-type"]
    'text/event-stream; charset=utf-8'
    """

    def __init__(self, hub: Hub, name: str | None, controls: bool) -> None:
        super().__init__(hub.events(name, controls), media_type="text/event-stream")
        self._watched = hub.watched(name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until either side ends the stream."""
        with self._watched:
            await super().__call__(scope, receive, send)


class Routes:
    """The answer of each route; :class:`Gate` has decided who may ask.

    Examples
    --------
    >>> Routes(Hub("folder/searches.db")).hub.reader.file
    'searches.db'
    """

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self._pages = Environment(loader=FileSystemLoader(assets.HERE / "templates"), autoescape=True)

    async def page(self, request: Request) -> Response:
        """The page; ``boot`` is known to it before its first request."""
        boot = {"file": self.hub.reader.file, "version": __version__, "controls": request.state.controls}
        return HTMLResponse(self._pages.get_template("index.html").render(boot=boot, **boot))

    async def static(self, request: Request) -> Response:
        """A file of the page."""
        asset = assets.static().get(request.path_params["name"])
        return (
            refused(404, "path must be a file of the page, got another") if asset is None else asset.response(request)
        )

    async def plotly(self, request: Request) -> Response:
        """The chart library."""
        return assets.plotly().response(request)

    async def searches(self, request: Request) -> Response:
        """The list of searches."""
        await self.hub.refresh()
        return Response(self.hub.summary(request.state.controls), media_type="application/json")

    async def stream(self, request: Request) -> Response:
        """Everything about a search, as it happens; without a name, about the list of searches."""
        limit = min(MOST, most() // 2)  # so that viewers can make further requests
        if self.hub.viewers.total() >= limit:
            return refused(503, f"viewers must be at most {limit} at once, got one more")
        return Events(self.hub, request.query_params.get("name"), request.state.controls)

    async def arms(self, request: Request) -> Response:
        """A page of the table of arms."""
        hub, name = self.hub, request.query_params.get("name", "")
        try:
            wanted = asked(request.query_params)
        except ValueError as error:
            return refused(400, str(error))
        sight = await hub.refresh()
        trouble = sight.trouble(name)
        if trouble is not None:
            return refused(404, trouble)
        try:
            rows, candidates = await hub.reading(partial(hub.rows, name, sight))
            found = await asyncio.to_thread(lambda: encode(table(rows, candidates, **wanted)))
        except ODD as error:
            return refused(503, hub.reader.spoken(error))
        return Response(found, media_type="application/json")

    async def control(self, request: Request) -> Response:
        """Post a message to a running search."""
        hub = self.hub
        try:
            name, action = _order(await _body(request))
        except ValueError as error:
            return refused(413 if isinstance(error, _TooLarge) else 400, str(error))
        except ClientDisconnect:
            return refused(400, "body must come whole, got a part of it")
        sight = await hub.refresh()
        trouble = sight.trouble(name)
        if trouble is not None:
            return refused(422, trouble)
        one = sight.searches[name]
        if not one.alive():
            how = f"it gave no sign of life lately, although its status is {one.status}"
            reason = how if one.status == "running" else f"its status is {one.status}"
            return refused(409, f"name must be a search that is running, got {name!r} ({reason})")
        try:
            # It may have to wait for another writer: viewers do not.
            await asyncio.to_thread(post, hub.reader.path, name, action)
        except StorageError as error:
            return refused(503, hub.reader.spoken(error))
        return JSONResponse({"posted": action}, 202)


class _TooLarge(ValueError):
    """A body that is too long."""


async def _body(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ValueError(f"content type must be application/json, got {kind[:80]!r}")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise _TooLarge(f"body must have at most {LARGEST_BODY} bytes, got more")
    return body


def _order(body: bytes) -> tuple[str, str]:
    """The search, and the action."""
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("body must be JSON, got something else") from None
    if not isinstance(found, dict) or not isinstance(found.get("name"), str) or set(found) != {"name", "action"}:
        raise ValueError("body must be an object with a name and an action, got something else")
    return found["name"], choice("action", str(found["action"])[:80], ACTIONS)


async def _sentence(_: Request, error: Exception) -> Response:
    """Turn errors of the framework into our form."""
    assert isinstance(error, HTTPException)
    return refused(error.status_code, f"request must be for a known route, got {error.detail}")
