"""Attention: of a small model on a sentence, or of a study's model on its example."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from locant.explorer.schemas import AttentionRequest, StudyAttentionRequest
from locant.explorer.state import ExplorerState, json_response


def router(state: ExplorerState) -> APIRouter:
    """Serve /api/attention and /api/window."""
    routes = APIRouter(prefix="/api", tags=["attention"])

    @routes.get("/attention")
    async def attention(request: Annotated[AttentionRequest, Query()]) -> Response:
        """Weights of every layer and head; a model that is not trained yet takes some seconds."""
        state.entry(request.encoding)
        queue = state.slow if request.trained else state.quick
        words = request.split()
        return json_response(
            await queue.run(
                "attention_maps.on_sentence", request.encoding, words, request.trained, request.back
            )
        )

    @routes.get("/window")
    async def window(request: Annotated[StudyAttentionRequest, Query()]) -> Response:
        """The same for a row of a study in the store."""
        return json_response(
            await state.quick.run(
                "attention_maps.of_study", state.store, request.study, request.row, request.trained
            )
        )

    return routes
