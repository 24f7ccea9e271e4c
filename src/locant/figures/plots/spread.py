"""Score distributions of normal and of faulty points, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from locant.figures.plots.colors import mixed
from locant.figures.plots.entrants import Entrant
from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.figures.plots.panels import panels

Histogram = Mapping[str, Sequence[float]]  # edges, normal, faulty


def draw(
    entrants: Sequence[Entrant],
    *,
    histograms: Sequence[Sequence[Histogram]],
    every: str = "seeds",
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw the histograms of each entrant's runs: edges, and counts of normal and faulty points."""
    look, edges = frame.look, common(histograms)
    pale = mixed(look.paper, look.muted, 0.45)
    with panels(
        frame,
        entrants,
        title=f"scores of normal and of faulty points, all {every}",
        across="score (log scale)",
        down="share of the points (%)",
        subplot_kw={"xscale": "log"},
    ) as axes:
        for panel, one, some in zip(axes, entrants, histograms, strict=True):
            panel.stairs(pooled(some, edges, "normal"), edges, fill=True, color=pale)
            panel.minorticks_off()
            panel.stairs(pooled(some, edges, "faulty"), edges, color=one.color(look), linewidth=1.5)
        handles = [
            Patch(color=pale, label="normal"),
            Patch(fill=False, edgecolor=look.ink, label="faulty (the entrant's color)"),
        ]
        axes[0].figure.legend(handles=handles, loc="outside lower left", ncols=2)
    return tuple(axes)


def common(histograms: Sequence[Sequence[Histogram]], bins: int = 40) -> Array:
    """Edges, even on a logarithmic scale, that hold every histogram."""
    low = min(one["edges"][0] for some in histograms for one in some)
    high = max(one["edges"][-1] for some in histograms for one in some)
    return np.geomspace(low, high, bins + 1)


def pooled(histograms: Sequence[Histogram], edges: Array, which: str) -> Array:
    """The percentages of points in each bin, over several histograms; a bin's points lie evenly in
    it.

    >>> some = [{"edges": [1, 10, 100], "faulty": [3, 1]}, {"edges": [1, 100], "faulty": [4]}]
    >>> pooled(some, np.array([1.0, 10.0, 100.0]), "faulty").tolist()
    [62.5, 37.5]
    """
    total = np.zeros(len(edges) - 1)
    for one in histograms:
        below = np.concatenate([[0.0], np.cumsum(one[which])])
        total += np.diff(np.interp(np.log(edges), np.log(one["edges"]), below))
    return 100 * total / max(total.sum(), 1e-12)
