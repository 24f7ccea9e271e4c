"""Every refusal is one plain sentence: {"error": …}."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from locant.explorer.lanes import Ended, TooMany
from locant.explorer.upload import TooLarge

STATUS: dict[type[Exception], int] = {ValueError: 400, Ended: 408, TooMany: 429, TooLarge: 413}


def add(app: FastAPI) -> None:
    """Tell errors as sentences."""
    for kind in STATUS:
        app.add_exception_handler(kind, _told)
    app.add_exception_handler(RequestValidationError, _outside)
    app.add_exception_handler(HTTPException, _missing)


async def _told(_: Request, problem: Exception) -> JSONResponse:
    status = next(number for kind, number in STATUS.items() if isinstance(problem, kind))
    return JSONResponse({"error": str(problem)}, status)


async def _outside(_: Request, problem: Exception) -> JSONResponse:
    assert isinstance(problem, RequestValidationError)
    return JSONResponse({"error": " ".join(sentence(error) for error in problem.errors())}, 422)


def sentence(error: dict[str, object]) -> str:
    """
    >>> sentence({"type": "x", "loc": ("query", "dim"), "msg": "Input should be greater than or equal to 1", "input": "0"})
    "dim should be greater than or equal to 1. Got '0' instead."
    >>> sentence({"type": "value_error", "loc": ("query",), "msg": "Value error, too few words. Got 1", "input": {}})
    'Too few words. Got 1 instead.'
    >>> sentence({"type": "extra_forbidden", "loc": ("query", "dom"), "msg": "Extra inputs are not permitted"})
    'There is nothing called dom to ask for.'
    """
    place = error["loc"]
    name = str(place[-1]) if isinstance(place, tuple | list) and len(place) > 1 else ""
    said = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        return f"There is nothing called {name[:60]} to ask for."
    if error["type"] == "missing":
        return f"{name} is needed."
    if not name:
        return f"{said[0].upper()}{said[1:]} instead."
    return f"{said.replace('Input', name, 1)}. Got {str(error.get('input'))[:60]!r} instead."


async def _missing(request: Request, problem: Exception) -> JSONResponse:
    assert isinstance(problem, HTTPException)
    said = {
        404: f"there is nothing at {request.url.path[:200]}.",
        405: "this address is asked in another way.",
    }
    return JSONResponse(
        {"error": said.get(problem.status_code, str(problem.detail))}, problem.status_code
    )
