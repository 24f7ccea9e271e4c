"""The commands. Each lives in a file of its own; the ones that need no torch import none."""

from __future__ import annotations

import io
import sys


def main() -> None:
    """Run `locant …`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # a terminal that knows only ASCII still gets the text
    try:
        from locant.cli.app import app

        app()
    except KeyboardInterrupt:  # while it is still being imported; later typer sees to it
        sys.exit(130)
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich"):
            raise
        from locant._internal.checks import how_to_install

        sys.exit(
            f"The commands need {missing.name}, which is not installed.{how_to_install('lab')}"
        )
