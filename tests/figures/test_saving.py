"""Files: the same numbers give the same bytes, without a date."""

from __future__ import annotations

import time

import numpy as np
import pytest

from locant.figures.plots import FORMATS
from locant.figures.plots.frame import Frame
from locant.figures.plots.gallery import draw, write
from locant.figures.plots.saving import save

NUMBERS = {"distances": np.arange(-3, 4), "scores": np.arange(14.0).reshape(2, 7) ** 2}
START = {"png": b"\x89PNG\r\n", "svg": b"<?xml", "pdf": b"%PDF-"}


@pytest.mark.parametrize("ending", FORMATS)
def test_the_same_picture_is_written_as_the_same_bytes_at_another_time(
    ending, tmp_path, monkeypatch
):
    written = []
    for year in (2001, 2031):
        monkeypatch.setenv(
            "SOURCE_DATE_EPOCH", str(int(time.mktime((year, 1, 1, 0, 0, 0, 0, 0, 0))))
        )
        file = save(
            draw("score", NUMBERS, Frame("alibi")), tmp_path / f"{year}.{ending}", title="Scores"
        )
        written.append(file.read_bytes())
    assert written[0] == written[1]
    assert written[0].startswith(START[ending])
    assert b"date" not in written[0].lower()


def test_an_svg_says_what_it_shows(tmp_path):
    file = save(draw("score", NUMBERS), tmp_path / "score.svg", title="Scores & distances")
    assert "<dc:title>Scores &amp; distances</dc:title>" in file.read_text(encoding="utf-8")


def test_a_format_that_is_not_known_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"(?s)format='gif'.*png, svg, pdf"):
        save(draw("score", NUMBERS), tmp_path / "score.gif")


def test_pictures_are_written_under_their_names(tmp_path):
    ((picture, files),) = write({"score": NUMBERS}, tmp_path, ["png", "svg"])
    assert picture.name == "score"
    assert files == [tmp_path / "score.png", tmp_path / "score.svg"]
    assert all(file.stat().st_size > 1000 for file in files)
