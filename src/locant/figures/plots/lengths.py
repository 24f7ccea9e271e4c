"""Score against length: sequences as long as those of training, and longer ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from locant.figures.plots.colors import mixed
from locant.figures.plots.entrants import Entrant
from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.figures.plots.panels import behind, panels
from locant.lab.statistics.paired import interval

WIDE = 4  # lengths that differ by this factor or more stand at even distances


def draw(
    entrants: Sequence[Entrant],
    *,
    lengths: Sequence[int],
    scores: Sequence[Array],
    metric: str,
    chance: float,
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw the scores (lengths, seeds) of each entrant; the first length is that of training."""
    look = frame.look
    title = f"{metric} against length; trained at {lengths[0]}, the filled point"
    with panels(frame, entrants, title=title, across="length (tokens)", down=metric) as axes:
        behind(
            axes,
            [(lengths, values.mean(1)) for values in scores],
            mixed(look.grid, look.muted, 0.25),
        )
        for panel, one, values in zip(axes, entrants, scores, strict=True):
            own, ends = one.color(look), np.array([interval(at) for at in values])
            if np.isfinite(ends).all():
                panel.vlines(lengths, ends[:, 0], ends[:, 1], color=own, linewidth=1.6, zorder=2)
            panel.plot(
                lengths,
                values.mean(1),
                color=own,
                marker="o",
                markersize=4.5,
                markerfacecolor=look.paper,
                zorder=3,
            )
            panel.plot(
                lengths[:1], values.mean(1)[:1], color=own, marker="o", markersize=4.5, zorder=4
            )
            panel.axhline(chance, color=look.muted, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
            if lengths[-1] >= WIDE * lengths[0]:
                panel.set_xscale("log", base=2)
                panel.minorticks_off()
            panel.set_xticks(list(lengths), [f"{length:,}" for length in lengths])
        axes[0].annotate(
            "chance",
            (1, chance),
            (0, 2),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right",
            color=look.muted,
            fontsize=8.5,
        )
    return tuple(axes)
