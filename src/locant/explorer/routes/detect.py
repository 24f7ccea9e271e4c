"""Detect: a dropped file in, events out. The file is read as rows of numbers, and not kept."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from locant.explorer.desk import Desk, json_response
from locant.explorer.upload import received


def router(desk: Desk) -> APIRouter:
    """detect."""
    routes = APIRouter(prefix="/api", tags=["detect"])

    @routes.post("/detect")
    async def detect(request: Request) -> Response:
        """The body is CSV, TSV or JSON lines."""
        return json_response(await desk.slow.run("detecting.detected", await received(request)))

    return routes
