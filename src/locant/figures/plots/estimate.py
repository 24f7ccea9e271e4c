"""A mean with its 95 % t interval and every seed as a dot; thin lines for chance and ceilings."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from locant.figures.plots.colors import Theme
from locant.figures.plots.entrants import Entrant
from locant.figures.plots.frame import Array
from locant.lab.statistics.paired import interval

SPREAD = 0.24  # of a row: dots of seeds lie this far above and below its middle
SAME = 0.004  # of the width: lines closer than this are one line
LONGEST, LINE = 58, 13  # letters in a line of a label, and its height in points
DASH = (0, (4, 3))


def estimate(
    axes: Axes, at: float, values: Array, one: Entrant, look: Theme, *, sure: bool = True
) -> None:
    """Draw one entrant: the seeds as small dots and, when `sure`, the mean with its interval."""
    if len(values) > 1 or not sure:
        dots(axes, at, values, one, look)
    if not sure or not len(values):
        return
    low, high = interval(values)
    if np.isfinite(high - low):
        axes.plot([low, high], [at, at], color=one.color(look), linewidth=2, solid_capstyle="butt")
    mark(axes, at, float(values.mean()), one, look)


def dots(axes: Axes, at: float, values: Array, one: Entrant, look: Theme) -> None:
    """Draw every seed of an entrant as a small dot, spread over the height of its row."""
    offset = np.zeros(len(values))
    if len(values) > 1:
        offset = np.linspace(-SPREAD, SPREAD, len(values))
    axes.plot(
        values,
        at + offset,
        ".",
        color=one.color(look),
        markersize=4,
        alpha=0.75,
        markeredgewidth=0,
    )


def mark(axes: Axes, at: float, middle: float, one: Entrant, look: Theme) -> None:
    """Draw the middle of an entrant's values as its marker."""
    axes.plot(
        middle, at, markersize=5.5, zorder=4, **{"markeredgecolor": look.paper, **edge(one, look)}
    )


def edge(one: Entrant, look: Theme) -> dict[str, Any]:
    """A marker with an edge: of paper around a full one, of its own color around a hollow one."""
    return {
        **one.marker(look),
        **({"markeredgecolor": one.color(look), "markeredgewidth": 1.4} if one.again else {}),
    }


def key_lines(look: Theme, seeds: int, each: str) -> list[Line2D]:
    """Explain a bar and a small dot (`each`); nothing for a single value."""
    if seeds < 2:
        return []
    bar = Line2D([], [], color=look.ink, marker="o", markersize=5, label="mean, 95 % interval")
    dot = Line2D([], [], color=look.ink, marker=".", markersize=4, linestyle="", label=f"a {each}")
    return [bar, dot]


def verticals(axes: Axes, lines: Mapping[str, float], look: Theme) -> None:
    """Draw thin lines with their names above the axes; lines at one value share a name."""
    for value in lines.values():
        axes.axvline(value, color=look.muted, linewidth=0.9, linestyle=DASH, zorder=1)
    left, right = axes.get_xlim()
    axes.set_xlim(left, right)
    found = together(lines, SAME * (right - left))
    level = 0
    for value in sorted(
        found, key=lambda value: abs(value - (left + right) / 2)
    ):  # the outermost highest: none is crossed
        first, ceiling, others = ", ".join(found[value]).partition("ceiling ")
        words = wrap(
            f"{first}{ceiling}{others.replace(ceiling, '') if ceiling else ''}: {value:.3g}",
            LONGEST,
        )
        _name(
            axes,
            value,
            "\n".join(words),
            level * LINE + 4,
            look,
            to_the_right=value < (left + right) / 2,
        )
        level += len(words)


def _name(
    axes: Axes, value: float, words: str, up: float, look: Theme, *, to_the_right: bool
) -> None:
    """A name so many points above the axes, at the end of a line that goes on from the one
    within."""
    slot: Any = {
        "xy": (value, 1),
        "xycoords": ("data", "axes fraction"),
        "textcoords": "offset points",
    }
    line = {
        "arrowstyle": "-",
        "color": look.muted,
        "linewidth": 0.9,
        "linestyle": DASH,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    axes.annotate("", xytext=(0, up + LINE - 2), arrowprops=line, **slot)
    side, beside = ("left", 4) if to_the_right else ("right", -4)
    axes.annotate(
        words, xytext=(beside, up), ha=side, va="bottom", color=look.muted, fontsize=9, **slot
    )


def together(lines: Mapping[str, float], apart: float) -> dict[float, list[str]]:
    """Group the names by value; nearly equal values are one.

    >>> together({"chance": 0.5, "without positions": 0.5, "by place": 1.0}, 0.01)
    {0.5: ['chance', 'without positions'], 1.0: ['by place']}
    """
    found: dict[float, list[str]] = {}
    for name, value in lines.items():
        near = next((other for other in found if abs(other - value) <= apart), value)
        found.setdefault(near, []).append(name)
    return found
