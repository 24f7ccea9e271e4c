"""Where the work is done: a process of its own, one piece at a time, which is ended when it takes too long."""

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
import signal
import time
from multiprocessing.pool import Pool
from typing import Any

POLL = 0.1  # seconds between two looks at the clock
START = 120.0  # seconds that a process may take to import what it needs


class TooLong(Exception):
    """Work that was ended, told in a sentence."""


class TooMany(Exception):
    """More requests than may wait, told in a sentence."""


class Lane:
    """One worker process: `seconds` for each piece of work, `most` pieces waiting or being done."""

    def __init__(self, seconds: float, most: int = 64) -> None:
        self.seconds, self.most = seconds, most
        self.there = 0
        self.lock = asyncio.Lock()
        self.pool: Pool | None = None

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
        if self.pool is None:
            self.pool = multiprocessing.get_context("spawn").Pool(1, _begin)
            self.pool.apply_async(_ready).get(START)
        pool, last = self.pool, time.monotonic() + self.seconds
        doing = pool.apply_async(_call, (work, given))
        while not doing.ready():
            doing.wait(POLL)
            if self.pool is not pool:
                raise TooLong("the explorer is being ended.")
            if time.monotonic() > last and not doing.ready():
                self.end()
                raise TooLong(
                    f"this took longer than {self.seconds:g} s and was ended. Choose a smaller size, or fewer values."
                )
        return doing.get()

    def end(self) -> None:
        """End the process; the next piece of work starts another."""
        pool, self.pool = self.pool, None
        if pool is not None:
            pool.terminate()


def _begin() -> None:
    """A worker never hears Ctrl-C (its server ends it), and leaves the other cores alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import torch

    torch.set_num_threads(1)


def _ready() -> bytes:
    return b""


def _call(work: str, given: tuple[Any, ...]) -> bytes:
    """Imported here, so that the server itself needs no torch."""
    module, _, function = work.partition(".")
    done: bytes = getattr(importlib.import_module(f"locant.explorer.{module}"), function)(*given)
    return done
