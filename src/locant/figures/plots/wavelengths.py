"""Plot wavelengths: how many positions one full turn takes in each dimension, linear and
logarithmic."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from locant.figures.plots.frame import PLAIN, Array, Frame, integer_ticks


def draw(
    dimensions: Array, *, wavelengths: Array, length: int | None = None, frame: Frame = PLAIN
) -> tuple[Axes, ...]:
    """Draw a wavelength for each dimension, and a line at `length`: waves below it make a full
    turn."""
    with frame.axes(1, 2, size=(8.6, 3.8), title="positions in one full turn") as axes:
        for one, kind in zip(axes, ("linear", "log"), strict=True):
            one.plot(dimensions, wavelengths, "o", markersize=5, color=frame.color)
            one.set_yscale(kind)
            integer_ticks(one.xaxis)
            one.set_xlabel("dimension")
            one.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
            if length is not None:
                one.axhline(length, color=frame.look.muted, linewidth=1, linestyle=(0, (4, 3)))
        if length is not None:
            axes[1].annotate(
                f"length\n{length:,}",
                (1.02, length),
                xycoords=("axes fraction", "data"),
                va="center",
                color=frame.look.muted,
                fontsize=9,
            )
        axes[0].set_ylim(bottom=0)
        axes[0].set_ylabel("wavelength (positions)")
        axes[1].set_ylabel("wavelength (positions, log scale)")
    return tuple(axes)
