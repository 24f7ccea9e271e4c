"""Encodings: pictures, the arithmetic under the pointer, the source, a shuffled sentence."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import PlainTextResponse

from locant.explorer.asked import Named, Shuffled, View, Worked
from locant.explorer.desk import Desk, json_response


def router(desk: Desk) -> APIRouter:
    """view, worked, shuffle, source."""
    routes = APIRouter(prefix="/api", tags=["encodings"])

    @routes.get("/view")
    async def view(asked: Annotated[View, Query()]) -> Response:
        """The numbers of one picture, or the reason why there is none."""
        return json_response(
            await desk.quick.run(
                "pictures.picture", asked.encoding, desk.size(asked), asked.view, asked.head
            )
        )

    @routes.get("/worked")
    async def worked(asked: Annotated[Worked, Query()]) -> Response:
        """The arithmetic at a position, and between it and a key, line by line."""
        return json_response(
            await desk.quick.run(
                "workings.workings", asked.encoding, desk.size(asked), asked.position, asked.key
            )
        )

    @routes.get("/shuffle")
    async def shuffle(asked: Annotated[Shuffled, Query()]) -> Response:
        """Outputs of a sentence and of the same words in another order."""
        words, order = asked.split(), asked.places()
        return json_response(
            await desk.quick.run(
                "shuffling.shuffled", asked.encoding, desk.size(asked), words, order
            )
        )

    @routes.get("/source")
    async def source(asked: Annotated[Named, Query()]) -> Response:
        """The encoding's own file."""
        return PlainTextResponse(desk.entry(asked.encoding).path.read_text(encoding="utf-8"))

    return routes
