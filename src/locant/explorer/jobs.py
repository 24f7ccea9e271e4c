"""Run one job at a time in a worker process, which is stopped when a job takes too long."""

from __future__ import annotations

import asyncio
import importlib
import signal
import time
from multiprocessing.connection import Connection
from typing import Any

from locant._internal.workers import Worker

POLL_SECONDS = 0.1  # between two looks at the clock
START_SECONDS = 120.0  # that a process may take to import what it needs


class JobStopped(Exception):
    """A job that was stopped; the message is a sentence for the user."""


class TooManyJobs(Exception):
    """More jobs than may wait; the message is a sentence for the user."""


class JobQueue:
    """One worker process: `seconds` for each job, and at most `limit` jobs waiting or running."""

    def __init__(self, seconds: float, limit: int = 64) -> None:
        self.seconds = seconds
        self.limit = limit
        self.queued = 0
        self.lock = asyncio.Lock()
        self.worker: Worker | None = None

    async def run(self, job: str, *arguments: Any) -> bytes:
        """Call the function "file.function" of this folder in the worker; its errors are raised
        here."""
        if self.queued >= self.limit:
            raise TooManyJobs(f"{self.queued} requests are waiting already. Try again in a moment.")
        self.queued += 1
        try:
            async with self.lock:
                return await asyncio.to_thread(self._run, job, arguments)
        finally:
            self.queued -= 1

    def _run(self, job: str, arguments: tuple[Any, ...]) -> bytes:
        if self.worker is None:
            self.worker = Worker(_serve)
            self._receive(self.worker, START_SECONDS)  # the worker has imported what it needs
        result = self._receive(self.worker, self.seconds, job, arguments)
        if isinstance(result, Exception):
            raise result
        return result

    def _receive(self, worker: Worker, seconds: float, *message: Any) -> Any:
        """Send a message, if there is one, and return what the worker answers within `seconds`."""
        deadline = time.monotonic() + seconds
        try:
            if message:
                worker.pipe.send(message)
            while not worker.pipe.poll(POLL_SECONDS):
                if self.worker is not worker:
                    raise JobStopped("the explorer is shutting down.")
                if time.monotonic() > deadline:
                    self.stop()
                    raise JobStopped(
                        f"this took longer than {seconds:g} s and was stopped. "
                        "Choose a smaller size, or fewer values."
                    )
            return worker.pipe.recv()
        except (EOFError, OSError):
            self.stop()
            raise JobStopped(
                "the process that worked on this has died. Choose a smaller size, or try again."
            ) from None

    def stop(self) -> None:
        """Stop the process; the next job starts another."""
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.stop()


def _serve(pipe: Connection) -> None:
    """Answer jobs until the pipe closes: without Ctrl-C (the server stops it), on one core."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import torch

    torch.set_num_threads(1)
    pipe.send(b"")
    while True:
        try:
            job, arguments = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            result: object = _call(job, arguments)
        except Exception as problem:  # raised again in the server
            result = problem
        pipe.send(result)


def _call(job: str, arguments: tuple[Any, ...]) -> bytes:
    """Import the job's file here, so that the server itself needs no torch."""
    file, _, function = job.partition(".")
    module = importlib.import_module(f"locant.explorer.{file}")
    result: bytes = getattr(module, function)(*arguments)
    return result
