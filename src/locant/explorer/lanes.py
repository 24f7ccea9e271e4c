"""Where the work is done: a process of its own, one piece at a time, which is ended when it takes too long."""

from __future__ import annotations

import asyncio
import importlib
import signal
import time
from multiprocessing.connection import Connection
from typing import Any

from locant._internal.workers import Worker

POLL = 0.1  # seconds between two looks at the clock
START = 120.0  # seconds that a process may take to import what it needs


class Ended(Exception):
    """Work that was ended, told in a sentence."""


class TooMany(Exception):
    """More requests than may wait, told in a sentence."""


class Lane:
    """One worker process: `seconds` for each piece of work, `most` pieces waiting or being done."""

    def __init__(self, seconds: float, most: int = 64) -> None:
        self.seconds, self.most = seconds, most
        self.there = 0
        self.lock = asyncio.Lock()
        self.worker: Worker | None = None

    async def run(self, work: str, *given: Any) -> bytes:
        """What the work, named "file.function" of this folder, gives; its own errors come back as they are."""
        if self.there >= self.most:
            raise TooMany(f"{self.there} requests are waiting already. Ask again in a moment.")
        self.there += 1
        try:
            async with self.lock:
                return await asyncio.to_thread(self._do, work, given)
        finally:
            self.there -= 1

    def _do(self, work: str, given: tuple[Any, ...]) -> bytes:
        if self.worker is None:
            self.worker = Worker(_serve)
            self._answer(self.worker, START)  # it has imported what it needs
        said = self._answer(self.worker, self.seconds, work, given)
        if isinstance(said, Exception):
            raise said
        return said

    def _answer(self, worker: Worker, seconds: float, *asked: Any) -> Any:
        """What the worker says within so many seconds to what it is asked; or, asked nothing, that it is ready."""
        last = time.monotonic() + seconds
        try:
            if asked:
                worker.pipe.send(asked)
            while not worker.pipe.poll(POLL):
                if self.worker is not worker:
                    raise Ended("the explorer is being ended.")
                if time.monotonic() > last:
                    self.end()
                    raise Ended(
                        f"this took longer than {seconds:g} s and was ended. Choose a smaller size, or fewer values."
                    )
            return worker.pipe.recv()
        except (EOFError, OSError):
            self.end()
            raise Ended(
                "the process that worked on this has died. Choose a smaller size, or ask again."
            ) from None

    def end(self) -> None:
        """End the process; the next piece of work starts another."""
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.stop()


def _serve(pipe: Connection) -> None:
    """Never hears Ctrl-C (the server ends it), and leaves the other cores alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import torch

    torch.set_num_threads(1)
    pipe.send(b"")
    while True:
        try:
            work, given = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            said: object = _call(work, given)
        except Exception as problem:  # its own errors go back as they are
            said = problem
        pipe.send(said)


def _call(work: str, given: tuple[Any, ...]) -> bytes:
    """Imported here, so that the server itself needs no torch."""
    module, _, function = work.partition(".")
    done: bytes = getattr(importlib.import_module(f"locant.explorer.{module}"), function)(*given)
    return done
