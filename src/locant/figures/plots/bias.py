"""Plot the bias of each head: what is added to the score of every query and key."""

from __future__ import annotations

from matplotlib.axes import Axes

from locant.figures.plots.frame import PLAIN, Array, Frame, curves_by_head
from locant.figures.plots.matrix import own_scale, scale

ACROSS = 4  # heads side by side


def draw(bias: Array, *, frame: Frame = PLAIN) -> tuple[Axes, ...]:
    """Draw bias (heads, queries, keys): a matrix per head in its own scale; equal heads share
    one."""
    heads = curves_by_head(bias)
    columns = min(len(heads), ACROSS)
    rows = -(-len(heads) // columns)
    size = (1.6 + 2.2 * columns, 1.0 + 2.3 * rows)
    with frame.axes(
        rows,
        columns,
        size=size,
        title="what each head adds to the scores",
        square=True,
        sharex=True,
        sharey=True,
    ) as axes:
        for one, (label, values) in zip(axes, heads.items(), strict=False):
            image = own_scale(one, values, frame, label, square=True)
        for one in axes[len(heads) :]:
            one.set_visible(False)
        scale(axes[: len(heads)], image, "share of the head's largest value")
        figure = axes[0].figure
        figure.supxlabel("key's position", fontsize=10.5)
        figure.supylabel("query's position", fontsize=10.5)
    return tuple(axes[: len(heads)])
