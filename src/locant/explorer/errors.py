"""Answer every refused request with one plain sentence: {"error": …}."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from locant.explorer.jobs import JobStopped, TooManyJobs


class UploadTooLarge(Exception):
    """More bytes than may be sent; the message is a sentence for the user."""


STATUS: dict[type[Exception], int] = {
    ValueError: 400,
    JobStopped: 408,
    UploadTooLarge: 413,
    TooManyJobs: 429,
}


def add_handlers(app: FastAPI) -> None:
    """Make the application answer errors with sentences."""
    for kind in STATUS:
        app.add_exception_handler(kind, _on_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(HTTPException, _on_wrong_address)


async def _on_error(_: Request, problem: Exception) -> JSONResponse:
    status = next(number for kind, number in STATUS.items() if isinstance(problem, kind))
    return JSONResponse({"error": str(problem)}, status)


async def _on_invalid_request(_: Request, problem: Exception) -> JSONResponse:
    assert isinstance(problem, RequestValidationError)
    return JSONResponse({"error": " ".join(as_sentence(one) for one in problem.errors())}, 422)


async def _on_wrong_address(request: Request, problem: Exception) -> JSONResponse:
    assert isinstance(problem, HTTPException)
    messages = {
        404: f"there is nothing at {request.url.path[:200]}.",
        405: f"{request.url.path[:200]} does not take {request.method} requests.",
    }
    message = messages.get(problem.status_code, str(problem.detail))
    return JSONResponse({"error": message}, problem.status_code)


def as_sentence(error: dict[str, object]) -> str:
    """Write one of pydantic's errors as a sentence.

    >>> low = {"type": "x", "loc": ("query", "dim"), "msg": "Input should be above 0", "input": "0"}
    >>> as_sentence(low)
    "dim should be above 0. Got '0' instead."
    >>> few = {"type": "value_error", "loc": ("query",), "msg": "Value error, no words. Got 1"}
    >>> as_sentence(few)
    'No words. Got 1 instead.'
    >>> as_sentence({"type": "extra_forbidden", "loc": ("query", "dom"), "msg": "Not permitted"})
    'There is no parameter called dom.'
    """
    location = error["loc"]
    has_name = isinstance(location, tuple | list) and len(location) > 1
    name = str(location[-1]) if has_name else ""  # type: ignore[index]
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        return f"There is no parameter called {name[:60]}."
    if error["type"] == "missing":
        return f"{name} is required."
    if not name:
        return f"{message[0].upper()}{message[1:]} instead."
    return f"{message.replace('Input', name, 1)}. Got {str(error.get('input'))[:60]!r} instead."
