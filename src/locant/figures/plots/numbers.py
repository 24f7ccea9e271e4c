"""Plot a small matrix with its numbers printed in their cells."""

from __future__ import annotations

from matplotlib.axes import Axes

from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.figures.plots.matrix import largest, matrix, print_numbers, scale


def draw(
    values: Array, *, what: str = "numbers", down: str, across: str, frame: Frame = PLAIN
) -> tuple[Axes, ...]:
    """Draw a small matrix; `down` and `across` say what its rows and columns are."""
    with frame.axes(
        size=(7.4, 5.4), title=f"{what}, the first {values.shape[0]} × {values.shape[1]}"
    ) as (axes,):
        image = matrix(axes, values, frame, down=down, across=across)
        print_numbers(axes, values, image, 2 if largest(values) >= 0.1 else 3)
        axes.set_xticks(range(values.shape[1]))
        axes.set_yticks(range(values.shape[0]))
        scale(axes, image, "value")
    return (axes,)
