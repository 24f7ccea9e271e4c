"""The application that holds all commands; errors are printed as sentences, not as tracebacks."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from typing import Any

import typer

from locant.cli import (
    advise,
    bench,
    check,
    compare,
    data,
    detect,
    explore,
    extend,
    listing,
    pack,
    report,
    runs,
    show,
)
from locant.cli._options import Command, help_text


class Commands(typer.core.TyperGroup):
    """Print a user's mistake, or what the system refused, in one sentence; the exit status is 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # meet a full disk here, not at Python's end
        except ValueError as problem:
            message = str(problem)
        except OSError as problem:
            if problem.errno in (None, errno.EPIPE):  # the reader closed the pipe: typer's case
                raise
            file = problem.filename or "the output"
            message = f"{file} cannot be read or written: {problem.strerror}."
        _discard_output()
        print(f"locant: {message}", file=sys.stderr)
        raise typer.Exit(2)


def _discard_output() -> None:
    """Drop output that could not be written, so that Python does not try again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Positional encodings for self-attention: a library, a laboratory, an explorer.",
)


@app.callback()
def _root() -> None:
    """Positional encodings for self-attention: a library, a laboratory, an explorer."""


COMMANDS: dict[str, Callable[..., None]] = {
    "list": listing.list_encodings,
    "show": show.show,
    "check": check.check,
    "compare": compare.compare,
    "report": report.report,
    "runs": runs.runs,
    "pack": pack.pack,
    "advise": advise.advise,
    "detect": detect.detect,
    "extend": extend.extend,
    "explore": explore.explore,
    "bench": bench.bench,
    "data": data.data,
}
for _name, _function in COMMANDS.items():
    app.command(_name, cls=Command, help=help_text(_function))(_function)
