"""A measurement in a process of its own: its peak of memory is its own, its threads are pinned.

`alone` has an allocator that keeps what it has, like the laboratory's workers; `as_started` has that of any Python process.

As it comes, glibc may give large blocks back to the system and ask for them anew at every call; then a plain copy into a new
tensor costs six times one into an old tensor, and a ratio is about page faults.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from locant._internal.workers import Worker
from locant.bench.ratio import Work
from locant.lab.engine.local import tuned
from locant.lab.training.peak_memory import forget_peak, megabytes_now, peak_megabytes

Answer = TypeVar("Answer")


class Unmeasured(ValueError):
    """What could not be measured, and why."""


def alone(work: Callable[..., Answer], threads: int, *given: Any) -> Answer:
    """What `work(*given)` answers in a new process with so many threads, whose allocator keeps its memory."""
    with tuned():
        return as_started(work, threads, *given)


def as_started(work: Callable[..., Answer], threads: int, *given: Any) -> Answer:
    """What `work(*given)` answers in a new process with so many threads."""
    worker = Worker(_serve, work, threads, given)
    try:
        answer, problem = worker.pipe.recv()
    except (EOFError, ConnectionError):
        answer, problem = None, "its process died (killed, or out of memory)"
    finally:
        worker.stop()
    if problem:
        raise Unmeasured(f"{work.__module__.rpartition('.')[2]} could not be measured: {problem}.")
    return answer


def _serve(
    pipe: Connection, work: Callable[..., Any], threads: int, given: tuple[Any, ...]
) -> None:
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this one ends it
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    try:
        pipe.send((work(*given), ""))
    except Exception as problem:
        pipe.send((None, f"{type(problem).__name__}: {problem}"))


def added_megabytes(work: Work) -> float | None:
    """How much one call adds to this process's memory at its peak; None where the system does not tell."""
    forgotten, before = forget_peak(), megabytes_now()
    work()
    return peak_megabytes() - before if forgotten and before is not None else None
