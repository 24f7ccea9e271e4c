"""A worker process with a pipe to it: the one way in which locant starts processes.

A worker may be killed at any moment, and nothing waits for a lock that it held. When the process
that started it is gone, for whatever reason, the worker ends too."""

from __future__ import annotations

import os
from collections.abc import Callable
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any


class Worker:
    """A process that runs `serve(pipe, *given)`; `pipe` is this end of it."""

    def __init__(self, serve: Callable[..., None], *given: Any) -> None:
        context = get_context("spawn")
        self.pipe, far = context.Pipe()
        self.process = context.Process(target=_serve, args=(serve, far, *given), daemon=True)
        self.process.start()
        far.close()

    def stop(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(serve: Callable[..., None], pipe: Connection, *given: Any) -> None:
    Thread(target=_leave_with_parent, daemon=True).start()
    serve(pipe, *given)


def _leave_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        while not wait([parent.sentinel], timeout=1) and os.getppid() == parent.pid:
            pass  # a process that the parent forked may hold the sentinel, so it is not all
        os._exit(1)
