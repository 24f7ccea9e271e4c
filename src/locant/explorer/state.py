"""What all routes share: the encodings that may be asked for, the store, and the workers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import Response

from locant.encodings.registry import Entry, describe, names, suggest
from locant.explorer.jobs import JobQueue
from locant.explorer.schemas import SizedRequest, check_size, parse_options
from locant.lab.store import STORE
from locant.shapes import Shape

QUICK_SECONDS = 20.0  # for a picture
SLOW_SECONDS = 120.0  # for what trains or measures


class ExplorerState:
    """One explorer: `own` are the user's encodings as path.py:Class, `store` the file with runs."""

    def __init__(self, own: Sequence[str] = (), store: Path = STORE) -> None:
        self.own = tuple(own)
        self.store = store
        self.quick = JobQueue(QUICK_SECONDS)
        self.slow = JobQueue(SLOW_SECONDS)

    def names(self) -> list[str]:
        """List the encodings that may be asked for, the user's own first."""
        return [*self.own, *(name for name in names() if name not in self.own)]

    def entry(self, name: str) -> Entry:
        """Describe an encoding of the list; no other file is ever read or run."""
        listed = self.names()
        if name not in listed:
            raise ValueError(
                f"no encoding of this page is called {name[:100]!r}.{suggest(name, listed)}\n"
                f"  Known: {', '.join(listed)}"
            )
        return describe(name)

    def size(self, request: SizedRequest) -> dict[str, Any]:
        """Return the checked arguments of `locant.make`."""
        entry = self.entry(request.encoding)
        options = parse_options(entry, request.options)
        shape = Shape(request.dim, request.heads, request.length)
        check_size(entry, shape, options)
        return {**options, "dim": request.dim, "heads": request.heads, "length": request.length}

    def stop(self) -> None:
        """Stop the workers."""
        self.quick.stop()
        self.slow.stop()


def json_response(text: bytes) -> Response:
    """Respond with JSON that a worker has encoded already."""
    return Response(text, media_type="application/json")
