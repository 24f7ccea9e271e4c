"""What all plots share: the encoding's color, a light or dark theme, one style, and the figure to
draw on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from locant._internal.checks import one_of
from locant.figures.plots.colors import DASHES, THEMES, Theme, color_of, shades

Array = NDArray[np.float64]
MAX_LINES = 8  # heads in one plot


class NotebookFigure(Figure):
    """A figure that a notebook shows as a picture without `%matplotlib inline`."""

    def _repr_png_(self) -> bytes:
        buffer = BytesIO()
        self.savefig(buffer, format="png", facecolor=self.get_facecolor())
        return buffer.getvalue()


@dataclass(frozen=True)
class Frame:
    """The encoding whose plot it is, the theme, a note under the title, and the figure to draw
    on."""

    name: str = ""
    theme: str = "light"
    note: str = ""
    figure: Figure | SubFigure | None = None

    def __post_init__(self) -> None:
        one_of("a plot", "theme", self.theme, THEMES)

    @property
    def look(self) -> Theme:
        return THEMES[self.theme]

    @property
    def color(self) -> str:
        return color_of(self.name)

    @property
    def diverging(self) -> LinearSegmentedColormap:
        """Return the color map from − to +, with 0 in the middle."""
        return LinearSegmentedColormap.from_list("locant", self.look.diverging)

    @property
    def sequential(self) -> LinearSegmentedColormap:
        return LinearSegmentedColormap.from_list("locant", self.look.sequential)

    def lines(self, count: int) -> list[dict[str, Any]]:
        """Return the styles of several lines of one encoding: shades of its color, each with its
        dash."""
        styles: list[dict[str, Any]] = []
        for number, shade in enumerate(shades(self.name, count, self.theme)):
            pattern = DASHES[number % len(DASHES)]
            styles.append({"color": shade, "linestyle": (0, pattern) if pattern else "-"})
        return styles

    @contextmanager
    def axes(
        self,
        rows: int = 1,
        columns: int = 1,
        *,
        size: tuple[float, float],
        title: str,
        square: bool = False,
        **grid: Any,
    ) -> Iterator[list[Axes]]:
        """Yield empty axes in the style, under a title; `size` in inches, for when there is no
        figure yet."""
        with matplotlib.rc_context(style(self.look)):
            figure = self.figure or NotebookFigure(
                figsize=size, layout="compressed" if square else "constrained"
            )
            label = self.name.rpartition(":")[2]
            lines = [f"{label}: {title}" if label else title]
            if self.note:
                lines.append(self.note)
            figure.suptitle("\n".join(lines), x=0.01, ha="left", linespacing=1.4, parse_math=False)
            yield list(figure.subplots(rows, columns, squeeze=False, **grid).flat)


PLAIN = Frame()


def style(look: Theme) -> Any:
    """Return matplotlib's settings for a theme."""
    return {
        "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
        "font.size": 10.5,
        "axes.titlesize": 10.5,
        "figure.titlesize": 11.5,
        "axes.labelcolor": look.ink,
        "axes.edgecolor": look.muted,
        "axes.facecolor": look.paper,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": look.grid,
        "grid.linewidth": 0.7,
        "text.color": look.ink,
        "xtick.color": look.muted,
        "ytick.color": look.muted,
        "xtick.labelcolor": look.ink,
        "ytick.labelcolor": look.ink,
        "lines.linewidth": 1.8,
        "figure.facecolor": look.paper,
        "figure.constrained_layout.w_pad": 0.07,
        "figure.constrained_layout.h_pad": 0.07,
        "legend.frameon": False,
        "legend.fontsize": 9.5,
    }


def integer_ticks(*axes: Axis) -> None:
    """Put ticks at integers only: there is no position 2.5 here."""
    for axis in axes:
        axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))


def curves_by_head(curves: Array) -> dict[str, Array]:
    """Label the curves of the heads; heads with the same curve share one.

    >>> list(curves_by_head(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]])))
    ['heads 1, 2', 'head 3']
    """
    groups: list[list[int]] = []
    for head, curve in enumerate(curves):
        for group in groups:
            if np.allclose(curves[group[0]], curve, atol=1e-9):
                group.append(head)
                break
        else:
            groups.append([head])
    shown = [groups[index] for index in evenly_spread(len(groups))]
    return {_heads(group, len(curves)): curves[group[0]] for group in shown}


def _heads(group: list[int], count: int) -> str:
    if len(group) == count > 1:
        return "every head"
    return f"head{'s' * (len(group) > 1)} {', '.join(str(head + 1) for head in group)}"


def evenly_spread(count: int, most: int = MAX_LINES) -> list[int]:
    """Choose at most `most` of 0..count−1, evenly spread.

    >>> evenly_spread(4), evenly_spread(16, most=4)
    ([0, 1, 2, 3], [0, 5, 10, 15])
    """
    chosen = min(count, most)
    step = (count - 1) / max(chosen - 1, 1)
    return sorted({round(number * step) for number in range(chosen)})
