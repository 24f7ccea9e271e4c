"""Who may send requests: this machine's browser, from this page. And what the page may load:
nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL_HOSTS = ("127.0.0.1", "localhost")
READING_METHODS = ("GET", "HEAD")
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


class LocalOnly:
    """Middleware that refuses foreign Host headers (DNS rebinding) and requests from other sites'
    pages."""

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
    """Say why a request is refused; return an empty string when it may pass.

    >>> refusal("GET", "/", [(b"host", b"localhost:8765")])
    ''
    >>> refusal("GET", "/", [(b"host", b"evil.example")])
    "the explorer answers to 127.0.0.1 and localhost only. Got the host 'evil.example' instead."
    """
    listed = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
    by_name = dict(listed)
    hosts = [value for name, value in listed if name == "host"]
    if len(hosts) != 1 or _name(hosts[0]) not in LOCAL_HOSTS:
        host = hosts[0][:100] if hosts else ""
        known = " and ".join(LOCAL_HOSTS)
        return f"the explorer answers to {known} only. Got the host {host!r} instead."
    own_origin = f"http://{hosts[0]}"
    is_reading = method in READING_METHODS
    other_site = by_name.get("sec-fetch-site", "none") not in ("same-origin", "none")
    if other_site and (not is_reading or path.startswith("/api")):
        return "another site's page sent this request. Open the explorer's own address instead."
    if not is_reading and by_name.get("origin", own_origin) != own_origin:
        return (
            "another site's page may not send data here. Open the explorer's own address instead."
        )
    return ""


def _name(host: str) -> str:
    """Return the name in a Host header, without its port; an empty string when it is malformed."""
    try:
        parts = urlsplit(f"//{host}")
        if parts.netloc != host or "@" in host:
            return ""
        return parts.hostname or ""
    except ValueError:
        return ""
