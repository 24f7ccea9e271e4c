"""Training curves: a validation score by step, its mean and the band of all seeds."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from locant.figures.plots.colors import mixed
from locant.figures.plots.entrants import Entrant
from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.figures.plots.panels import behind, panels

MAX_MARKERS, MAX_TICKS = 12, 3  # points drawn as dots; steps named one by one on the axis


def draw(
    entrants: Sequence[Entrant],
    *,
    steps: Sequence[Array],
    values: Sequence[Array],
    metric: str,
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw for each entrant its steps, and values (seeds, steps)."""
    look = frame.look
    with panels(
        frame, entrants, title=f"{metric} while training", across="training step", down=metric
    ) as axes:
        behind(
            axes,
            [(x, y.mean(0)) for x, y in zip(steps, values, strict=True)],
            mixed(look.grid, look.muted, 0.25),
        )
        for panel, one, x, y in zip(axes, entrants, steps, values, strict=True):
            own = one.color(look)
            if len(y) > 1:
                panel.fill_between(
                    x, y.min(0), y.max(0), color=own, alpha=0.28, linewidth=0, zorder=2
                )
            panel.plot(
                x,
                y.mean(0),
                color=own,
                marker="." if len(x) <= MAX_MARKERS else "",
                markersize=5,
                zorder=3,
            )
            if len(x) <= MAX_TICKS:
                panel.set_xticks(x)
            else:
                panel.xaxis.set_major_locator(MaxNLocator(3, integer=True, steps=[1, 2, 4, 5, 10]))
    return tuple(axes)
