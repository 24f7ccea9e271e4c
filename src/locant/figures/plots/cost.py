"""Cost against quality: the cost of an entrant across, its score upwards."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from locant.figures.plots.entrants import Entrant, key
from locant.figures.plots.estimate import edge
from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.lab.statistics.paired import interval

LINE = 0.05  # of the height of the axes: two names are at least so far apart


def draw(
    entrants: Sequence[Entrant],
    *,
    costs: Sequence[float],
    scores: Sequence[Array],
    metric: str,
    better: str,
    unit: str,
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw one cost per entrant against its scores, one number per seed."""
    look = frame.look
    with frame.axes(
        size=(7.6, max(4.2, 1.4 + 0.235 * len(entrants))), title=f"{metric} against {unit}"
    ) as (axes,):
        for one, cost, values in zip(entrants, costs, scores, strict=True):
            low, high = interval(values)
            if np.isfinite(high - low):
                axes.plot(
                    [cost, cost], [low, high], color=one.color(look), linewidth=1.4, alpha=0.7
                )
            axes.plot(
                cost,
                values.mean(),
                markersize=8,
                zorder=4,
                **{"markeredgecolor": look.paper, **edge(one, look)},
            )
        axes.margins(x=0.08)
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axes.set_xlabel(unit)
        axes.set_ylabel(f"{metric} ({better} is better)")
        _names(axes, entrants, costs, [float(values.mean()) for values in scores], frame)
        key(axes, entrants, look)
    return (axes,)


def _names(
    axes: Axes,
    entrants: Sequence[Entrant],
    costs: Sequence[float],
    means: Sequence[float],
    frame: Frame,
) -> None:
    """Write the names at the right, in the order of the points, each joined to its own."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, high)
    slots = apart([(mean - low) / (high - low) for mean in means], min(LINE, 1 / len(means)))
    for one, cost, mean, slot in zip(entrants, costs, means, slots, strict=True):
        axes.annotate(
            one.name,
            (cost, mean),
            (1.06, slot),
            textcoords="axes fraction",
            va="center",
            fontsize=9.5,
            color=one.ink(frame.look),
            arrowprops={
                "arrowstyle": "-",
                "color": one.color(frame.look),
                "linewidth": 0.6,
                "alpha": 0.6,
                "shrinkA": 1,
                "relpos": (0, 0.5),
            },
        )


def apart(slots: Sequence[float], least: float) -> list[float]:
    """Move heights as little as needed to be `least` apart, in the same order, within 0 and 1.

    >>> [round(place, 3) for place in apart([0.5, 0.52, 0.9], 0.1)]
    [0.46, 0.56, 0.9]
    """
    order = np.argsort(slots, kind="stable")
    groups: list[list[float]] = []  # sums and counts of neighbours that touch
    for step, index in enumerate(order):
        groups.append([slots[index] - step * least, 1.0])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] >= groups[-1][0] / groups[-1][1]:
            total, count = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += count
    level = np.concatenate([np.full(int(count), total / count) for total, count in groups])
    moved = np.clip(level, 0, max(1 - least * (len(slots) - 1), 0)) + least * np.arange(len(slots))
    out = np.empty(len(slots))
    out[order] = moved
    return [float(slot) for slot in out]
