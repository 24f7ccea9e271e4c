"""Time and memory of attention against length, on logarithmic scales: n or n²?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

from locant.figures.plots.colors import color_of
from locant.figures.plots.frame import PLAIN, Frame

Points = Sequence[tuple[int, float, float | None]]  # length, seconds, megabytes
MIN_MEGABYTES = 1.0  # megabytes; less cannot be told from what the process does otherwise
DASHED = (0, (4, 2))


def draw(series: Mapping[str, Points], *, title: str, frame: Frame = PLAIN) -> tuple[Axes, ...]:
    """Draw lines by name, which begins with the encoding's; dashed where a bias is materialized."""
    look = frame.look
    lengths = sorted({point[0] for points in series.values() for point in points})
    with frame.axes(1, 2, size=(10.5, 4.4), title=title) as axes:
        for panel, slot, label in zip(
            axes, (1, 2), ("seconds a pass", "megabytes that a pass adds"), strict=True
        ):
            for name, points in series.items():
                encoding, whole = name.split(",")[0], "materialized" in name
                panel.plot(
                    [point[0] for point in points],
                    [_shown(point, slot) for point in points],
                    color=look.ink if encoding == "plain" else color_of(encoding),
                    label=name,
                    marker="s" if whole else "o",
                    markersize=4.5,
                    linestyle=DASHED if whole else "-",
                )
            panel.set_xscale("log", base=2)
            panel.set_yscale("log")
            panel.xaxis.set_major_locator(FixedLocator(lengths))
            panel.xaxis.set_minor_locator(NullLocator())
            panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
            panel.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
            panel.set_xlabel("length (tokens)")
            panel.set_ylabel(label)
            _slope(panel, next(iter(series.values())), slot, look.muted)
        axes[0].legend(loc="lower right")
    return tuple(axes)


def _slope(panel: Axes, points: Points, slot: int, ink: str) -> None:
    """What n² (time) or n (memory) would look like, below the first line's longest point."""
    power, (first, last) = 3 - slot, (points[0][0], points[-1][0])
    top = _shown(points[-1], slot) / 2
    ends = [top * (first / last) ** power, top]
    panel.plot([first, last], ends, color=ink, linewidth=0.9, linestyle=":", zorder=1)
    panel.annotate(
        "as n²" if power == 2 else "as n",
        (last, top),
        (-2, -30),  # below the line at its left end too
        textcoords="offset points",
        ha="right",
        color=ink,
        fontsize=9,
    )


def _shown(point: tuple[int, float, float | None], slot: int) -> float:
    """Seconds, or megabytes as far as a logarithmic scale can show them."""
    return point[1] if slot == 1 else max(point[2] or 0.0, MIN_MEGABYTES)
