"""Compute runs on this machine: one process a core, one thread a process.

A process that dies costs at most the run in flight.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any

from locant._internal.workers import Worker
from locant.lab.engine.attempt import RunFiles, attempt
from locant.lab.training.config import RunConfig
from locant.lab.training.run_result import RunResult

TRIES = 3  # how often a run is tried whose process dies
SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": "1000000000",
    "MALLOC_TRIM_THRESHOLD_": "1000000000",
    "MALLOC_TOP_PAD_": "200000000",
}


class RunWorker(Worker):
    """A worker that computes one run at a time."""

    def __init__(self, files: RunFiles | None) -> None:
        with tuned(), without_main():
            super().__init__(_serve, files)
        self.run: RunConfig | None = None

    def give(self, run: RunConfig) -> None:
        """Send a run to the worker."""
        self.run = run
        with suppress(ConnectionError):
            self.pipe.send(run)


@contextmanager
def tuned() -> Iterator[None]:
    """Let processes that are started now keep their memory and use one thread."""
    before = {key: os.environ.get(key) for key in SETTINGS}
    os.environ.update(SETTINGS)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key)
            else:
                os.environ[key] = value


@contextmanager
def without_main() -> Iterator[None]:
    """Keep processes that are started now from importing the user's script.

    A worker needs nothing of the script. If it imported a script that calls `compare` outside of
    `if __name__ == "__main__"`, it would start workers of its own.
    """
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def compute(
    runs: list[RunConfig], workers: int, files: RunFiles | None = None
) -> Iterator[RunResult]:
    """Compute runs and yield the result of each as it ends; the caller may stop at any time."""
    waiting, tries = list(reversed(runs)), {run.digest(): 0 for run in runs}
    crew = [RunWorker(files) for _ in range(min(workers, len(runs)))]
    try:
        while waiting or any(worker.run for worker in crew):
            for worker in crew:
                if worker.run is None and waiting:
                    worker.give(waiting.pop())  # one that has died while idle is found out below
            busy: dict[Any, RunWorker] = {worker.pipe: worker for worker in crew if worker.run}
            for pipe in wait(list(busy), timeout=1.0):
                worker = busy[pipe]
                run = worker.run
                assert run is not None
                result = _receive(worker)
                if result is not None:
                    worker.run = None
                    yield result
                    continue
                crew[crew.index(worker)] = RunWorker(files)
                worker.stop()
                tries[run.digest()] += 1
                if tries[run.digest()] < TRIES:
                    waiting.append(run)
                else:
                    error = f"its process died {TRIES} times (killed, or out of memory)"
                    yield RunResult.failed(run, error)
            if not busy:
                break
    finally:
        for worker in crew:
            worker.stop()


def _receive(worker: RunWorker) -> RunResult | None:
    """Return the result that a worker sends; None when it has died."""
    try:
        return worker.pipe.recv()
    except (EOFError, ConnectionError):
        return None


def _serve(pipe: Connection, files: RunFiles | None) -> None:
    """Compute the runs that come in and send their results, until the pipe is closed."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver handles Ctrl-C
    while True:
        try:
            run = pipe.recv()
        except (EOFError, ConnectionError):
            return
        result = attempt(run, files)
        with suppress(ConnectionError):  # nobody waits for it any more; the next recv ends this
            pipe.send(result)
