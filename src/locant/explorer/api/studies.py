"""Studies: what the store holds, and what is being computed now."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from locant.explorer.schemas import StudyRequest
from locant.explorer.state import ExplorerState, json_response


def router(state: ExplorerState) -> APIRouter:
    """Serve /api/studies and /api/study."""
    routes = APIRouter(prefix="/api", tags=["studies"])

    @routes.get("/studies")
    async def studies() -> Response:
        """Every finished study, and those that are still running."""
        return json_response(await state.quick.run("studies.list_studies", state.store))

    @routes.get("/study")
    async def study(request: Annotated[StudyRequest, Query()]) -> Response:
        """The verdict, the table and the pictures' numbers of one study."""
        return json_response(
            await state.quick.run("studies.describe_study", state.store, request.study)
        )

    return routes
