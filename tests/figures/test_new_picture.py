"""A picture is a new file: it then appears in `locant show`, the gallery and the explorer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import locant

MEASURED = '''"""Norms: how long the vector of each position is."""

from __future__ import annotations

import numpy as np

from locant.figures.data.base import all_vectors

ORDER = 15
{constants}

def measure(encoding, **_):
    norms = np.linalg.norm(all_vectors(encoding), axis=1)
    return {numbers}
'''
DRAWN = '''"""Plot norms against positions."""

from __future__ import annotations

from locant.figures.plots.frame import PLAIN


def draw(norms, *, frame=PLAIN):
    with frame.axes(size=(6, 4), title="norms") as (axes,):
        axes.plot(norms)
    return (axes,)
'''
USE = """
import json
from pathlib import Path
from starlette.testclient import TestClient
from typer.testing import CliRunner
from locant.cli.app import app
from locant.explorer.server import make_app
from locant.explorer.state import ExplorerState
from locant.figures.data import catalog

if __name__ == "__main__":
    size = ["--dim", "8", "--heads", "2", "--length", "6", "--out", "shown", "--json"]
    shown = json.loads(CliRunner().invoke(app, ["show", "sinusoidal", *size]).stdout)
    with TestClient(make_app(ExplorerState()), base_url="http://localhost") as client:
        start = client.get("/api/start").json()
        asked = {"encoding": "sinusoidal", "view": "norms", "dim": 8, "length": 6}
        numbers = client.get("/api/view", params=asked).json()
        image = client.get("/api/view", params=asked | {"image": "light"}).json()
    print(json.dumps({
        "catalog": list(catalog()),
        "files": [Path(file).is_file() for file in shown["pictures"]["norms"]],
        "page": [view for view in start["views"] if view["name"] == "norms"],
        "numbers": numbers["numbers"],
        "image": image["image"][:26],
    }))
"""


@pytest.fixture
def package(tmp_path):
    """A copy of locant that may be changed."""
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(locant.__file__).parent, tmp_path / "locant", ignore=skip)
    return tmp_path / "locant" / "figures"


@pytest.mark.parametrize("files", ["one in each folder", "one"])
def test_a_new_file_is_a_new_picture_everywhere(package, tmp_path, files):
    own_plot = files != "one"
    constants = "" if own_plot else 'PLOT = "heat"\n'
    numbers = '{"norms": norms}' if own_plot else '{"values": norms[:, None]}'
    text = MEASURED.format(constants=constants, numbers=numbers)
    (package / "data" / "norms.py").write_text(text, encoding="utf-8")
    if own_plot:
        (package / "plots" / "norms.py").write_text(DRAWN, encoding="utf-8")
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "use.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["catalog"][:3] == ["heat", "norms", "waves"]
    assert found["files"] == [True]
    (view,) = found["page"]
    assert view["label"] == "norms"
    assert view["caption"] == "Norms: how long the vector of each position is."
    assert view["plot"] == ("norms" if own_plot else "heat")
    (values,) = found["numbers"].values()
    assert len(values) == 6
    assert found["image"] == "data:image/svg+xml;base64,"
