"""Plot attention side by side: what one head of each entrant's model attends to, in one example."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from locant.figures.plots.entrants import Entrant
from locant.figures.plots.frame import PLAIN, Array, Frame, integer_ticks
from locant.figures.plots.matrix import scale
from locant.figures.plots.panels import panels

TITLE = (
    "attention: one head of each, in one example\n"
    "each as a share of its largest weight, given in parentheses"
)


def draw(
    entrants: Sequence[Entrant],
    *,
    weights: Sequence[Array],
    labels: Sequence[str],
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw weights (queries, keys) of each entrant in its own scale, under a label such as "layer
    1, head 2"."""
    notes = [
        f"{label} ({float(one.max()):.2f})" for label, one in zip(labels, weights, strict=True)
    ]
    with panels(
        frame,
        entrants,
        title=TITLE,
        across="key's position",
        down="query's position",
        size=(1.9, 1.78),
        notes=notes,
        square=True,
    ) as axes:
        for panel, one in zip(axes, weights, strict=True):
            shares = one / max(float(one.max()), 1e-12)
            image = panel.imshow(
                shares, cmap=frame.sequential, vmin=0, vmax=1, interpolation="nearest"
            )
            panel.grid(visible=False)
            integer_ticks(panel.xaxis, panel.yaxis)
        scale(axes, image, "")
    return tuple(axes)
