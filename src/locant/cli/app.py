"""All commands under one roof, and errors as sentences instead of traces."""

from __future__ import annotations

import errno
import os
import sys
from typing import Any

import typer

from locant.cli import bench, check, compare, data, detect, explore, listing, report, show


class Commands(typer.core.TyperGroup):
    """What a user got wrong, and what the system refused, is told in a sentence, with exit status 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()  # a full disk is met here, not when Python ends
        except ValueError as problem:
            said = str(problem)
        except OSError as problem:
            if problem.errno in (
                None,
                errno.EPIPE,
            ):  # whoever read the output had enough; typer knows what to do
                raise
            said = (
                f"{problem.filename or 'the output'} cannot be read or written: {problem.strerror}."
            )
        _give_up_output()
        print(f"locant: {said}", file=sys.stderr)
        raise typer.Exit(2)


def _give_up_output() -> None:
    """Output that could not be written is not tried again when Python ends."""
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


app.command("list")(listing.list_encodings)
app.command("show")(show.show)
app.command("check")(check.check)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("runs")(report.runs)
app.command("pack")(report.pack)
app.command("detect")(detect.detect)
app.command("explore")(explore.explore)
app.command("bench")(bench.bench)
app.command("data")(data.data)
