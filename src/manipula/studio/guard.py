"""Who may talk to the studio: this machine, this page, whoever holds the token. Everything else gets nothing.

A request is answered only if

1. it was sent to an address of ours (``Host`` is one of a few exact names: a foreign name that resolves to 127.0.0.1 is refused),
2. it comes from our own page (``Origin``, which browsers always send where something changes or a socket is opened),
3. it carries the token (a cookie that only the address printed in the terminal sets, or once the ticket that the browser is started with: other users of
   the machine see how programs were started; compared in constant time),
4. it is not too large, and asks by a method that we answer.

Every answer forbids the page to load or reach anything but this server.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BYTES = 24 * 2**20  # of a request: a file of 16 MiB as text inside JSON
READING = ("GET", "HEAD")
METHODS = (*READING, "POST")
LONGEST_PATH = 2048
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self' {sockets}; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Refused(Exception):
    """Why a request is not answered: the status of the answer and a few words."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words


class Guard:
    """Lets through what is allowed; the application behind it never sees anything else."""

    def __init__(self, app: App, port: int, token: str, ticket: str | None = None) -> None:
        self.app, self.token, self.cookie = app, token, f"manipula-{port}"  # cookies know no ports
        self._ticket = ticket
        self.hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))
        self.origins = frozenset(f"http://{host}" for host in self.hosts)
        self.headers = safe_headers(self.hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        try:
            fresh = self.check(scope)
        except Refused as refused:
            return await self._refuse(scope, receive, send, refused)
        if scope["type"] == "websocket":
            return await self.app(scope, receive, send)
        await self.app(scope, _limited(receive), self._careful(send, fresh))

    def check(self, scope: Scope) -> bool:
        """Refuse what is not allowed. True when the token came with the address: the answer then sets the cookie."""
        names = [name for name, _ in scope["headers"]]
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if names.count(b"host") != 1 or headers["host"].lower() not in self.hosts:
            raise Refused(421, "This address is not served here.")
        socket = scope["type"] == "websocket"
        method = "GET" if socket else scope["method"]
        if method not in METHODS:
            raise Refused(405, "This method is not answered.")
        if (
            len(scope.get("raw_path") or scope["path"]) > LONGEST_PATH
            or len(scope.get("query_string", b"")) > LONGEST_PATH
        ):
            raise Refused(414, "The address is too long.")
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        needed = socket or method not in READING
        if any(origin not in self.origins for origin in origins) or len(origins) > 1 or (needed and not origins):
            raise Refused(403, "This page may not ask here.")
        if headers.get("sec-fetch-site", "none") == "cross-site" and (needed or scope["path"] != "/"):
            raise Refused(403, "This page may not ask here.")
        if not _small(headers.get("content-length")):
            raise Refused(413, f"At most {MOST_BYTES} bytes are read.")
        opening = not socket and method == "GET" and scope["path"] == "/"
        fresh = opening and (self._in_address(scope) or self._taken(scope))
        if not fresh and not self._in_cookie(headers.get("cookie", "")):
            raise Refused(403, "Open the address that 'manipula studio' printed: it holds the key.")
        return fresh

    def _in_address(self, scope: Scope) -> bool:
        given = _asked(scope, "token")
        return given is not None and _same(given, self.token)

    def _taken(self, scope: Scope) -> bool:
        """Does the address hold the ticket? It is good for one page."""
        given = _asked(scope, "ticket")
        if given is None or self._ticket is None or not _same(given, self._ticket):
            return False
        self._ticket = None
        return True

    def _in_cookie(self, text: str) -> bool:
        try:
            found = SimpleCookie(text).get(self.cookie)
        except CookieError:
            return False
        return found is not None and _same(found.value, self.token)

    def _careful(self, send: Send, fresh: bool) -> Send:
        """The same answer with the headers that keep a page on its own."""

        async def sent(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                more = list(self.headers)
                if fresh:
                    more.append(
                        (b"set-cookie", f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/".encode())
                    )
                message = {**message, "headers": [*message.get("headers", ()), *more]}
            await send(message)

        return sent

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, refused: Refused) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refused.words})
            return
        body = refused.words.encode()
        kind = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": refused.status, "headers": [*kind, *self.headers]})
        await send({"type": "http.response.body", "body": body})


def safe_headers(hosts: Iterable[str]) -> tuple[tuple[bytes, bytes], ...]:
    """What every answer says to the browser."""
    sockets = " ".join(sorted(f"ws://{host}" for host in hosts))
    return (
        (b"content-security-policy", POLICY.format(sockets=sockets).encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"cache-control", b"no-store"),
    )


def _asked(scope: Scope, name: str) -> str | None:
    """The value of a name in the address, where it stands there once."""
    given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get(name, [])
    return given[0] if len(given) == 1 else None


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())


def _small(length: str | None) -> bool:
    return length is None or (length.isascii() and length.isdecimal() and int(length[:12]) <= MOST_BYTES)


def _limited(receive: Receive) -> Receive:
    """The body of a request, which ends with an error when it is larger than it may be, whatever it said before."""
    seen = 0

    async def received() -> MutableMapping[str, Any]:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MOST_BYTES:
            raise Refused(413, f"At most {MOST_BYTES} bytes are read.")
        return message

    return received
