"""Survival curves: the share of runs below the threshold, by step; those left are censored."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from locant.figures.plots.colors import mixed
from locant.figures.plots.entrants import Entrant
from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.figures.plots.panels import behind, panels


def draw(
    entrants: Sequence[Entrant],
    *,
    steps: Sequence[Array],
    left: Sequence[Array],
    threshold: str,
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw the share of runs left after each step; `steps` begin with 0 and end with the last."""
    look = frame.look
    title = f"runs that have not reached {threshold} yet (survival curves)"
    with panels(frame, entrants, title=title, across="training step", down="share of runs") as axes:
        pale = mixed(look.grid, look.muted, 0.25)
        behind(axes, list(zip(steps, left, strict=True)), pale, drawstyle="steps-post")
        for panel, one, x, y in zip(axes, entrants, steps, left, strict=True):
            panel.step(x, y, where="post", color=one.color(look), zorder=3)
            if y[-1] > 0:  # censored
                panel.plot(
                    x[-1:], y[-1:], color=one.color(look), marker="|", markersize=9, zorder=4
                )
            panel.set_ylim(-0.05, 1.05)
            panel.xaxis.set_major_locator(MaxNLocator(3, integer=True, steps=[1, 2, 4, 5, 10]))
    return tuple(axes)
