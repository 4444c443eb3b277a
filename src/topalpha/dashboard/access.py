"""Who may see the page and who may control the search, and how many, decided before any route is reached."""

from __future__ import annotations

import re
import secrets
import socket
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topalpha.validate import require

#: The form of a token given by the user: it travels in addresses, cookies and headers.
TOKEN = re.compile(r"[A-Za-z0-9_-]{8,256}")
#: Addresses that stand for all addresses of the machine.
ANY = ("0.0.0.0", "::")
#: How a person shows the token in a browser.
HOW = "open this address with /?token= and the token that `topalpha dashboard` printed or was given"

#: Connections at once, if the system allows twice as many open files.
MOST = 512
#: Seconds in which a browser that is started with a ticket has to come.
VALID = 60.0

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


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


def new_token(given: str | None = None) -> str:
    """The given token, if it is valid; without one, a new one that cannot be guessed.

    Examples
    --------
    >>> new_token("correct-horse"), len(new_token()) >= 32
    ('correct-horse', True)
    """
    if given is None:
        return secrets.token_urlsafe(32)
    fits = TOKEN.fullmatch(given) is not None
    # The value stays out of the sentence: a wrong token may nearly be the secret, which logs must not hold.
    require(fits, "token", "be 8 to 256 letters, digits, - and _", f"{len(given)} characters")
    return given


class Ticket:
    """A token for one visit within a minute; a new ticket voids the one before.

    All users of a machine can see the arguments that a browser is started with.

    Examples
    --------
    >>> ticket = Ticket()
    >>> issued = ticket.issue()
    >>> ticket.redeem("another"), ticket.redeem(issued), ticket.redeem(issued)
    (False, True, False)
    """

    def __init__(self) -> None:
        self._text: str | None = None
        self._end = 0.0

    def issue(self) -> str:
        """A new ticket."""
        self._text, self._end = secrets.token_urlsafe(32), time.monotonic() + VALID
        return self._text

    def redeem(self, given: str) -> bool:
        """Whether this is the ticket and still valid; it can be redeemed once."""
        valid = self._text is not None and time.monotonic() < self._end
        if not valid or not secrets.compare_digest(given.encode(errors="replace"), str(self._text).encode()):
            return False
        self._text = None
        return True


@dataclass(frozen=True)
class Access:
    """The rules for one server.

    Attributes
    ----------
    token
        Its holder may do everything.
    address, port
        The address and port that the server is bound to.
    host
        The user's name for it; the address unless a name was given.
    ticket
        Replaces the token once, in the address that a browser is started with.

    Examples
    --------
    >>> access = Access("correct-horse", "127.0.0.1", 8765)
    >>> access.is_loopback, access.is_own("localhost:8765"), access.is_own("evil.example")
    (True, True, False)
    >>> access.matches("correct-horse"), access.matches("battery-staple"), access.matches(None)
    (True, False, False)
    """

    token: str
    address: str
    port: int
    host: str = ""
    ticket: Ticket = field(default_factory=Ticket, compare=False, repr=False)

    @classmethod
    def at(cls, listener: socket.socket, token: str, host: str) -> Access:
        """The rules for a server on this socket, which the user calls by this name."""
        address, port = listener.getsockname()[:2]
        return cls(token, address.partition("%")[0], port, host)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return ip_address(self.address).is_loopback

    @property
    def cookie(self) -> str:
        """The name of the cookie, with the port, because all ports of a host share cookies."""
        return f"topalpha-{self.port}"

    def matches(self, token: str | None) -> bool:
        """Whether this is the token, compared in constant time."""
        return token is not None and secrets.compare_digest(token.encode(errors="replace"), self.token.encode())

    def is_own(self, header: str) -> bool:
        """Whether a Host header names this server, not a foreign name that leads here."""
        name = _name(header)
        if name is None:
            return False
        if name in ("localhost", self.host.lower()):
            return True
        try:
            found = ip_address(name)
        except ValueError:
            own = socket.gethostname().lower()
            return self.address in ANY and name in (own, f"{own}.local")
        # Unlike a name, an address cannot lead elsewhere: if all addresses are served, any of them is fine.
        return found.is_loopback or found == ip_address(self.address) or self.address in ANY

    def holds(self, headers: Headers) -> str | None:
        """How the client shows the token: "bearer", "cookie" or None."""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.matches(given.strip()):
            return "bearer"
        # Parsed as browsers do: other servers of the machine send odd cookies along.
        return "cookie" if self.matches(cookie_parser(headers.get("cookie", "")).get(self.cookie)) else None


class Gate:
    """Passes on requests that the rules allow, and answers the others itself.

    Sets ``scope["state"]["controls"]``: whether the client holds the token.

    Examples
    --------
    >>> import asyncio
    >>> async def send(message):
    ...     print(message.get("status"), message.get("body", b"")[:30])
    >>> head = {"method": "GET", "path": "/", "query_string": b"", "headers": [(b"host", b"evil.example")]}
    >>> gate = Gate(None, Access("correct-horse", "127.0.0.1", 8765))
    >>> asyncio.run(gate({"type": "http", **head}, None, send))
    421 b''
    None b'{"error":"host must be this se'
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        answer = self._answer(scope)
        await (self._app if answer is None else answer)(scope, receive, guarded)

    def _answer(self, scope: Scope) -> Response | None:
        """The response to a refused request; None for one that may pass."""
        access, headers, method = self._access, Headers(scope=scope), scope["method"]
        if method not in ("GET", "POST"):
            return refused(405, f"method must be GET or POST, got {method!r}", Allow="GET, POST")
        host = headers.get("host", "")
        if not access.is_own(host):
            return refused(421, f"host must be this server's own name or address, got {host[:200]!r}")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return refused(403, f"origin must be this server, got {origin[:200]!r}")
        given = QueryParams(scope["query_string"]).get("token")
        if scope["path"] == "/" and method == "GET" and given is not None:
            return self._welcome(given)
        shown = access.holds(headers)
        scope.setdefault("state", {})["controls"] = shown is not None
        if shown is None and (method == "POST" or not access.is_loopback):
            what = "to control a search" if access.is_loopback else "at this address"
            sentence = f"token must be given {what}: {HOW}, got none"
            return refused(401, sentence, **{"WWW-Authenticate": "Bearer"})
        if method == "POST" and shown == "cookie" and origin is None:
            return refused(403, "origin must be this server, got none")
        return None

    def _welcome(self, given: str) -> Response:
        """Turn the token into a cookie, and remove it from the address."""
        if not self._access.matches(given) and not self._access.ticket.redeem(given):
            return refused(401, "token must be that of `topalpha dashboard`, got another")
        response = RedirectResponse("/", HTTPStatus.SEE_OTHER)
        response.set_cookie(self._access.cookie, self._access.token, httponly=True, samesite="strict", path="/")
        return response


def refused(status: int, sentence: str, **headers: str) -> Response:
    """A JSON response with one sentence about the error.

    Examples
    --------
    >>> refused(404, "path must be a file of the page, got another").body
    b'{"error":"path must be a file of the page, got another"}'
    """
    return JSONResponse({"error": sentence}, status, headers)


def _name(header: str) -> str | None:
    """The host in a Host header, without its port; None if the header is malformed."""
    found = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{1,5})?", header)
    return None if found is None else (found[1] or found[2]).lower()
