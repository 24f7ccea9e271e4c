"""The explorer as one application: its routes, the page, and Plotly from the installed package."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Response
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

from locant.explorer import errors, startup
from locant.explorer.api import attention, certificates, detect, encodings, studies
from locant.explorer.security import LocalOnly
from locant.explorer.state import ExplorerState

PAGE = Path(__file__).parent / "page"
TABS = {
    "Encodings": encodings.router,
    "Attention": attention.router,
    "Certificates": certificates.router,
    "Studies": studies.router,
    "Detect": detect.router,
}


def make_app(state: ExplorerState) -> FastAPI:
    """Build the application; its workers stop with it."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        state.stop()

    app = FastAPI(
        title="locant explore",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    errors.add_handlers(app)
    app.add_middleware(LocalOnly)
    for router in TABS.values():
        app.include_router(router(state))

    @app.get("/api/start")
    async def start() -> dict[str, Any]:
        """Return what the page loads first."""
        return startup.start(state, list(TABS))

    @app.get("/api/empty")
    async def empty() -> Response:
        """Return nothing, to measure how long a request takes."""
        return Response(status_code=204)

    @app.get("/theme.css")
    async def theme() -> Response:
        """Return the colors of both themes."""
        return Response(startup.theme_css(), media_type="text/css")

    @app.get("/plotly.min.js")
    async def plotly() -> Response:
        """Return Plotly as its Python package brings it."""
        return FileResponse(plotly_file(), media_type="text/javascript")

    app.mount("/", StaticFiles(directory=PAGE, html=True))
    return app


def plotly_file() -> Path:
    """Find plotly.min.js of the installed package, without importing it."""
    spec = find_spec("plotly")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "package_data" / "plotly.min.js"
