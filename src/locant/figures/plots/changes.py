"""How much outputs change when a window is shuffled or mirrored and they are put back in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter

from locant.figures.plots.colors import Theme
from locant.figures.plots.entrants import Entrant, height, key, listed
from locant.figures.plots.estimate import dots, mark
from locant.figures.plots.frame import PLAIN, Array, Frame

MOST_TICKS = 6


def draw(
    entrants: Sequence[Entrant],
    *,
    changes: Mapping[str, Sequence[Array]],
    rounding: float,
    unit: str,
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw the change of every entrant on a log scale.

    changes   for each way to move tokens, and each entrant, one number per seed
    rounding  a smaller change is none
    """
    look = frame.look
    every = np.concatenate([values for rows in changes.values() for values in rows])
    zero = position_of_zero(every, rounding)
    size = (2.4 + 2.9 * len(changes), height(entrants) - 0.1)
    with frame.axes(
        1, len(changes), size=size, title="change of the outputs", sharey=True, sharex=True
    ) as axes:
        for panel, (way, rows) in zip(axes, changes.items(), strict=True):
            panel.axvspan(zero / 3, rounding, color=look.grid, alpha=0.6, linewidth=0, zorder=0)
            for at, (one, values) in enumerate(zip(entrants, rows, strict=True)):
                _row(panel, at, np.maximum(values, zero), one, look)
            panel.set_title(f"when {way}", loc="left")
            panel.set_xlabel(f"largest change ({unit})")
        listed(axes, entrants, look)
        _logarithmic(axes[0], zero, float(max(every.max(), rounding)))
        axes[0].text(
            rounding / 1.4, -0.55, "rounding", ha="right", va="top", fontsize=8.5, color=look.muted
        )
        key(axes[0], entrants, look)
    return tuple(axes)


def _row(axes: Axes, at: int, values: Array, one: Entrant, look: Theme) -> None:
    if len(values) > 1:
        dots(axes, at, values, one, look)
    mark(axes, at, float(np.exp(np.log(values).mean())), one, look)


def _logarithmic(axes: Axes, zero: float, most: float) -> None:
    """Label powers of ten; 0, which a log scale cannot show, stands at its left end."""
    axes.set_xscale("log")
    axes.set_xlim(zero / 3, most * 2.5)
    first, last = round(np.log10(zero)), int(np.floor(np.log10(most)))
    apart = -(-(last - first) // MOST_TICKS)
    powers = range(last, first, -apart)
    axes.xaxis.set_major_locator(FixedLocator([zero, *(10.0**power for power in powers)]))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda x, _: "0" if x <= zero * 1.01 else f"$10^{{{round(np.log10(x))}}}$")
    )
    axes.minorticks_off()


def position_of_zero(values: Array, rounding: float) -> float:
    """Find where 0 is drawn: a power of ten, at least ten times smaller than every other change.

    >>> position_of_zero(np.array([0.0, 3e-7, 2.0]), 1e-5)
    1e-08
    """
    least = min([float(value) for value in values if value > 0] + [rounding])
    return float(10.0 ** (np.floor(np.log10(least)) - 1))
