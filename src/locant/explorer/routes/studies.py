"""Studies: what the store holds, and what is being computed now."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from locant.explorer.asked import OfStudy
from locant.explorer.desk import Desk, json_response


def router(desk: Desk) -> APIRouter:
    """studies, study."""
    routes = APIRouter(prefix="/api", tags=["studies"])

    @routes.get("/studies")
    async def studies() -> Response:
        """Every study that is kept, and those that are not finished."""
        return json_response(await desk.quick.run("stored.studies", desk.store))

    @routes.get("/study")
    async def study(asked: Annotated[OfStudy, Query()]) -> Response:
        """The verdict, the table and the pictures' numbers of one study."""
        return json_response(await desk.quick.run("stored.study", desk.store, asked.study))

    return routes
