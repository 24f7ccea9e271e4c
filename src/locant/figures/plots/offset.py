"""Plot the matrix of an offset: PE(p + k) = M·PE(p) for every position p; and a part of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.figures.plots.matrix import matrix, print_numbers, scale


def draw(
    transformation: Array,
    *,
    offset: int,
    error: float,
    corner: Sequence[int],
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw the matrix, and its entries at a few dimensions.

    transformation  (width, width); error: its largest error relative to a vector's norm
    corner          the dimensions whose entries are printed
    """
    with frame.axes(
        1, 2, size=(9.4, 4.8), title=f"one matrix moves every vector by {offset}", square=True
    ) as axes:
        part = transformation[np.ix_(corner, corner)]
        sides = {"down": f"dimension at p + {offset}", "across": "dimension at p"}
        for one, values in zip(axes, (transformation, part), strict=True):
            image = matrix(one, values, frame, **sides, most=1.0, square=True)
        axes[1].set_xticks(range(len(corner)), map(str, corner))
        axes[1].set_yticks(range(len(corner)), map(str, corner))
        print_numbers(axes[1], part, image, 2)
        scale(axes, image, "entry of M")
        axes[0].set_title(f"M with PE(p + {offset}) = M·PE(p), up to {error:.0e}")
        axes[1].set_title("a part of it, pairs side by side")
    return tuple(axes)
