"""`locant explore` as a user starts it, and what it says when it cannot start."""

from __future__ import annotations

import socket
import subprocess
import sys
import urllib.request

import pytest
from common_browser import LOCANT, explorer
from common_explorer import PACKED

from locant._internal.checks import how_to_install
from locant.cli.explore import listening


def refused(*arguments, **settings):
    done = subprocess.run(
        [LOCANT, "explore", "--no-open", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        **settings,
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("arguments", ["['--help']", "['list']", "['explore', '--help']"])
def test_help_and_list_import_neither_torch_nor_the_server(arguments):
    code = (
        f"import sys; sys.argv = ['locant', *{arguments}]\nfrom locant.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "assert not {'torch', 'fastapi', 'uvicorn', 'plotly', 'starlette'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)


def test_a_missing_extra_is_told_with_the_command_that_brings_it(tmp_path):
    code = (
        "import importlib.util as util, sys\nfind = util.find_spec\n"
        "gone = ('fastapi', 'plotly')\n"
        "util.find_spec = lambda name, *more: None if name in gone else find(name, *more)\n"
        "sys.argv = ['locant', 'explore', '--no-open']\nfrom locant.cli import main\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert done.returncode == 2
    assert f"the explorer needs fastapi, plotly.{how_to_install('explore')}\n" in done.stderr


def test_a_wrong_encoding_is_told_before_anything_starts():
    assert "Did you mean 'rotary'?" in refused("rop")
    assert "there is no file" in refused("nowhere.py:Mine")


def test_a_store_that_is_not_there_is_told_when_it_was_packed():
    assert "there is no store nowhere.gz" in refused("--store", "nowhere.gz")


def test_a_port_that_is_taken_is_told():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        assert f"port {port} cannot be used" in refused("--port", port)


def test_it_listens_on_this_machine_alone():
    with listening(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


def test_it_answers_and_ends_when_it_is_told_to(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with explorer("--store", PACKED, cwd=tmp_path) as address:
        assert address.startswith("http://127.0.0.1:")
        page = urllib.request.urlopen(address, timeout=30).read().decode()
        assert "<title>locant explore</title>" in page
        assert "http://" not in page
        assert "https://" not in page
    assert list(tmp_path.iterdir()) == []  # what was unpacked is gone
