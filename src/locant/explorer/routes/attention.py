"""Attention: of a small model on a sentence, or of a study's model on its example; before and after training."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from locant.explorer.asked import Attended, OfRun
from locant.explorer.desk import Desk, json_response


def router(desk: Desk) -> APIRouter:
    """attention, window."""
    routes = APIRouter(prefix="/api", tags=["attention"])

    @routes.get("/attention")
    async def attention(asked: Annotated[Attended, Query()]) -> Response:
        """Weights of every layer and head; the first answer of a trained model takes some seconds, for it is trained."""
        desk.entry(asked.encoding)
        lane = desk.slow if asked.trained else desk.quick
        return json_response(
            await lane.run(
                "attending.sentence", asked.encoding, asked.split(), asked.trained, asked.back
            )
        )

    @routes.get("/window")
    async def window(asked: Annotated[OfRun, Query()]) -> Response:
        """The same for a row of a study in the store."""
        return json_response(
            await desk.quick.run(
                "windows.window", desk.store, asked.study, asked.row, asked.trained
            )
        )

    return routes
