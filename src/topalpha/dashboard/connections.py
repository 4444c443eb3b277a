"""Connections: how many at once, and time limits for each."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from topalpha.dashboard.access import refused

#: Connections at once, if the system allows twice as many open files.
MOST = 512
#: Further connections, which are told that there are too many.
SPARE = 32
#: Seconds for a request to arrive, with its body.
REQUEST = 10.0
#: Seconds within which a client must read some of the data that waits for it.
READING = 60.0


def most() -> int:
    """The most connections at once: half of the files that the process may open.

    Examples
    --------
    >>> 0 < most() <= MOST
    True
    """
    try:
        import resource
    except ImportError:  # not on Windows
        return MOST // 2
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MOST if allowed == resource.RLIM_INFINITY else min(MOST, allowed // 2)


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
