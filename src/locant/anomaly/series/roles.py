"""What each column is for: the time, the labels, or a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from locant.anomaly.series.cells import Marks, missing
from locant.anomaly.series.finding import clock_beside, find_time, unread_time
from locant.anomaly.series.labels import find_labels
from locant.anomaly.series.raw import Raw


@dataclass
class Roles:
    """Places of columns; what is `taken` is no value."""

    time: int | None = None
    label: int | None = None
    taken: set[int] = field(default_factory=set)


def assign(
    raw: Raw,
    marks: Marks,
    *,
    time: str | None,
    columns: Sequence[str] | None,
    label: str | None,
    windows: bool,
) -> Roles:
    """The roles of the columns: as asked for, and the rest as found."""
    _needs_one_role(raw, time, columns, label, windows)
    values = {raw.find(name, "a value column") for name in columns or ()}
    labels = [raw.find(label, "the label column")] if label is not None else find_labels(raw, marks)
    labels = [place for place in labels if place not in values and raw.names[place] != time]
    roles = Roles(label=None if windows else next(iter(labels), None), taken=set(labels))
    for place in labels[0 if windows else 1 :]:
        raw.said.append(f"Column {raw.names[place]} holds labels, but others are used: left out.")
    roles.time = (
        find_time(raw, marks, roles.taken | values)
        if time is None
        else raw.find(time, "the time column")
    )
    if roles.time is None and columns is None:
        roles.time = unread_time(raw, marks, roles.taken)  # reading it tells what is wrong with it
    if roles.time is not None:
        roles.taken.add(roles.time)
        _join_clock(raw, roles)
    return roles


def _needs_one_role(
    raw: Raw, time: str | None, columns: Sequence[str] | None, label: str | None, windows: bool
) -> None:
    if label is not None and windows:
        raise ValueError(
            f"{raw.path}: labels were asked for by label={label!r} and by windows. Give one of them."
        )
    for name, role in ((time, "the time"), (label, "the label")):
        if name is not None and (name in (columns or ()) or time == label):
            raise ValueError(
                f"{raw.path}: column {name!r} was asked for as {role} and as something else. Give it one role."
            )


def _join_clock(raw: Raw, roles: Roles) -> None:
    """Dates in one column and clocks in another become one time."""
    place = roles.time
    beside = None if place is None else clock_beside(raw, place)
    if place is None or beside is None:
        return
    dates, clocks = (
        cells.str.strip_chars().set(missing(cells), None)
        for cells in (raw.columns[place], raw.columns[beside])
    )
    raw.columns[place] = pl.select(pl.concat_str(dates, clocks, separator=" ")).to_series()
    raw.said.append(
        f"Columns {raw.names[place]} and {raw.names[beside]} were joined: a date and its clock."
    )
    raw.names[place] = f"{raw.names[place]} {raw.names[beside]}"
    roles.taken.add(beside)
