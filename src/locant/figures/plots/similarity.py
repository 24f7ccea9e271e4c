"""Plot similarity: the cosine between the vectors of every two positions."""

from __future__ import annotations

from matplotlib.axes import Axes

from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.figures.plots.matrix import matrix, scale


def draw(cosines: Array, *, what: str = "", frame: Frame = PLAIN) -> tuple[Axes, ...]:
    """Draw cosines (positions, positions), from −1 to 1."""
    with frame.axes(size=(5.8, 5.2), title="how similar two positions are", square=True) as (axes,):
        image = matrix(
            axes, cosines, frame, down="position", across="position", most=1.0, square=True
        )
        scale(axes, image, "cosine similarity")
    return (axes,)
