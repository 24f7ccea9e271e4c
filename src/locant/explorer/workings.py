"""The arithmetic at one position, or between a query and a key, written out."""

from __future__ import annotations

from locant._internal.user_code import user_code
from locant.explorer.answers import answer
from locant.explorer.pictures import Size, made
from locant.figures.walkthrough import work_out


def workings(name: str, size: Size, position: int, key: int) -> bytes:
    """{"parts": [{"title", "lines"}]}, one for each hook that the encoding uses."""
    with user_code(name):
        parts = work_out(made(name, size), position, key)
    return answer(
        {"parts": [{"hook": part.hook, "title": part.title, "lines": part.lines} for part in parts]}
    )
