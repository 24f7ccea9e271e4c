"""Recall by kind of fault: the share of each kind's points that every entrant finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from locant.figures.plots.colors import mixed
from locant.figures.plots.entrants import Entrant, height, listed
from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.lab.statistics.paired import interval


def draw(
    entrants: Sequence[Entrant], *, recalls: Mapping[str, Sequence[Array]], frame: Frame = PLAIN
) -> tuple[Axes, ...]:
    """Draw the recalls: for each kind, and each entrant, one number per seed."""
    look = frame.look
    size = (1.8 + 2.0 * len(recalls), height(entrants) - 0.4)
    with frame.axes(
        1, len(recalls), size=size, title="recall by kind of fault", sharey=True
    ) as axes:
        for panel, (kind, rows) in zip(axes, recalls.items(), strict=True):
            for at, (one, values) in enumerate(zip(entrants, rows, strict=True)):
                panel.barh(
                    at,
                    100 * values.mean(),
                    height=0.68,
                    color=mixed(look.paper, one.color(look), 0.5 if one.again else 1.0),
                )
                low, high = interval(values)
                if np.isfinite(high - low):
                    ends = np.clip([low, high], 0, 1) * 100
                    panel.plot(ends, [at, at], color=look.ink, linewidth=1.3, solid_capstyle="butt")
            panel.set_xlim(0, 100)
            panel.set_title(kind, loc="left")
            panel.set_xlabel("recall (%)")
        listed(axes, entrants, look)
    return tuple(axes)
