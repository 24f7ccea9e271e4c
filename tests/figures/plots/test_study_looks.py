"""How the pictures of a study look: colors, names that are not cut off or covered, small files."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from common_study import PAPERS, bare, draw_all, drawn_colors, row, study
from matplotlib.text import Text
from PIL import Image

from locant.figures.plots import cost, estimate
from locant.figures.plots.colors import THEMES, color_of
from locant.figures.plots.entrants import BASELINE, CONTROL, Entrant
from locant.figures.plots.saving import save
from locant.figures.plots.small import shrink
from locant.lab.report.study_pictures import pictures, write_pictures


@pytest.fixture(scope="module")
def offered():
    return pictures(study(), PAPERS)


@pytest.fixture(scope="module")
def axes(offered):
    return draw_all(offered)


def test_an_encoding_has_one_color_in_every_picture(axes):
    for name in ("metric", "forest", "kinds", "changes", "cost", "parameters"):
        assert color_of("rotary") in drawn_colors(axes[name][0]), name
    for name in ("lengths", "spread", "curves", "reconstruction"):
        own = next(one for one in axes[name] if one.get_title("left") == "rotary")
        others = [one for one in axes[name] if one.get_title("left") == "none"]
        assert color_of("rotary") in drawn_colors(own), name
        assert all(color_of("rotary") not in drawn_colors(one) for one in others), name


def test_controls_have_their_own_colors_and_plain_methods_are_grey(offered):
    entrants = {one.name: one for one in offered["metric"].numbers["entrants"]}
    look = THEMES["light"]
    assert entrants["scrambled"].color(look) == color_of("scrambled") != color_of("sinusoidal")
    assert entrants["harmonic"].color(look) == look.muted
    assert Entrant("no attention", "none", CONTROL).color(look) not in (
        color_of("none"),
        look.muted,
    )
    assert {one.marker(look)["marker"] for one in entrants.values()} == {"o", "D", "s"}
    assert Entrant("harmonic", "none", BASELINE).ink(look) == look.muted


def test_a_second_row_of_an_encoding_is_hollow_wherever_it_stands():
    entrants = pictures(study(("none", "learned", "learned .02", "scrambled")))["metric"].numbers[
        "entrants"
    ]
    assert [one.name for one in entrants if one.again] == ["learned .02"]


def test_names_beside_points_keep_their_order_and_their_distance():
    draw = np.random.default_rng(0)
    for count in (1, 2, 15, 40):
        places = np.sort(draw.random(count) ** 3)
        moved = np.array(cost.apart(list(places), 1 / 40))
        assert (np.diff(moved) >= 1 / 40 - 1e-9).all()
        assert moved.min() >= 0
        assert moved.max() <= 1 + 1e-9
    assert cost.apart([0.1, 0.5], 0.05) == pytest.approx([0.1, 0.5])


def test_lines_at_one_value_share_a_name():
    assert estimate.together({"a": 0.5, "b": 0.5001, "c": 0.6}, 0.01) == {
        0.5: ["a", "b"],
        0.6: ["c"],
    }


def test_no_word_is_cut_off_at_the_edge(axes):
    for name, panels in axes.items():
        if name == "parameters":  # drawn by the same file as cost
            continue
        figure = panels[0].get_figure(root=True)
        figure.draw_without_rendering()
        whole = figure.bbox
        for panel in panels:
            box = panel.get_tightbbox()
            assert box.x0 >= -2, name
            assert box.x1 <= whole.width + 2, name
            assert box.y1 <= whole.height + 2, name
        title = figure._suptitle.get_window_extent()
        assert title.x1 <= whole.width, name
        assert all(panel.title.get_window_extent().y1 <= title.y0 + 2 for panel in panels), name


def test_with_23_rows_no_name_covers_another():
    record = bare(("none", "rotary"), seeds=2)
    record.entrants += [row(f"row {number}", "rotary", seeds=2) for number in range(20)]
    for one in record.entrants:
        one.costs = {"parameters": [1000.0, 1000.0]}
    made = pictures(record)
    (metric,) = made["metric"].draw()
    (points,) = made["parameters"].draw()
    for panel, words in ((metric, metric.get_yticklabels()), (points, points.texts)):
        panel.figure.draw_without_rendering()
        boxes = sorted(
            (Text.get_window_extent(word) for word in words), key=lambda box: box.y0
        )  # without leaders
        assert len(boxes) == 23
        assert all(low.y1 <= high.y0 for low, high in pairwise(boxes))


def test_the_same_record_is_written_to_the_same_bytes_in_small_files(tmp_path):
    first = write_pictures(bare(()), tmp_path / "one", ("png", "svg"))
    assert [path.name for path in first] == ["metric.png", "metric.svg"]
    again = write_pictures(bare(()), tmp_path / "two", ("png", "svg"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert first[0].stat().st_size < 20_000
    (dark,) = write_pictures(bare(()), tmp_path / "three", theme="dark")
    assert Image.open(dark).convert("RGB").getpixel((2, 2)) == (0x15, 0x18, 0x1D)
    with pytest.raises(ValueError, match="format"):
        write_pictures(bare(()), tmp_path / "four", ("gif",))


def test_a_shrunk_picture_looks_the_same_and_keeps_its_caption(tmp_path, offered, axes):
    caption = offered["metric"].caption
    path = save(axes["metric"], tmp_path / "metric.png", title=caption)
    whole, size = np.asarray(Image.open(path).convert("RGB")).astype(int), path.stat().st_size
    small = Image.open(shrink(path))
    assert np.abs(np.asarray(small.convert("RGB")).astype(int) - whole).max() <= 12
    assert path.stat().st_size < size / 2
    assert small.text["Title"] == caption
    assert small.info["dpi"] == pytest.approx((144, 144), abs=0.1)
