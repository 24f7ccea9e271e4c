"""Who may ask: this machine's own browser, on this page. And what the browser may load: nothing from anywhere else."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HERE = ("127.0.0.1", "localhost")
READING = ("GET", "HEAD")
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


class Guard:
    """Refuses foreign Host headers (a foreign name may be made to lead here) and requests from other sites' pages."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *own]
            await send(message)

        why = refusal(scope["method"], scope["path"], scope["headers"])
        if why:
            await JSONResponse({"error": why}, 403)(scope, receive, send_with_headers)
        else:
            await self.app(scope, receive, send_with_headers)


def refusal(method: str, path: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Why a request is refused; nothing when it may pass.

    >>> refusal("GET", "/", [(b"host", b"localhost:8765")])
    ''
    >>> refusal("GET", "/", [(b"host", b"evil.example")])
    "the explorer answers to 127.0.0.1 and localhost alone. Got the host 'evil.example' instead."
    """
    listed = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
    said = dict(listed)
    hosts = [value for name, value in listed if name == "host"]
    if len(hosts) != 1 or _name(hosts[0]) not in HERE:
        asked = hosts[0][:100] if hosts else ""
        return (
            f"the explorer answers to {' and '.join(HERE)} alone. Got the host {asked!r} instead."
        )
    elsewhere = said.get("sec-fetch-site", "none") not in ("same-origin", "none")
    if elsewhere and (method not in READING or path.startswith("/api")):
        return "this was asked by another site's page. Open the explorer's own address instead."
    if method not in READING and said.get("origin", f"http://{hosts[0]}") != f"http://{hosts[0]}":
        return "another site's page may not send anything here. Open the explorer's own address instead."
    return ""


def _name(host: str) -> str:
    """The name in a Host header, without its port; nothing when it is no such header."""
    try:
        parts = urlsplit(f"//{host}")
        return parts.hostname or "" if parts.netloc == host and "@" not in host else ""
    except ValueError:
        return ""
