"""The page of the command line, from what `--help` prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def page() -> str:
    """Return the page: one section for each command, with its help text."""
    lines = ["# The command line", "", "What `--help` prints, command by command.", ""]
    lines += ["```text", _help(), "```", ""]
    for command in commands():
        lines += [f"## locant {command}", "", "```text", _help(command), "```", ""]
    return "\n".join(lines)


def commands() -> list[str]:
    """List the commands in the order in which `locant --help` shows them."""
    from typer.main import get_command

    from locant.cli.app import app

    return list(get_command(app).commands)  # type: ignore[attr-defined]


def _help(*command: str) -> str:
    wide = os.environ | {"COLUMNS": "78", "TERM": "dumb", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "locant", *command, "--help"],
        env=wide,
        capture_output=True,
        text=True,
        check=True,
    )
    text = ANSI.sub("", done.stdout).strip("\n").replace("python -m locant", "locant")
    return "\n".join(line.rstrip() for line in text.splitlines())
