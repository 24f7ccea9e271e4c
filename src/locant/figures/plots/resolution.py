"""Plot distance resolution: how much a score changes when the key moves one position farther
away."""

from __future__ import annotations

from matplotlib.axes import Axes

from locant.figures.plots.frame import PLAIN, Array, Frame, curves_by_head

LINEAR_BELOW = 1e-3  # the logarithmic scale continues to 0 linearly
MARKERS = "osD^vP*X"  # a head is known by its marker as well as by its shade


def draw(distances: Array, *, changes: Array, frame: Frame = PLAIN) -> tuple[Axes, ...]:
    """Draw the typical change of a score from distance d to d + 1.

    changes  (heads, distances), in standard deviations of the scores of random content
    """
    lines = curves_by_head(changes)
    title = "how well neighboring distances can be distinguished"
    with frame.axes(size=(7.6, 4.2), title=title) as (axes,):
        for (label, line), look, marker in zip(
            lines.items(), frame.lines(len(lines)), MARKERS, strict=False
        ):
            axes.plot(distances, line, marker, markersize=3.5, color=look["color"], label=label)
        axes.set_yscale("symlog", linthresh=LINEAR_BELOW)
        axes.set_ylim(0, max(1.0, 1.2 * float(changes.max())))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("distance d (positions)")
        axes.set_ylabel(
            "change of a score from d to d + 1\n(1 = standard deviation of content scores)"
        )
        axes.margins(x=0)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return (axes,)
