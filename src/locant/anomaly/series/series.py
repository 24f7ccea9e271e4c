"""Hold a series that was read: numbers without gaps, and a summary of the file."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locant.anomaly.series.raw_table import Flags, Floats
from locant.anomaly.series.repairs import since, since_start

REGULAR = 0.1  # steps within this share of the median are regular: months of 28 and 31 days are
DURATIONS = [("days", 86400), ("h", 3600), ("min", 60)]
SHOWN_NAMES = 6


@dataclass(frozen=True)
class FileSummary:
    """What was understood of a file: the facts of the summary table."""

    file: str
    format: str  # "CSV", "Parquet", …
    rows: int  # as used: sorted, repeated timestamps merged
    columns: int
    time: str | None  # "timestamp (ISO 8601)"
    start: Any = None  # datetime64[ns] or float
    end: Any = None
    step: float | None = None  # the median one, in seconds or in the numbers' own unit
    irregular: float | None = None  # share of steps that are not near the median
    missing: int = 0  # values that were filled

    @property
    def kind(self) -> str:
        """Return `format`, by its old name."""
        warnings.warn("FileSummary.kind is now .format.", DeprecationWarning, stacklevel=2)
        return self.format


@dataclass(frozen=True, eq=False)
class Series:
    """One or more columns of numbers, sorted by time.

    values   (T,F), all finite
    names    the columns, (F,)
    times    (T,), rising: datetime64[ns] (UTC where a zone is known) or float64; None without times
    labels   (T,), True where anomalous; None without labels
    windows  the anomalous intervals, half-open, as row numbers
    summary  what was understood of the file
    repairs  every change that was made to what the file holds, as sentences
    observed (T,F), False where the file holds no value and one was filled in; None when all are
             there
    """

    values: Floats
    names: tuple[str, ...]
    times: NDArray[Any] | None
    labels: Flags | None
    windows: tuple[tuple[int, int], ...] | None
    summary: FileSummary
    repairs: list[str]
    observed: Flags | None = None

    @property
    def understood(self) -> FileSummary:
        """Return `summary`, by its old name."""
        warnings.warn("Series.understood is now Series.summary.", DeprecationWarning, stacklevel=2)
        return self.summary


def step_and_irregularity(times: NDArray[Any]) -> tuple[float, float]:
    """Return the median step, and the share of steps that differ from it by more than a tenth.

    >>> step_and_irregularity(np.array([0.0, 1.0, 2.0, 3.0, 7.0]))
    (1.0, 0.25)
    """
    steps = np.diff(since_start(times))
    median = float(np.median(steps))
    return median, float((np.abs(steps - median) > REGULAR * median).mean())


def summary_table(series: Series) -> list[tuple[str, str]]:
    """Return what was understood of a file as pairs of a fact and its value."""
    summary = series.summary
    table = [
        ("file", f"{summary.file} ({summary.format})"),
        ("rows", f"{summary.rows:,}"),
        ("columns", _names_text(series.names)),
        ("time", summary.time or "none: rows are counted"),
    ]
    if summary.step is not None and summary.irregular is not None:
        length = float(since(np.array([summary.end]), summary.start)[0])
        if isinstance(summary.start, np.datetime64):
            span, step = duration(length), duration(summary.step)
        else:
            span, step = f"{length:g}", f"{summary.step:g}"
        ends = f"{time_text(summary.start)} to {time_text(summary.end)}"
        table.append(("span", f"{ends} ({span})"))
        table.append(("usual step", step))
        table.append(("irregular gaps", _percentage(summary.irregular)))
    cells = series.values.size
    missing = "none"
    if summary.missing:
        share = _percentage(summary.missing / cells)
        missing = f"{summary.missing:,} of {cells:,} ({share})"
    table.append(("missing values", missing))
    if series.labels is not None and series.windows is not None:
        count, share = len(series.windows), _percentage(float(series.labels.mean()))
        plural = "" if count == 1 else "s"
        table.append(("labels", f"{count:,} window{plural}, {share} of the rows"))
    return table


def duration(seconds: float) -> str:
    """Write a duration in at most three units.

    >>> [duration(s) for s in (0.25, 300, 5400, 86400, 1209300)]
    ['0.25 s', '5 min', '1 h 30 min', '1 day', '13 days 23 h 55 min']
    """
    parts = []
    for unit, size in DURATIONS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count:,.0f} {'day' if unit == 'days' and count == 1 else unit}")
    if seconds or not parts:
        parts.append(f"{seconds:.6g} s")
    return " ".join(parts[:3])


def _names_text(names: tuple[str, ...]) -> str:
    more = ", …" if len(names) > SHOWN_NAMES else ""
    return f"{len(names)}: {', '.join(names[:SHOWN_NAMES])}{more}"


def time_text(time: Any) -> str:
    """Write a time to the microsecond, without zeros at the end; or a plain number."""
    if not isinstance(time, np.datetime64):
        return f"{time:g}"
    text = str(time.astype("datetime64[us]")).replace("T", " ")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _percentage(share: float) -> str:
    if share == 0:
        return "none"
    return f"{share:.1%}" if share >= 0.001 else "under 0.1%"
