"""What all addresses share: the encodings that may be asked for, the store, and the lanes in which work is done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import Response

from locant._internal.checks import did_you_mean
from locant.encodings.registry import Entry, describe
from locant.explorer.asked import Made, check_size, options_of
from locant.explorer.lanes import Lane
from locant.explorer.listing import known
from locant.shapes import Shape

QUICK, SLOW = 20.0, 120.0  # seconds for a picture, and for what trains or measures


class Desk:
    """One explorer: `own` are the user's encodings as path.py:Class, `store` the file with runs."""

    def __init__(
        self, own: Sequence[str] = (), store: Path = Path("locant-results/runs.sqlite")
    ) -> None:
        self.own, self.store = tuple(own), store
        self.quick, self.slow = Lane(QUICK), Lane(SLOW)

    def entry(self, name: str) -> Entry:
        """An encoding of the list; no other file is ever read or run."""
        listed = known(self.own)
        if name not in listed:
            raise ValueError(
                f"no encoding of this page is called {name[:100]!r}.{did_you_mean(name, listed)}\n  Known: {', '.join(listed)}"
            )
        return describe(name)

    def size(self, asked: Made) -> dict[str, Any]:
        """What `make` takes, checked."""
        entry = self.entry(asked.encoding)
        options = options_of(entry, asked.options)
        shape = Shape(asked.dim, asked.heads, asked.length)
        check_size(entry, shape, options)
        return {**options, "dim": asked.dim, "heads": asked.heads, "length": asked.length}


def json_response(text: bytes) -> Response:
    return Response(text, media_type="application/json")
