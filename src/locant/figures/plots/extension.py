"""How well a model reads past its trained length: by position, and by length read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import StrMethodFormatter

from locant.figures.plots.colors import DASHES, color_of
from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.lab.statistics.paired import interval

COLORS = {  # of the methods; what they have in common with an encoding has its color
    "linear": "#0066bb",
    "ntk": "#41a941",
    "dynamic-ntk": "#007500",
    "yarn": "#d01a00",
    "searched": "#8f0df7",
    "dropped": "#997733",
    "interpolated": "#0066bb",
    "repeated": "#f76800",
}


def draw(
    curves: Mapping[str, Array],
    lengths: Mapping[str, Mapping[int, Array]],
    *,
    trained: int,
    target: int,
    metric: str,
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw the mean over documents.

    curves   by method: (documents, stretches of positions up to the target)
    lengths  by method: length → scores of the documents, shown with their intervals
    """
    look = frame.look
    panels = 2 if curves else 1
    title = f"{metric}, trained at {trained:,} tokens, read to {target:,}"
    with frame.axes(1, panels, size=(5.4 * panels + 1.2, 4.2), title=title) as axes:
        for number, (name, values) in enumerate(curves.items()):
            edges = np.linspace(0, target, values.shape[1] + 1)
            middles = (edges[:-1] + edges[1:]) / 2
            axes[0].plot(middles, values.mean(0), label=name, **_style(name, number))
        for number, (name, by_length) in enumerate(lengths.items()):
            at = list(by_length)
            means = [float(np.mean(by_length[length])) for length in at]
            ends = [interval(by_length[length]) for length in at]
            style = _style(name, number)
            axes[-1].plot(at, means, marker="o", markersize=4.5, label=name, **style)
            if np.isfinite(ends).all():
                low, high = np.array(ends).T
                axes[-1].vlines(at, low, high, color=style["color"], linewidth=1.2)
        for panel in axes:
            panel.axvline(trained, color=look.muted, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
            panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
            panel.set_ylabel(metric)
        axes[0].set_xlabel("position in the document (tokens)")
        axes[-1].set_xlabel("read to (tokens)")
        axes[-1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))  # beside the lines
    return tuple(axes)


def _style(name: str, number: int) -> dict[str, Any]:
    """Return the color and the dash of a method's line."""
    pattern = DASHES[number % len(DASHES)]
    return {
        "color": COLORS.get(name, color_of(name)),
        "linestyle": (0, pattern) if pattern else "-",
    }
