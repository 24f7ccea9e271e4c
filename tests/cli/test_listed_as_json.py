"""What a command lists without further words is JSON with --json."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from locant.cli.app import app
from locant.encodings.registry import names
from locant.lab.needs import NEEDS
from locant.lab.study_files import study_names


@pytest.mark.parametrize(
    ("command", "key", "listed"),
    [
        ("list", "name", names()),
        ("compare", "study", study_names()),
        ("advise", "need", list(NEEDS)),
    ],
)
def test_a_list_is_json_when_json_is_asked_for(command, key, listed):
    done = CliRunner().invoke(app, [command, "--json"])
    assert done.exit_code == 0, done.output
    assert [entry[key] for entry in json.loads(done.stdout)] == listed
