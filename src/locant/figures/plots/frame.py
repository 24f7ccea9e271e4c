"""What all pictures share: whose picture it is, on light or dark paper, one style, and where it is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
from locant.figures.plots.colours import DASHES, THEMES, Theme, colour, shades

Array = NDArray[np.float64]
MOST_LINES = 8  # heads in one picture


@dataclass(frozen=True)
class Frame:
    """Whose picture it is (its colour), the theme, a note under the title, and the figure, or part of one, to draw on."""

    name: str = ""
    theme: str = "light"
    note: str = ""
    figure: Figure | SubFigure | None = None

    def __post_init__(self) -> None:
        one_of("a picture", "theme", self.theme, THEMES)

    @property
    def look(self) -> Theme:
        return THEMES[self.theme]

    @property
    def colour(self) -> str:
        return colour(self.name)

    @property
    def diverging(self) -> LinearSegmentedColormap:
        """From − to +, 0 in the middle."""
        return LinearSegmentedColormap.from_list("locant", self.look.diverging)

    @property
    def sequential(self) -> LinearSegmentedColormap:
        return LinearSegmentedColormap.from_list("locant", self.look.sequential)

    def lines(self, count: int) -> list[dict[str, Any]]:
        """How to draw several lines of one encoding: shades of its colour, each with its own dash."""
        dashes = [
            (0, DASHES[at % len(DASHES)]) if DASHES[at % len(DASHES)] else "-"
            for at in range(count)
        ]
        return [
            {"color": c, "linestyle": d}
            for c, d in zip(shades(self.name, count, self.theme), dashes, strict=True)
        ]

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
        """Empty axes in the style, under a title; `size` in inches, for when there is no figure yet."""
        with matplotlib.rc_context(style(self.look)):
            figure = self.figure or Figure(
                figsize=size, layout="compressed" if square else "constrained"
            )
            whose = self.name.rpartition(":")[2]
            lines = [f"{whose}: {title}" if whose else title, *([self.note] if self.note else [])]
            figure.suptitle("\n".join(lines), x=0.01, ha="left", linespacing=1.4, parse_math=False)
            yield list(figure.subplots(rows, columns, squeeze=False, **grid).flat)


PLAIN = Frame()


def style(look: Theme) -> Any:
    """matplotlib's settings for a theme."""
    return {
        "font.family": "DejaVu Sans",  # comes with matplotlib, so that a picture is the same everywhere
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


def whole(*axes: Axis) -> None:
    """Ticks at whole numbers alone: there is no position 2.5 here."""
    for axis in axes:
        axis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))


def alike(curves: Array) -> dict[str, Array]:
    """The curves of the heads by their labels; heads with one and the same curve share it.

    >>> list(alike(np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0]])))
    ['heads 1, 2', 'head 3']
    """
    groups: list[list[int]] = []
    for head, curve in enumerate(curves):
        mates = next(
            (group for group in groups if np.allclose(curves[group[0]], curve, atol=1e-9)), None
        )
        groups.append([head]) if mates is None else mates.append(head)
    shown = [groups[at] for at in some(len(groups))]
    return {_heads(group, len(curves)): curves[group[0]] for group in shown}


def _heads(group: list[int], count: int) -> str:
    if len(group) == count > 1:
        return "every head"
    return f"head{'s' * (len(group) > 1)} {', '.join(str(head + 1) for head in group)}"


def some(count: int, most: int = MOST_LINES) -> list[int]:
    """At most so many of 0..count−1, evenly spread.

    >>> some(4), some(16, most=4)
    ([0, 1, 2, 3], [0, 5, 10, 15])
    """
    return sorted(
        {round(at * (count - 1) / max(min(count, most) - 1, 1)) for at in range(min(count, most))}
    )
