"""Every picture, drawn from real numbers, in light and dark: its texts are there, inside the
figure,
and do not overlap."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import locant.figures.plots
from common import build
from locant.figures.data import catalog, measure_all
from locant.figures.plots.colors import THEMES, color_of
from locant.figures.plots.frame import Frame
from locant.figures.plots.gallery import draw

SHOWN = dict.fromkeys(catalog(), "sinusoidal")  # each picture of an encoding that has it
SHOWN |= dict.fromkeys(("score", "rotation", "resolution", "mixing"), "rotary")
SHOWN |= {"bias": "alibi"}
NOTE = "untrained: its parameters are as initialized"


@pytest.fixture(scope="module")
def numbers():
    drawn = {
        name: measure_all(build(name, dim=64, length=100))[0]
        for name in {*SHOWN.values(), "t5", "learned"}
    }
    return lambda name, picture: drawn[name][picture]


def in_view(axis):
    """The labels of the ticks that are shown."""
    low, high = sorted(axis.get_view_interval())
    side = 0 if axis.axis_name == "x" else 1
    return [
        tick
        for tick in axis.get_ticklabels()
        if tick.get_text() and low <= tick.get_position()[side] <= high
    ]


def words(figure):
    """Every text that is shown."""
    figure.draw_without_rendering()
    found = [*figure.texts, figure._suptitle, figure._supxlabel, figure._supylabel]
    found += [text for legend in figure.legends for text in legend.get_texts()]
    for axes in (one for one in figure.axes if one.get_visible()):
        found += [
            axes.title,
            axes.xaxis.label,
            axes.yaxis.label,
            *axes.texts,
            *in_view(axes.xaxis),
            *in_view(axes.yaxis),
        ]
        found += axes.get_legend().get_texts() if axes.get_legend() else []
    return [
        one for one in found if one is not None and one.get_visible() and one.get_text().strip()
    ]


def test_every_picture_has_a_plot_and_a_caption():
    assert set(SHOWN) == set(catalog())
    plots = Path(locant.figures.plots.__file__).parent
    for picture in catalog().values():
        assert (plots / f"{picture.plot}.py").is_file()
        assert picture.caption.endswith(".")


@pytest.mark.parametrize(("theme", "note"), [("light", ""), ("dark", NOTE)])
@pytest.mark.parametrize("picture", SHOWN)
def test_a_picture_says_what_it_shows_with_every_word_on_the_paper_and_none_over_another(
    picture, theme, note, numbers
):
    name = SHOWN[picture]
    axes = draw(picture, numbers(name, picture), Frame(name, theme, note))
    figure = axes[0].get_figure(root=True)
    found = words(figure)
    title = figure.get_suptitle()
    assert title.startswith(f"{name}: ")
    assert title.endswith(note)
    assert to_hex(figure.get_facecolor()) == THEMES[theme].paper
    assert axes[-1].get_xlabel() or figure.get_supxlabel()
    assert (
        axes[0].get_ylabel()
        or figure.get_supylabel()
        or axes[0].get_yticklabels()[0].get_text().isalpha()
    )
    width, height = figure.canvas.get_width_height()
    for one in found:
        box = one.get_window_extent()
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1
        assert inside, (one.get_text(), box, (width, height))
    for ticks in (in_view(one.xaxis) for one in axes):
        boxes = [tick.get_window_extent() for tick in ticks if not tick.get_rotation()]
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes)), [
            tick.get_text() for tick in ticks
        ]


def test_the_small_matrix_prints_its_numbers(numbers):
    values = numbers("sinusoidal", "numbers")
    (axes,) = draw("numbers", values, Frame("sinusoidal"))
    printed = [text.get_text() for text in axes.texts]
    assert len(printed) == 11 * 11
    assert printed[0] == "0.00"
    assert printed[3 * 11 : 3 * 11 + 2] == ["0.14", "−0.99"]


@pytest.mark.parametrize("theme", THEMES)
def test_printed_numbers_are_readable_on_their_cells(theme, numbers):
    from test_colors import contrast

    (axes,) = draw("numbers", numbers("sinusoidal", "numbers"), Frame("sinusoidal", theme))
    image = axes.images[0]
    for text in axes.texts:
        column, row = text.get_position()
        cell = to_hex(image.cmap(image.norm(image.get_array()[row, column])))
        assert contrast(to_hex(text.get_color()), cell) >= 4.4


def test_lines_of_an_encoding_have_its_color(numbers):
    (axes,) = draw("score", numbers("rotary", "score"), Frame("rotary"))
    assert to_hex(axes.lines[0].get_color()) == color_of("rotary")
    assert axes.get_legend().get_texts()[0].get_text() == "every head"


def test_heads_that_differ_have_lines_of_their_own(numbers):
    (axes,) = draw("score", numbers("t5", "score"), Frame("t5"))
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["head 1", "head 2", "head 3", "head 4"]
    looks = [
        (to_hex(line.get_color()), line.get_linestyle(), line._unscaled_dash_pattern)
        for line in axes.lines[:4]
    ]
    assert len({str(look) for look in looks}) == 4


def test_wavelengths_are_drawn_twice_linear_and_log(numbers):
    axes = draw("wavelengths", numbers("sinusoidal", "wavelengths"), Frame("sinusoidal"))
    assert [one.get_yscale() for one in axes] == ["linear", "log"]


def test_a_picture_can_be_drawn_into_a_part_of_a_figure(numbers):
    figure = Figure(layout="constrained")
    left, right = figure.subfigures(1, 2)
    (heat,) = draw("heat", numbers("learned", "heat"), Frame("learned", figure=left))
    draw("waves", numbers("sinusoidal", "waves"), Frame("sinusoidal", figure=right))
    assert heat.get_figure(root=True) is figure
    figure.draw_without_rendering()


def test_matrices_are_drawn_as_they_are(numbers):
    values = numbers("learned", "similarity")
    (axes,) = draw("similarity", values)
    assert np.asarray(axes.images[0].get_array()) == pytest.approx(values["cosines"])
    assert axes.images[0].get_clim() == (-1, 1)


def test_an_unknown_theme_is_refused():
    with pytest.raises(ValueError, match=r"(?s)theme='drak'.*Did you mean 'dark'.*light, dark"):
        Frame(theme="drak")
