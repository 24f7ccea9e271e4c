"""Plot a detection: the series, its predictions, the anomalous events, and the scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from locant._internal.files import write_atomically
from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.figures.plots.saving import save

if TYPE_CHECKING:
    from locant.anomaly.detector import Detection

MAX_COLUMNS, MAX_POINTS = 6, 6_000
ALARM, EXPECTED, LABEL = "#d01a00", "#2f79b5", "#34825b"
MIN_WIDTH = 0.004  # of the axes: a narrower event would not be seen
MAX_VALUE = 1e300  # that is drawn: the margin above it must be a number too


class Span(NamedTuple):
    """A segment by its first and last row."""

    first: int
    last: int


def save_picture(found: Detection, path: Path, theme: str = "light") -> Path:
    """Draw the columns of a detection that are most at fault, and write the picture to a file."""
    series = found.series
    worst = np.argsort(-found.by_column.max(0), kind="stable")[:MAX_COLUMNS]
    columns = np.sort(worst)
    title = found.headline()
    if len(columns) < len(series.names):
        title += f" (the {len(columns)} most at fault of {len(series.names)} columns)"
    labels = None
    if series.windows is not None:
        labels = [Span(start, stop - 1) for start, stop in series.windows]
    axes = draw(
        series.values[:, columns],
        names=[series.names[column] for column in columns],
        expected=found.expected[:, columns],
        scores=found.scores,
        threshold=found.threshold.value,
        events=[Span(event.start, event.stop - 1) for event in found.events],
        labels=labels,
        times=series.times,
        title=title[0].upper() + title[1:],
        frame=Frame(theme=theme, note=f"by {found.self_test[0].name}"),
    )
    with write_atomically(path) as half:
        save(axes, half, title=title)
    return path


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
    """Draw one panel a column, and one for the scores.

    values, expected  (T, columns)
    scores            (T,)
    labels            what a person marked, if anything
    times             (T,); without them rows are counted
    """
    look = frame.look
    x = np.arange(len(values)) if times is None else times
    values = np.clip(values, -MAX_VALUE, MAX_VALUE)
    expected = np.clip(expected, -MAX_VALUE, MAX_VALUE)
    panels, heights = len(names) + 1, [1.0] * len(names) + [0.75]
    panel_height = 1.75 if panels < 4 else 1.25
    size = (11.0, 1.6 + panel_height * panels)
    with frame.axes(panels, size=size, title=title, sharex=True, height_ratios=heights) as axes:
        for panel, name, column, predicted in zip(axes, names, values.T, expected.T, strict=False):
            panel.plot(*_thinned(x, predicted), color=EXPECTED, linewidth=0.9, alpha=0.8)
            panel.plot(*_thinned(x, column), color=look.ink, linewidth=0.8)
            panel.set_ylabel(name, fontsize=9.5, parse_math=False)
            low, high = np.quantile(column, [0, 1])
            margin = 0.08 * (high - low) or 1.0
            panel.set_ylim(low - margin, high + 2.2 * margin)  # predictions may lie far outside
        _plot_scores(axes[-1], x, scores, threshold, frame)
        for panel in axes:
            _mark(panel, x, events, labels)
            panel.margins(x=0.01)
        for number, span in enumerate(events, 1):
            middle = x[span.first] + (x[span.last] - x[span.first]) / 2
            axes[0].text(
                middle,
                0.985,
                str(number),
                color=ALARM,
                fontweight="bold",
                fontsize=10,
                ha="center",
                va="top",
                transform=axes[0].get_xaxis_transform(),
            )
        axes[-1].set_xlabel("row" if times is None else "time")
        axes[0].figure.legend(
            handles=_legend(labels is not None, look.ink), loc="outside lower left", ncols=5
        )
    return tuple(axes)


def _plot_scores(
    axes: Axes, x: NDArray[Any], scores: Array, threshold: float, frame: Frame
) -> None:
    """Plot the scores, filled where they are above the threshold."""
    thin_x, y = _thinned(x, scores)
    axes.plot(thin_x, y, color=frame.look.muted, linewidth=1.0)
    axes.fill_between(
        thin_x,
        threshold,
        y,
        where=y > threshold,
        interpolate=True,
        color=ALARM,
        alpha=0.8,
        linewidth=0,
    )
    axes.axhline(threshold, color=ALARM, linewidth=1, linestyle=(0, (4, 2)))
    axes.set_ylabel("score", fontsize=9.5)
    axes.set_ylim(0, 1.08 * max(float(scores.max()), threshold))


def _mark(
    axes: Axes, x: NDArray[Any], events: Sequence[Span], labels: Sequence[Span] | None
) -> None:
    """Mark events in red over the whole height, and labels by a green line along the foot."""
    min_width = (x[-1] - x[0]) * MIN_WIDTH
    for span in events:
        start, end = x[span.first], x[span.last]
        widen = max(min_width - (end - start), 0 * min_width) / 2
        axes.axvspan(start - widen, end + widen, color=ALARM, alpha=0.22, linewidth=0, zorder=0)
    for span in labels or ():
        start, end = x[span.first], x[span.last]
        axes.axvspan(start, end, ymax=0.045, color=LABEL, linewidth=0, zorder=3)


def _thinned(x: NDArray[Any], values: Array) -> tuple[NDArray[Any], Array]:
    """Keep the lowest and the highest point of each segment, so that no peak is lost.

    >>> _thinned(np.arange(4), np.array([1.0, 2.0, 3.0, 4.0]))[0].tolist()
    [0, 1, 2, 3]
    """
    if len(values) <= MAX_POINTS:
        return x, values
    rows = []
    for part in np.array_split(np.arange(len(values)), MAX_POINTS // 2):
        rows += [part[values[part].argmin()], part[values[part].argmax()]]
    kept = np.unique(rows)
    return x[kept], values[kept]


def _legend(labeled: bool, ink: str) -> list[Line2D | Patch]:
    """Make the entries of the legend."""
    lines: list[Line2D | Patch] = [
        Line2D([], [], color=ink, linewidth=1, label="the series"),
        Line2D([], [], color=EXPECTED, linewidth=1, label="what was expected"),
        Patch(color=ALARM, alpha=0.3, label="event"),
        Line2D([], [], color=ALARM, linestyle=(0, (4, 2)), linewidth=1, label="threshold"),
    ]
    if labeled:
        lines.append(Patch(color=LABEL, label="labeled by a person"))
    return lines
