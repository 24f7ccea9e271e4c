"""Plot a heat map: every number of every position's vector, positions down, dimensions across."""

from __future__ import annotations

from matplotlib.axes import Axes

from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.figures.plots.matrix import matrix, scale


def draw(values: Array, *, what: str = "", frame: Frame = PLAIN) -> tuple[Axes, ...]:
    """Draw values (positions, width); `what` they are is the title."""
    with frame.axes(size=(7.2, 4.6), title=what) as (axes,):
        image = matrix(axes, values, frame, down="position", across="dimension")
        scale(axes, image, "value")
    return (axes,)
