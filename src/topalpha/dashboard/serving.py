"""The server, from its start to Ctrl-C, and its connections: how many at once, and time limits for each."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Callable
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from topalpha.dashboard import assets
from topalpha.dashboard.access import ANY, Access, most, new_token, refused
from topalpha.dashboard.routes import application
from topalpha.dashboard.watching import Hub
from topalpha.storage.files import resolve
from topalpha.validate import require

#: Seconds for streams and responses to end when the server ends.
GRACE = 0.5
#: The most bytes in the head of a request: names of searches may be long.
LONGEST_HEAD = 65536
#: How many connections may wait, and how many are accepted at once: a crowd enters in small groups, so that it is
#: counted before it has used up all files.
QUEUE, BATCH = 128, 4
#: Tenths of a second between two checks of all connections.
LOOK = 10
#: Further connections, which are told that there are too many.
SPARE = 32
#: Seconds for a request to arrive, with its body.
REQUEST = 10.0
#: Seconds within which a client must read some of the data that waits for it.
READING = 60.0
_OWN = "be a name or an address of this machine"
#: Errors for an address that is not the machine's own.
_NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
#: Errors if no more connections can be opened.
_FULL = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

logger = logging.getLogger(__name__)


class Connection(H11Protocol):
    """One connection, with limits that uvicorn does not have.

    Where there are too many, the client that has waited longest without a whole request makes room: neither a browser
    that holds a connection in reserve nor a client that never ends its request keeps others out. If there is no such
    client, the newcomer is refused.

    Examples
    --------
    >>> import uvicorn
    >>> uvicorn.Config("module:app", http=Connection).http.__name__
    'Connection'
    """

    _since = 0.0
    _moved = 0.0
    _unsent = 0
    _is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, if there is room."""
        super().connection_made(transport)
        self._since = self.loop.time()
        excess = len(self.connections) - most()
        if excess <= 0:
            return
        others = (one for one in self.connections if isinstance(one, Connection) and one is not self)
        waiting = [one for one in others if one.is_waited_for and not one._is_refused]
        if waiting:
            min(waiting, key=lambda one: one._since).drop()
        elif excess > SPARE:
            self.drop()
        else:
            self._is_refused = True
            sentence = f"connections must be at most {most()} at once, got one more"
            self.app = refused(503, sentence, Connection="close")

    def on_response_complete(self) -> None:
        """Start to wait for the next request."""
        self._since = self.loop.time()
        super().on_response_complete()

    @property
    def is_waited_for(self) -> bool:
        """Whether the client has not sent a complete request."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def check(self) -> None:
        """End the connection if the client takes too long; called about once a second."""
        now = self.loop.time()
        if self.flow.write_paused or self.transport.is_closing():
            # Nothing is added to the buffer: unless it shrinks, nobody reads.
            unsent = self.transport.get_write_buffer_size()
            if unsent != self._unsent:
                self._unsent, self._moved = unsent, now
            elif now - self._moved > READING:
                self.drop()
            return
        self._unsent = 0
        if self.is_waited_for and now - self._since > REQUEST:
            self._give_up()

    def drop(self) -> None:
        """End the connection without a response; it no longer counts."""
        self.connections.discard(self)
        self.transport.abort()

    def _give_up(self) -> None:
        """Report that the request has not come, if it has begun and is not answered yet."""
        has_begun = self.conn.their_state is h11.SEND_BODY or bool(self.conn.trailing_data[0])
        if not has_begun or self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.drop()
            return
        if self.cycle is not None:
            self.cycle.disconnected = True  # an answer of the application comes too late
        answer = refused(408, f"request must come within {REQUEST:g} seconds, got a part of it", Connection="close")
        head = h11.Response(status_code=408, headers=answer.raw_headers, reason=STATUS_PHRASES[408])
        for event in (head, h11.Data(data=bytes(answer.body)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class Server(uvicorn.Server):
    """The server of a file. It ends its streams when it ends: otherwise it would wait for them forever.

    Examples
    --------
    >>> server = Server("searches.db", Access("correct-horse", "127.0.0.1", 8765))
    >>> server.hub.viewers.total()
    0
    """

    def __init__(self, path: str, access: Access) -> None:
        self.hub = Hub(path)
        self._told_full = False
        super().__init__(
            uvicorn.Config(
                application(self.hub, access),
                http=Connection,
                ws="none",
                loop="asyncio",
                lifespan="on",
                log_config=None,
                log_level="error",
                access_log=False,  # it would hold tokens
                proxy_headers=False,
                server_header=False,
                h11_max_incomplete_event_size=LONGEST_HEAD,
                backlog=BATCH,
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections."""
        asyncio.get_running_loop().set_exception_handler(self._complain)
        await super().startup(sockets)
        for listener in sockets or []:
            listener.listen(QUEUE)  # asyncio has one number for both, and has set it to BATCH

    async def on_tick(self, counter: int) -> bool:
        """Check the connections now and then; called ten times a second."""
        if counter % LOOK == 0:
            for connection in list(self.server_state.connections):
                if isinstance(connection, Connection):
                    connection.check()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then the server; clients that do not read are dropped after a moment."""
        self.hub.close()
        dropping = asyncio.create_task(self._drop())
        try:
            await super().shutdown(sockets)
        finally:
            dropping.cancel()

    def _complain(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Report errors of the event loop; a lack of files, which may recur every second, only once."""
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _FULL and "socket" in context:
            if not self._told_full:
                logger.error("Connections have to wait until others end: %s.", error.strerror)
            self._told_full = True
        elif not (self.should_exit and "_start_serving" in context.get("message", "")):
            # After such a lack asyncio tries again, even if the server has ended meanwhile.
            loop.default_exception_handler(context)

    async def _drop(self) -> None:
        """After a while drop all remaining clients: they do not read, and may never do so."""
        await asyncio.sleep(GRACE)
        for connection in list(self.server_state.connections):
            if connection.transport is not None:
                connection.transport.abort()


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes any free port.

    Examples
    --------
    >>> listener = bind("127.0.0.1", 0)
    >>> listener.getsockname()[1] > 0
    True
    >>> listener.close()
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        found = []
    require(bool(found) and host != "", "host", _OWN, host)
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        # A port that was used a moment ago is free again, unless it is still in use.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(QUEUE)
    except OSError as error:
        listener.close()
        is_host = error.errno in _NOT_HERE
        said = f"host must {_OWN}, got {host!r}" if is_host else f"port must be free to use, got {port}"
        raise ValueError(f"{said} ({error.strerror})") from error
    return listener


def addresses(access: Access, shown: bool) -> list[str]:
    """The addresses of the page, first the one for this machine; with the token if ``shown``.

    Examples
    --------
    >>> addresses(Access("correct-horse", "127.0.0.1", 8765, "127.0.0.1"), shown=True)
    ['http://127.0.0.1:8765/?token=correct-horse']
    """
    hosts = [access.address]
    if access.address in ANY:
        hosts = ["127.0.0.1" if access.address == "0.0.0.0" else "::1", socket.gethostname()]
    end = f":{access.port}/" + (f"?token={access.token}" if shown else "")
    return [f"http://{f'[{host}]' if ':' in host else host}{end}" for host in hosts]


def serve(
    path: str,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    announce: Callable[[Access], None] = lambda access: None,
) -> None:
    """Serve the dashboard of a file until Ctrl-C; ``announce`` is called once it can be reached.

    Examples
    --------
    >>> serve("/")
    Traceback (most recent call last):
    topalpha.storage.errors.StorageError: path must name a file, got '/' (a directory)
    """
    resolve(path)
    secret = new_token(token)
    assets.plotly()
    with bind(host, port) as listener:
        access = Access.at(listener, secret, host)
        announce(access)
        Server(path, access).run([listener])
