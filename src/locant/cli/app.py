"""All commands under one roof, and errors as sentences instead of traces."""

from __future__ import annotations

import sys
from typing import Any

import typer

from locant.cli import check, compare, listing, report


class Commands(typer.core.TyperGroup):
    """What a user got wrong is told in a sentence, with exit status 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ValueError as problem:
            print(f"locant: {problem}", file=sys.stderr)
            raise typer.Exit(2) from None


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
app.command("check")(check.check)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("runs")(report.runs)
