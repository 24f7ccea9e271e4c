"""Rows of a stream gathered into a series."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from locant.anomaly.series import FileSummary, Row, Series
from locant.anomaly.series.repairs import Rows, fill_missing, sort_by_time
from locant.anomaly.series.series import step_and_irregularity


def as_series(rows: Sequence[Row], *, in_time: bool = True) -> Series:
    """The rows in the order of time, without gaps; with `in_time` off in the order in which they came.

    >>> row = Row(1, None, np.array([2.0]), ["load"], [])
    >>> as_series([row, row._replace(values=np.array([np.nan]))]).values.tolist()
    [[2.0], [2.0]]
    """
    if not rows:
        raise ValueError("the stream has no row. A series needs at least two.")
    said: list[str] = []
    names = rows[0].names
    times = None if rows[0].time is None else np.array([row.time for row in rows])
    table = Rows(np.stack([row.values for row in rows]), times, None)
    if in_time:
        table = sort_by_time(table, said)
    empty = [
        name for name, column in zip(names, table.values.T, strict=True) if np.isnan(column).all()
    ]
    if empty:
        raise ValueError(
            f"the stream has no number in {', '.join(empty)}. Leave it out: --columns."
        )
    whole = fill_missing(table.values, table.times, names, said)
    known = FileSummary(
        "the stream",
        "stream",
        len(whole),
        len(names),
        None if times is None else "found in the stream",
    )
    if table.times is not None and len(whole) > 1:
        step, irregular = step_and_irregularity(table.times)
        known = FileSummary(
            known.file, known.format, known.rows, known.columns, known.time,
            table.times[0], table.times[-1], step, irregular, int(np.isnan(table.values).sum()),
        )  # fmt: skip
    return Series(whole, tuple(names), table.times, None, None, known, said)
