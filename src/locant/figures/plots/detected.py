"""Detected: a series, the stretches that do not look like the rest, and the scores that say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from locant.figures.plots.frame import PLAIN, Array, Frame

MOST_COLUMNS, MOST_POINTS = 6, 6_000
ALARM, EXPECTED, LABEL = "#d01a00", "#2f79b5", "#34825b"
NARROWEST = 0.004  # of the width: a shorter stretch would not be seen
LARGEST = 1e300  # that is drawn: the room above it must be a number too


class Span(NamedTuple):
    """A stretch by its first and last row."""

    first: int
    last: int


def draw(
    values: Array,
    *,
    names: Sequence[str],
    expected: Array,
    scores: Array,
    threshold: float,
    events: Sequence[Span],
    labels: Sequence[Span] | None,
    times: NDArray[Any] | None,
    title: str,
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """values and expected (T, columns), scores (T), times (T) or rows are counted; labels: what a person marked, if any."""
    look, across = frame.look, np.arange(len(values)) if times is None else times
    values, expected = np.clip(values, -LARGEST, LARGEST), np.clip(expected, -LARGEST, LARGEST)
    panels, tall = len(names) + 1, [1.0] * len(names) + [0.75]
    size = (11.0, 1.6 + 1.75 * panels if panels < 4 else 1.6 + 1.25 * panels)
    with frame.axes(panels, size=size, title=title, sharex=True, height_ratios=tall) as axes:
        for panel, name, column, wanted in zip(axes, names, values.T, expected.T, strict=False):
            panel.plot(*_thinned(across, wanted), color=EXPECTED, linewidth=0.9, alpha=0.8)
            panel.plot(*_thinned(across, column), color=look.ink, linewidth=0.8)
            panel.set_ylabel(name, fontsize=9.5, parse_math=False)
            low, high = np.quantile(column, [0, 1])
            room = 0.08 * (high - low) or 1.0
            panel.set_ylim(low - room, high + 2.2 * room)  # what is expected may lie far outside
        _scores(axes[-1], across, scores, threshold, frame)
        for panel in axes:
            _mark(panel, across, events, labels)
            panel.margins(x=0.01)
        for number, span in enumerate(events, 1):
            middle = across[span.first] + (across[span.last] - across[span.first]) / 2
            axes[0].text(
                middle, 0.985, str(number), color=ALARM, fontweight="bold", fontsize=10, ha="center", va="top",
                transform=axes[0].get_xaxis_transform(),
            )  # fmt: skip
        axes[-1].set_xlabel("row" if times is None else "time")
        axes[0].figure.legend(
            handles=_key(labels is not None, look.ink), loc="outside lower left", ncols=5
        )
    return tuple(axes)


def _scores(
    axes: Axes, across: NDArray[Any], scores: Array, threshold: float, frame: Frame
) -> None:
    x, y = _thinned(across, scores)
    axes.plot(x, y, color=frame.look.muted, linewidth=1.0)
    axes.fill_between(
        x, threshold, y, where=y > threshold, color=ALARM, alpha=0.8, linewidth=0, interpolate=True
    )
    axes.axhline(threshold, color=ALARM, linewidth=1, linestyle=(0, (4, 2)))
    axes.set_ylabel("score", fontsize=9.5)
    axes.set_ylim(0, 1.08 * max(float(scores.max()), threshold))


def _mark(
    axes: Axes, across: NDArray[Any], events: Sequence[Span], labels: Sequence[Span] | None
) -> None:
    """Events as red stretches over the whole height; what was labelled as a green line along the foot."""
    least = (across[-1] - across[0]) * NARROWEST
    for span in events:
        start, end = across[span.first], across[span.last]
        widen = max(least - (end - start), 0 * least) / 2
        axes.axvspan(start - widen, end + widen, color=ALARM, alpha=0.22, linewidth=0, zorder=0)
    for span in labels or ():
        axes.axvspan(
            across[span.first], across[span.last], ymax=0.045, color=LABEL, linewidth=0, zorder=3
        )


def _thinned(across: NDArray[Any], values: Array) -> tuple[NDArray[Any], Array]:
    """At most so many points, the lowest and the highest of each stretch, so that no peak is lost.

    >>> _thinned(np.arange(4), np.array([1.0, 2.0, 3.0, 4.0]))[0].tolist()
    [0, 1, 2, 3]
    """
    if len(values) <= MOST_POINTS:
        return across, values
    parts = np.array_split(np.arange(len(values)), MOST_POINTS // 2)
    kept = np.unique(
        [
            row
            for part in parts
            for row in (part[values[part].argmin()], part[values[part].argmax()])
        ]
    )
    return across[kept], values[kept]


def _key(labelled: bool, ink: str) -> list[Line2D | Patch]:
    lines: list[Line2D | Patch] = [
        Line2D([], [], color=ink, linewidth=1, label="the series"),
        Line2D([], [], color=EXPECTED, linewidth=1, label="what was expected"),
        Patch(color=ALARM, alpha=0.3, label="event"),
        Line2D([], [], color=ALARM, linestyle=(0, (4, 2)), linewidth=1, label="threshold"),
    ]
    return [*lines, *([Patch(color=LABEL, label="labelled by a person")] if labelled else [])]
