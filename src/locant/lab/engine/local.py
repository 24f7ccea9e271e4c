"""Runs on this machine: one process a core, one thread a process. A process that dies costs at most the run in flight."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from locant._internal.workers import Worker
from locant.lab.engine.attempt import Done, Files, attempt
from locant.lab.training.config import RunConfig

TRIES = 3  # a run whose process dies is tried so often in all
SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": "1000000000",
    "MALLOC_TRIM_THRESHOLD_": "1000000000",
    "MALLOC_TOP_PAD_": "200000000",
}


class Hand(Worker):
    """A worker that computes one run at a time."""

    def __init__(self, files: Files | None) -> None:
        with tuned():
            super().__init__(_serve, files)
        self.run: RunConfig | None = None

    def give(self, run: RunConfig) -> None:
        self.run = run
        with suppress(ConnectionError):
            self.pipe.send(run.model_dump())


@contextmanager
def tuned() -> Iterator[None]:
    """Processes that are started now keep their memory and use one thread."""
    before = {key: os.environ.get(key) for key in SETTINGS}
    os.environ.update(SETTINGS)
    try:
        yield
    finally:
        for key, value in before.items():
            os.environ.pop(key) if value is None else os.environ.update({key: value})


def compute(runs: list[RunConfig], workers: int, files: Files | None = None) -> Iterator[Done]:
    """Compute runs and yield each as it ends; the caller may stop at any time."""
    waiting, tries = list(reversed(runs)), {run.digest(): 0 for run in runs}
    crew = [Hand(files) for _ in range(min(workers, len(runs)))]
    try:
        while waiting or any(worker.run for worker in crew):
            for worker in crew:
                if worker.run is None and waiting:
                    worker.give(waiting.pop())  # one that has died while idle is found out below
            busy: dict[Any, Hand] = {worker.pipe: worker for worker in crew if worker.run}
            for pipe in wait(list(busy), timeout=1.0):
                worker = busy[pipe]
                run = worker.run
                assert run is not None
                answer = _answer(worker)
                if answer is not None:
                    worker.run = None
                    yield answer
                    continue
                crew[crew.index(worker)] = Hand(files)
                worker.stop()
                tries[run.digest()] += 1
                if tries[run.digest()] < TRIES:
                    waiting.append(run)
                else:
                    yield Done(
                        run,
                        {},
                        [],
                        {},
                        f"its process died {TRIES} times (killed, or out of memory)",
                    )
            if not busy:
                break
    finally:
        for worker in crew:
            worker.stop()


def _answer(worker: Hand) -> Done | None:
    """What a worker says of its run; None when it has died."""
    assert worker.run is not None
    try:
        said = worker.pipe.recv()
    except (EOFError, ConnectionError):
        return None
    return Done(worker.run, *said)


def _serve(pipe: Connection, files: Files | None) -> None:
    """The life of a worker: runs in, outcomes out."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's business
    while True:
        try:
            config = pipe.recv()
        except (EOFError, ConnectionError):
            return
        said = attempt(config, files)
        with suppress(
            ConnectionError
        ):  # nobody waits for it any more; the next recv ends the process
            pipe.send(said)
