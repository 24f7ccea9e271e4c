"""A file that is sent to the explorer: held in memory while it is judged, never longer than is allowed."""

from __future__ import annotations

from fastapi import Request

from locant.explorer.asked import UPLOAD


class TooLarge(Exception):
    """More bytes than may be sent, told in a sentence."""


async def received(request: Request) -> bytes:
    """The body of a request; one that is too large is given up as soon as that is known."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > UPLOAD:
            raise TooLarge(
                f"this page takes files of up to {UPLOAD / 1e6:g} MB. For larger ones use the terminal: locant detect FILE"
            )
    return bytes(body)
