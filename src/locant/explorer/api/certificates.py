"""Certificates: measured when they are asked for, and kept until the encoding's file changes."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from locant.explorer.schemas import EncodingRequest
from locant.explorer.state import ExplorerState, json_response

SIZE = {"dim": 64, "heads": 4, "length": 512}


def router(state: ExplorerState) -> APIRouter:
    """Serve /api/certificate."""
    routes = APIRouter(prefix="/api", tags=["certificates"])
    measured: dict[tuple[str, int], bytes] = {}

    @routes.get("/certificate")
    async def certificate(request: Annotated[EncodingRequest, Query()]) -> Response:
        """Every property of an encoding, measured (about ten seconds the first time)."""
        name = request.encoding
        key = (name, state.entry(name).path.stat().st_mtime_ns)
        if key not in measured:
            measured[key] = await state.slow.run("encoding_views.certificate", name, SIZE)
        return json_response(measured[key])

    return routes
