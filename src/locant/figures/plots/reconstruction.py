"""Reconstruction: a window of a series, its hidden steps, and what each model made of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from locant.figures.plots.colors import Theme
from locant.figures.plots.entrants import Entrant
from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.figures.plots.panels import panels


def draw(
    entrants: Sequence[Entrant],
    *,
    target: Array,
    outputs: Sequence[Array],
    hidden: NDArray[np.bool_],
    what: str,
    unit: str,
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw the target (steps), each entrant's output (steps), and which steps were hidden."""
    look = frame.look
    wanted = hidden if hidden.any() else np.ones_like(hidden)
    errors = [float(np.sqrt(np.square(output - target)[wanted].mean())) for output in outputs]
    with panels(
        frame,
        entrants,
        title=f"{what}, and what each model made of {'its hidden steps' if hidden.any() else 'it'}",
        across="step",
        down=f"value ({unit})",
        size=(2.9, 1.35),
        most=3,
        beside=[f"error {error:.2f}" for error in errors],
    ) as axes:
        for panel, one, output in zip(axes, entrants, outputs, strict=True):
            panel.plot(target, color=look.muted, linewidth=0.9)
            (_hidden if hidden.any() else _copied)(
                panel, target, output, hidden, one.color(look), look
            )
            panel.margins(x=0.01)
        axes[0].figure.legend(
            handles=_key(bool(hidden.any()), look), loc="outside lower left", ncols=3
        )
    return tuple(axes)


def _hidden(
    axes: Axes, target: Array, output: Array, hidden: NDArray[np.bool_], own: str, look: Theme
) -> None:
    steps = np.flatnonzero(hidden)
    axes.vlines(steps, target[hidden], output[hidden], color=own, linewidth=1)
    axes.plot(
        steps,
        target[hidden],
        "o",
        markersize=3,
        color=look.ink,
        markerfacecolor=look.paper,
        markeredgewidth=0.8,
    )
    axes.plot(steps, output[hidden], "o", markersize=3.2, color=own)


def _copied(
    axes: Axes, target: Array, output: Array, hidden: NDArray[np.bool_], own: str, look: Theme
) -> None:
    axes.plot(output, color=own, linewidth=1.4)


def _key(hidden: bool, look: Theme) -> list[Line2D]:
    series = Line2D([], [], color=look.muted, linewidth=0.9, label="the series")
    if not hidden:
        return [
            series,
            Line2D([], [], color=look.ink, linewidth=1.4, label="the model (its color)"),
        ]
    true = Line2D(
        [],
        [],
        linestyle="",
        marker="o",
        markersize=4,
        color=look.ink,
        markerfacecolor=look.paper,
        label="hidden step",
    )
    label = Line2D(
        [],
        [],
        linestyle="",
        marker="o",
        markersize=4,
        color=look.ink,
        label="the model (its color)",
    )
    return [series, true, label]
