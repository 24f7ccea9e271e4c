"""A process of one's own with a pipe to it. It may be killed at any moment, and nothing waits for a lock that it held."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import get_context
from typing import Any


class Worker:
    """A process that runs `serve(pipe, *given)`; `pipe` is this end of it."""

    def __init__(self, serve: Callable[..., None], *given: Any) -> None:
        context = get_context("spawn")
        self.pipe, far = context.Pipe()
        self.process = context.Process(target=serve, args=(far, *given), daemon=True)
        self.process.start()
        far.close()

    def stop(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.process.join()
        self.pipe.close()
