"""The one short table that says what was understood of a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from locant.anomaly.series.series import Series

UNITS = [("days", 86400), ("h", 3600), ("min", 60)]


def table(series: Series) -> list[tuple[str, str]]:
    """What, and its value, in the order in which a person asks."""
    known = series.understood
    lines = [
        ("file", f"{known.file} ({known.kind})"),
        ("rows", f"{known.rows:,}"),
        ("columns", _names(series.names)),
    ]
    lines.append(("time", known.time or "none: rows are counted"))
    if known.step is not None and known.irregular is not None:
        dated = isinstance(known.start, np.datetime64)
        length = known.end - known.start
        apart = duration(length / np.timedelta64(1, "s")) if dated else f"{length:g}"
        lines.append(("span", f"{_moment(known.start)} to {_moment(known.end)} ({apart})"))
        lines.append(("usual step", duration(known.step) if dated else f"{known.step:g}"))
        lines.append(("irregular gaps", _share(known.irregular)))
    cells = series.values.size
    lines.append(
        (
            "missing values",
            f"{known.missing:,} of {cells:,} ({_share(known.missing / cells)})"
            if known.missing
            else "none",
        )
    )
    if series.labels is not None and series.windows is not None:
        count = len(series.windows)
        share = _share(float(series.labels.mean()))
        lines.append(
            ("labels", f"{count:,} stretch{'' if count == 1 else 'es'}, {share} of the rows")
        )
    return lines


def duration(seconds: float) -> str:
    """A length of time in the two or three words that say it.

    >>> [duration(s) for s in (0.25, 300, 5400, 86400, 1209300)]
    ['0.25 s', '5 min', '1 h 30 min', '1 day', '13 days 23 h 55 min']
    """
    parts = []
    for unit, size in UNITS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count:,.0f} {'day' if unit == 'days' and count == 1 else unit}")
    if seconds or not parts:
        parts.append(f"{seconds:.6g} s")
    return " ".join(parts[:3])


def _names(names: tuple[str, ...], most: int = 6) -> str:
    return f"{len(names)}: {', '.join(names[:most])}{', …' if len(names) > most else ''}"


def _moment(moment: Any) -> str:
    if not isinstance(moment, np.datetime64):
        return f"{moment:g}"
    text = str(moment.astype("datetime64[us]")).replace("T", " ")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _share(share: float) -> str:
    return "none" if share == 0 else f"{share:.1%}" if share >= 0.001 else "under 0.1%"
