"""Attention of every layer and head in the same example, one line of matrices per model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from locant.figures.plots.entrants import Entrant, listed
from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.figures.plots.matrix import scale

SIDE = 0.66  # inches of a matrix with the gap after it
MAX_CELLS = 32  # of a side; larger matrices are averaged
TITLE = "attention of every head\nqueries down, keys across; each as a share of its largest weight"
LEVELS = 16  # of color, which keeps files small
GAP = 0.12  # of a side, between matrices; twice as much between layers


def draw(
    entrants: Sequence[Entrant], *, weights: Sequence[Array], frame: Frame = PLAIN
) -> tuple[Axes, ...]:
    """Draw the weights (layers, heads, queries, keys) of each entrant, each in its own scale."""
    layers, heads = weights[0].shape[:2]
    size = (max(2.3 + SIDE * layers * heads, 6.4), 1.3 + SIDE * len(entrants))
    step, colors = 1 + GAP, frame.sequential.resampled(LEVELS)
    with frame.axes(size=size, title=TITLE, square=True) as (axes,):
        left = [step * slot + GAP * (slot // heads) for slot in range(layers * heads)]
        for at, every in enumerate(weights):
            for x, matrix in zip(left, every.reshape(-1, *every.shape[2:]), strict=True):
                small = coarse(matrix)
                sides = (x, x + 1, step * at + 1, step * at)
                image = axes.imshow(
                    small / max(small.max(), 1e-12),
                    cmap=colors,
                    vmin=0,
                    vmax=1,
                    extent=sides,
                    interpolation="nearest",
                )
        listed((axes,), entrants, frame.look, [step * at + 0.5 for at in range(len(entrants))])
        axes.set_ylim(step * len(entrants) - GAP, 0)
        axes.set_xlim(0, left[-1] + 1)
        names = [
            f"layer {slot // heads + 1}\nhead 1" if not slot % heads else f"head {slot % heads + 1}"
            for slot in range(len(left))
        ]
        axes.set_xticks([x + 0.5 for x in left], names)
        axes.tick_params(length=0, labelbottom=False, labeltop=True)
        axes.tick_params(axis="x", labelsize=8.5)
        axes.spines[:].set_visible(False)
        axes.grid(visible=False)
        scale(axes, image, "")
    return (axes,)


def coarse(matrix: Array, most: int = MAX_CELLS) -> Array:
    """Means of square blocks, so that no side has more than `most` cells.

    >>> coarse(np.arange(16.0).reshape(4, 4), 2).tolist()
    [[2.5, 4.5], [10.5, 12.5]]
    """
    step = -(-max(matrix.shape) // most)
    down, across = (np.arange(0, side, step) for side in matrix.shape)
    sums = np.add.reduceat(np.add.reduceat(matrix, down, 0), across, 1)
    counts = np.add.reduceat(np.add.reduceat(np.ones_like(matrix), down, 0), across, 1)
    return np.asarray(sums / counts)
