"""A measurement in a process of its own: its peak of memory is its own, its threads are pinned, its allocator keeps what it has.

As it comes, glibc may give large blocks back to the system and ask for them anew at every call; then a plain copy into a new
tensor costs six times one into an old tensor, and a ratio is about page faults.
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from locant.bench.ratio import Work
from locant.engine.local import tuned
from locant.training.memory import forget_peak, peak_megabytes
from locant.workers import Worker

Answer = TypeVar("Answer")


def alone(work: Callable[..., Answer], threads: int, *given: Any) -> Answer:
    """What `work(*given)` answers in a new process with so many threads."""
    with tuned():
        worker = Worker(_serve, work, threads, given)
    try:
        answer, problem = worker.pipe.recv()
    except EOFError:
        answer, problem = None, "its process died (killed, or out of memory)"
    finally:
        worker.stop()
    if problem:
        raise ValueError(f"{work.__module__.rpartition('.')[2]} could not be measured: {problem}.")
    return answer


def _serve(pipe: Connection, work: Callable[..., Any], threads: int, given: tuple[Any, ...]) -> None:
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this one ends it
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    try:
        pipe.send((work(*given), ""))
    except Exception as problem:
        pipe.send((None, f"{type(problem).__name__}: {problem}"))


def added_megabytes(work: Work) -> float:
    """How much one call adds to this process's memory at its peak."""
    forget_peak()
    before = _now()
    work()
    return peak_megabytes() - before


def _now() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return peak_megabytes()
    return pages * resource.getpagesize() / 2**20
