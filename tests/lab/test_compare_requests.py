"""What `locant compare` refuses before anything trains, with a sentence and nothing written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from locant.cli.compare import compare

BROKEN = """
from locant.encodings.base import Encoding

class Broken(Encoding):
    def __init__(self, dim, heads=1, length=None):
        raise RuntimeError("of no use")
"""


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        ({"workers": -1}, "at least 0 for workers"),
        ({"encodings": " , "}, "--encodings needs at least one word"),
        ({"encodings": "rotary,broken.py:Broken"}, r"Broken cannot be built: .*of no use"),
        ({"change": ["model.dim=7"]}, "none cannot be built: .*dim=7"),
        ({"change": ["device=nonsense"]}, "'nonsense' cannot be used here"),
        ({"device": "meta"}, "'meta' cannot be used here"),
        ({"train_length": 5, "columns": "x"}, "train_length, columns: for your own data alone"),
        ({"store": Path("runs.json.gz")}, "packed file, which takes no more runs"),
        ({"change": ["task_options.length=long"]}, "length"),
    ],
    ids=str,
)
def test_a_request_that_cannot_be_met_is_refused_and_nothing_is_written(
    tmp_path, monkeypatch, request_, why
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.py").write_text(BROKEN)
    with pytest.raises(ValueError, match=why):
        compare("order", quick=True, **request_)
    assert [path.name for path in tmp_path.iterdir() if path.name != "__pycache__"] == ["broken.py"]


def test_a_pipe_is_no_file_to_compare_on(tmp_path):
    os.mkfifo(tmp_path / "rows.csv")
    with pytest.raises(ValueError, match="is a pipe or a device"):
        compare(data=tmp_path / "rows.csv")
