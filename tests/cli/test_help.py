"""Help texts wrap where the terminal ends, not where their source lines do."""

from __future__ import annotations

from itertools import pairwise

import pytest
from typer.testing import CliRunner

from locant.cli.app import COMMANDS, app

WIDTH = 80
MARGIN = 1  # on either side of a help text


def help_lines(command):
    """The lines of a command's help before the boxes of arguments and options."""
    environment = {"COLUMNS": str(WIDTH), "TERMINAL_WIDTH": str(WIDTH), "NO_COLOR": "1"}
    done = CliRunner().invoke(app, [command, "--help"], env=environment)
    assert done.exit_code == 0, done.output
    text = done.output.split("╭")[0]
    return [line[MARGIN:].rstrip() for line in text.splitlines()]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_sentence_breaks_before_the_line_is_full(command):
    lines = help_lines(command)
    assert any("Examples:" in line or "Example:" in line for line in lines)
    for line, after in pairwise(lines):
        example = line.lstrip().startswith(("locant", "--")) or "Usage:" in line
        if line and after and not example:
            word = after.split()[0]
            assert len(line) + 1 + len(word) > WIDTH - 2 * MARGIN, (line, after)
