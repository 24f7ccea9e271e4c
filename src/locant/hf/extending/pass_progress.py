"""Show how many passes of a model are done: a bar in a terminal, a line a tenth elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

QUIET_SECONDS = 2.0  # what is done sooner needs no line


@contextmanager
def pass_progress(total: int) -> Iterator[Callable[[str], None]]:
    """Yield a function to call after every pass, with what it was for."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(total)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=total)
        yield lambda now: bar.update(task, advance=1, description=now)


def _lines(total: int) -> Callable[[str], None]:
    """Return a function that prints a line whenever another tenth is done."""
    start, done, tenths = time.monotonic(), 0, 0

    def advance(now: str) -> None:
        nonlocal done, tenths
        done += 1
        reached = 10 * done // max(1, total)
        if reached > tenths and time.monotonic() - start > QUIET_SECONDS:
            tenths = reached
            print(f"{done} of {total} passes ({now})", file=sys.stderr, flush=True)

    return advance
