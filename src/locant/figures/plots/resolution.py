"""Distance resolution: how much a score changes when the key steps one position farther away, at each distance."""

from __future__ import annotations

from matplotlib.axes import Axes

from locant.figures.plots.frame import PLAIN, Array, Frame, alike

LEAST = 1e-3  # below it the scale goes on to 0 in a straight line
MARKS = "osD^vP*X"  # a head is known by its mark as well as by its shade


def draw(distances: Array, *, changes: Array, frame: Frame = PLAIN) -> tuple[Axes, ...]:
    """changes (heads, distances): typical change from distance d to d + 1, in units of the spread of content's scores."""
    lines = alike(changes)
    with frame.axes(size=(7.6, 4.2), title="how well neighbouring distances can be told apart") as (
        axes,
    ):
        for (label, line), look, mark in zip(
            lines.items(), frame.lines(len(lines)), MARKS, strict=False
        ):
            axes.plot(distances, line, mark, markersize=3.5, color=look["color"], label=label)
        axes.set_yscale("symlog", linthresh=LEAST)
        axes.set_ylim(0, max(1.0, 1.2 * float(changes.max())))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("distance d (positions)")
        axes.set_ylabel("change of a score from d to d + 1\n(1 = spread of scores by content)")
        axes.margins(x=0)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return (axes,)
