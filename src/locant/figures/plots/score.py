"""Plot scores against distance: what one query gives to equal keys before and after it."""

from __future__ import annotations

from matplotlib.axes import Axes

from locant.figures.plots.frame import PLAIN, Array, Frame, curves_by_head


def draw(distances: Array, *, scores: Array, frame: Frame = PLAIN) -> tuple[Axes, ...]:
    """Draw scores (heads, distances); a distance below 0 is a key before the query."""
    lines = curves_by_head(scores)
    title = "score against distance, for equal content"
    with frame.axes(size=(7.6, 4.2), title=title) as (axes,):
        for (label, line), look in zip(lines.items(), frame.lines(len(lines)), strict=True):
            axes.plot(distances, line, label=label, **look)
        axes.axvline(0, color=frame.look.muted, linewidth=0.8)
        axes.set_xlabel("key's position − query's position")
        axes.set_ylabel("score (before the softmax)")
        axes.margins(x=0)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return (axes,)
