"""The explorer as one application: its addresses, the page, and Plotly from the package that is installed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Response
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

from locant.explorer import listing, refusals
from locant.explorer.desk import Desk
from locant.explorer.guard import Guard
from locant.explorer.routes import attention, certificates, detect, encodings, studies

PAGE = Path(__file__).parent / "page"
TABS = {
    "Encodings": encodings.router,
    "Attention": attention.router,
    "Certificates": certificates.router,
    "Studies": studies.router,
    "Detect": detect.router,
}


def make_app(desk: Desk) -> FastAPI:
    """The application; its workers end with it."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        desk.quick.end()
        desk.slow.end()

    app = FastAPI(
        title="locant explore",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    refusals.add(app)
    app.add_middleware(Guard)
    for router in TABS.values():
        app.include_router(router(desk))

    @app.get("/api/start")
    async def start() -> dict[str, Any]:
        """What the page knows from the start."""
        return listing.start(desk.own, list(TABS), desk.store)

    @app.get("/api/empty")
    async def empty() -> Response:
        """Nothing at all: how long the way takes."""
        return Response(status_code=204)

    @app.get("/theme.css")
    async def theme() -> Response:
        """The colours of both themes."""
        return Response(listing.theme_css(), media_type="text/css")

    @app.get("/plotly.min.js")
    async def plotly() -> Response:
        """Plotly as its Python package brings it."""
        return FileResponse(plotly_file(), media_type="text/javascript")

    app.mount("/", StaticFiles(directory=PAGE, html=True))
    return app


def plotly_file() -> Path:
    """plotly.min.js of the installed package, which is not imported for it."""
    spec = find_spec("plotly")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "package_data" / "plotly.min.js"
