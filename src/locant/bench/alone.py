"""Measure in a process of its own: its peak memory is its own, its threads are pinned.

In `alone` the allocator keeps its memory, as in the laboratory's workers; in `as_started` it is
that of any Python process. By default glibc may give large blocks back to the system and ask for
them again at every call; then a copy into a new tensor costs six times a copy into an old one, and
a ratio measures page faults.
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
    """The error of something that could not be measured."""


def alone(work: Callable[..., Answer], threads: int, *given: Any) -> Answer:
    """Run `work(*given)` in a new process whose allocator keeps its memory."""
    with tuned():
        return as_started(work, threads, *given)


def as_started(work: Callable[..., Answer], threads: int, *given: Any) -> Answer:
    """Run `work(*given)` in a new process with this many threads."""
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
    """Return how many megabytes one call adds at its peak; None where the system cannot tell."""
    forgotten, before = forget_peak(), megabytes_now()
    work()
    return peak_megabytes() - before if forgotten and before is not None else None
