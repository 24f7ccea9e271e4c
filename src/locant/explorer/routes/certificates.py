"""Certificates: measured when they are asked for, and kept while the explorer runs and the file stays as it is."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from locant.explorer.asked import Named
from locant.explorer.desk import Desk, json_response

SIZE = {"dim": 64, "heads": 4, "length": 512}


def router(desk: Desk) -> APIRouter:
    """certificate."""
    routes = APIRouter(prefix="/api", tags=["certificates"])
    known: dict[tuple[str, int], bytes] = {}

    @routes.get("/certificate")
    async def certificate(asked: Annotated[Named, Query()]) -> Response:
        """Every property of an encoding, measured (about ten seconds the first time)."""
        key = (asked.encoding, desk.entry(asked.encoding).path.stat().st_mtime_ns)
        if key not in known:
            known[key] = await desk.slow.run("measuring.certificate", asked.encoding, SIZE)
        return json_response(known[key])

    return routes
