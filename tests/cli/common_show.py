"""What `locant show` prints, and what it refuses."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from locant.cli.app import app

WORDS = ("--no-pictures",)


def show(*arguments):
    """What `locant show …` prints."""
    done = CliRunner().invoke(app, ["show", *map(str, arguments)], env={"COLUMNS": "120"})
    assert done.exit_code == 0, done.output + repr(done.exception)
    return done.stdout


def numbers(*arguments):
    """What `locant show … --json` prints; NaN is no JSON."""

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(show(*arguments, "--json"), parse_constant=refuse)


def refused(*arguments):
    done = CliRunner().invoke(app, ["show", *map(str, arguments)])
    assert done.exit_code == 2, done.output + repr(done.exception)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr
