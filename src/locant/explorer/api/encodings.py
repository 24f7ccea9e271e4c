"""Encodings: pictures, the arithmetic under the pointer, the source, a shuffled sentence."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import PlainTextResponse

from locant.explorer.schemas import EncodingRequest, PositionsRequest, ShuffleRequest, ViewRequest
from locant.explorer.state import ExplorerState, json_response


def router(state: ExplorerState) -> APIRouter:
    """Serve /api/view, /api/worked, /api/shuffle and /api/source."""
    routes = APIRouter(prefix="/api", tags=["encodings"])

    @routes.get("/view")
    async def view(request: Annotated[ViewRequest, Query()]) -> Response:
        """The numbers of one picture, its image, or the reason why there is none."""
        name, size = request.encoding, state.size(request)
        theme = request.image or None
        return json_response(
            await state.quick.run(
                "encoding_views.picture", name, size, request.view, request.head, theme
            )
        )

    @routes.get("/worked")
    async def worked(request: Annotated[PositionsRequest, Query()]) -> Response:
        """The arithmetic at a position, and between it and a key, line by line."""
        name, size = request.encoding, state.size(request)
        return json_response(
            await state.quick.run(
                "encoding_views.worked_arithmetic", name, size, request.position, request.key
            )
        )

    @routes.get("/shuffle")
    async def shuffle(request: Annotated[ShuffleRequest, Query()]) -> Response:
        """Outputs of a sentence and of the same words in another order."""
        name, size = request.encoding, state.size(request)
        words, order = request.split(), request.indices()
        return json_response(await state.quick.run("word_order.shuffle", name, size, words, order))

    @routes.get("/source")
    async def source(request: Annotated[EncodingRequest, Query()]) -> Response:
        """The encoding's own file."""
        return PlainTextResponse(state.entry(request.encoding).path.read_text(encoding="utf-8"))

    return routes
