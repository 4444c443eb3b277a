"""A server from its first address to Ctrl-C."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from ipaddress import ip_address

import uvicorn

from topalpha.dashboard import assets
from topalpha.dashboard.access import ANY, Access, new_token
from topalpha.dashboard.application import application
from topalpha.dashboard.watching import Hub
from topalpha.storage.files import resolve
from topalpha.validate import require

#: Seconds that streams have to end by themselves.
GRACE = 0.5
#: What the system says where an address is not one of its own.
_NOT_HERE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


class Server(uvicorn.Server):
    """Ends its streams when it ends: they would go on for ever, and be waited for."""

    def __init__(self, config: uvicorn.Config, hub: Hub) -> None:
        super().__init__(config)
        self._hub = hub

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End streams first, then whoever does not read what it was sent, then the rest."""
        self._hub.close()
        for _ in range(round(GRACE / 0.05)):
            if not self._hub.viewers:
                break
            await asyncio.sleep(0.05)
        for connection in list(self.server_state.connections):
            if self._hub.viewers and connection.transport is not None:
                connection.transport.abort()
        await super().shutdown(sockets)


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes any that is free.

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
    require(bool(found) and host != "", "host", "be a name or an address of this machine", host)
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        # A port that was used a moment ago is free again; one that is in use is not.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        is_host = error.errno in _NOT_HERE
        name, condition = ("host", "be a name or an address of this machine") if is_host else ("port", "be free to use")
        raise ValueError(f"{name} must {condition}, got {host if is_host else port!r} ({error.strerror})") from error
    return listener


def addresses(access: Access, shown: bool) -> list[str]:
    """Where the page is: first the address for this machine, with the token if that is to be shown.

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
    """Serve the dashboard of a file until Ctrl-C; ``announce`` is called once it can be reached."""
    resolve(path)
    secret = new_token(token)
    assets.plotly()
    with bind(host, port) as listener:
        address, taken = listener.getsockname()[:2]
        access = Access(secret, str(ip_address(address.partition("%")[0])), taken, host)
        hub = Hub(path)
        config = uvicorn.Config(
            application(hub, access),
            http="h11",
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        announce(access)
        Server(config, hub).run([listener])
