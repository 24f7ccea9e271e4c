"""Detect: a dropped file in, events out. The file is held in memory while it is judged, and not
kept."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from locant.explorer.errors import UploadTooLarge
from locant.explorer.schemas import MAX_UPLOAD_BYTES
from locant.explorer.state import ExplorerState, json_response


def router(state: ExplorerState) -> APIRouter:
    """Serve /api/detect."""
    routes = APIRouter(prefix="/api", tags=["detect"])

    @routes.post("/detect")
    async def detect(request: Request) -> Response:
        """The body is CSV, TSV or JSON lines."""
        body = await read_body(request)
        return json_response(await state.slow.run("anomalies.detect_events", body))

    return routes


async def read_body(request: Request) -> bytes:
    """Read the body of a request; refuse one that is too large as soon as that is known."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_UPLOAD_BYTES:
            raise UploadTooLarge(
                f"this page takes files of up to {MAX_UPLOAD_BYTES / 1e6:g} MB. "
                "For larger ones use the terminal: locant detect FILE"
            )
    return bytes(body)
