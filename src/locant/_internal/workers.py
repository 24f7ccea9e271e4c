"""Processes that work for this one: a single worker with a pipe, and a pool of workers for many
calls.

A worker may be killed at any moment, and nothing waits for a lock that it held. When the process
that started a worker is gone, however it ended, the worker ends too. Workers never receive Ctrl-C:
the process that started them stops them.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any


class WorkerDied(Exception):
    """A worker process ended before it answered: it was killed, or ran out of memory."""


class Worker:
    """A process that runs `serve(pipe, *given)`; `pipe` is this end of the pipe to it."""

    def __init__(self, serve: Callable[..., None], *given: Any) -> None:
        context = get_context("spawn")
        self.pipe, far = context.Pipe()
        self.process = context.Process(target=_serve, args=(serve, far, *given), daemon=True)
        with _interrupts_blocked():
            self.process.start()
        far.close()

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def call_all(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], workers: int
) -> Iterator[tuple[int, Any]]:
    """Run `function(*call)` for every call in worker processes; yield (index, result) as they end.

    Each worker runs one call at a time. An exception of the function is raised here; a worker that
    dies raises WorkerDied. However the iteration ends, every worker is stopped.
    """
    waiting = list(reversed(list(enumerate(calls))))
    pool: list[Worker] = []
    running: dict[Any, int] = {}  # pipe → index of the call
    try:
        for _ in range(min(workers, len(calls))):
            worker = Worker(_answer_calls, function)
            pool.append(worker)
            _send_next(worker.pipe, waiting, running)
        while running:
            ready: list[Any] = wait(list(running))
            for pipe in ready:
                index = running.pop(pipe)
                try:
                    result = pipe.recv()
                except (EOFError, ConnectionError):
                    raise WorkerDied from None
                if isinstance(result, Exception):
                    raise result
                _send_next(pipe, waiting, running)
                yield index, result
    finally:
        for worker in pool:
            worker.stop()


def _send_next(pipe: Any, waiting: list[tuple[int, Any]], running: dict[Any, int]) -> None:
    """Give the next waiting call, if there is one, to the worker behind a pipe."""
    if not waiting:
        return
    index, call = waiting.pop()
    running[pipe] = index
    with suppress(ConnectionError):  # a dead worker is found when its answer is read
        pipe.send(call)


def _answer_calls(pipe: Connection, function: Callable[..., Any]) -> None:
    """Run calls from the pipe until it is closed, and send back results or exceptions."""
    while True:
        try:
            call = pipe.recv()
        except (EOFError, ConnectionError):
            return
        try:
            result = function(*call)
        except Exception as problem:
            if not isinstance(problem, ValueError):
                problem.add_note(traceback.format_exc())
            result = problem
        with suppress(ConnectionError):
            try:
                pipe.send(result)
            except (TypeError, AttributeError, ValueError) as problem:  # it cannot be pickled
                pipe.send(RuntimeError(f"{type(result).__name__}: {result} ({problem})"))


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C for processes that are started in here; for this one it is only held back."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # starting it later would unblock the signal
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _serve(serve: Callable[..., None], pipe: Connection, *given: Any) -> None:
    Thread(target=_leave_with_parent, daemon=True).start()
    serve(pipe, *given)


def _leave_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        while not wait([parent.sentinel], timeout=1) and os.getppid() == parent.pid:
            pass  # a process that the parent forked may hold the sentinel, so it is not all
        os._exit(1)
