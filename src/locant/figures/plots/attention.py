"""Attention side by side: what one head of each row's model looks at, in the same example."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from locant.figures.plots.entrants import Entrant
from locant.figures.plots.frame import PLAIN, Array, Frame, whole
from locant.figures.plots.matrix import scale
from locant.figures.plots.panels import panels

TITLE = "attention: one head of each, in one example\neach as a share of its largest weight, which stands in brackets"


def draw(
    entrants: Sequence[Entrant],
    *,
    weights: Sequence[Array],
    places: Sequence[str],
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """weights: (queries, keys) for each row, each in its own scale; places: such as "layer 1, head 2"."""
    notes = [
        f"{place} ({float(one.max()):.2f})" for place, one in zip(places, weights, strict=True)
    ]
    with panels(
        frame, entrants, title=TITLE, across="key's position",
        down="query's position", size=(1.9, 1.78), notes=notes, square=True,
    ) as axes:  # fmt: skip
        for panel, one in zip(axes, weights, strict=True):
            shares = one / max(float(one.max()), 1e-12)
            image = panel.imshow(
                shares, cmap=frame.sequential, vmin=0, vmax=1, interpolation="nearest"
            )
            panel.grid(visible=False)
            whole(panel.xaxis, panel.yaxis)
        scale(axes, image, "")
    return tuple(axes)
