"""Pictures and worked arithmetic from Python: `locant.figures.draw` and `work_out`."""

from __future__ import annotations

import matplotlib.figure
import pytest

import locant
from locant.figures.data import catalog, measure_all


@pytest.mark.parametrize("name", ["sinusoidal", "rotary", "t5"])
def test_every_picture_that_fits_is_drawn_as_a_figure(name):
    encoding = locant.make(name, dim=16, heads=2, length=32)
    measured, left_out = measure_all(encoding)
    for picture in catalog():
        if picture in measured:
            assert isinstance(locant.figures.draw(picture, encoding), matplotlib.figure.Figure)
        else:
            with pytest.raises(ValueError, match=f"no picture '{picture}' of {name}: "):
                locant.figures.draw(picture, encoding)
    assert left_out


def test_a_notebook_shows_a_figure_as_a_picture_without_further_settings():
    figure = locant.figures.draw("heat", locant.make("sinusoidal", dim=16, length=32))
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_an_unknown_picture_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="Did you mean 'heat'"):
        locant.figures.draw("het", locant.make("rotary", dim=16))


def test_only_the_hooks_that_are_asked_for_are_worked_out():
    encoding = locant.make("shaw", dim=16, heads=2, length=8)
    assert [part.hook for part in locant.figures.work_out(encoding)] == ["rescore", "mix"]
    assert [part.hook for part in locant.figures.work_out(encoding, hooks=["mix"])] == ["mix"]


def test_a_value_that_stays_zero_is_worked_out_with_ones():
    erpe = locant.make("erpe", dim=4, length=8)
    erpe.table.data[8 - 1 + 2] = 0.25  # of the distance 2
    (part,) = locant.figures.work_out(erpe, position=5, key=3)
    assert part.lines == ["a value of ones comes out as [1.2500, 1.2500, 1.2500, 1.2500]"]


def test_what_counts_keys_in_between_says_that_there_are_none():
    (part,) = locant.figures.work_out(locant.make("cope", dim=4))
    assert part.title.endswith(", with no other key")
