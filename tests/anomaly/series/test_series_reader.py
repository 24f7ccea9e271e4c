"""One small series in every kind of file: the same numbers come out."""

from __future__ import annotations

import gzip
import json
from datetime import date, datetime, timedelta, timezone

import numpy as np
import polars as pl
import pytest

from locant.anomaly.series import read_series

STAMPS = ["2014-02-14 14:30:00", "2014-02-14 14:35:00", "2014-02-14 14:40:00"]
LOAD, HEAT = [1.5, -2.25, 3e-3], [10.0, 11.0, 13.0]
ROWS = [f"{stamp},{load},{heat}" for stamp, load, heat in zip(STAMPS, LOAD, HEAT, strict=True)]
COMMA = ["timestamp,load,heat", *ROWS]
SEMICOLON = [line.replace(",", ";") for line in COMMA]
OBJECTS = [
    json.dumps({"timestamp": s, "load": a, "heat": b})
    for s, a, b in zip(STAMPS, LOAD, HEAT, strict=True)
]


def text(lines, end="\n"):
    return end.join(lines).encode() + end.encode()


def parquet(path, frame):
    frame.write_parquet(path)
    return path


def is_the_series(series):
    assert series.names == ("load", "heat")
    assert series.values.dtype == np.float64
    assert series.values.tolist() == [[a, b] for a, b in zip(LOAD, HEAT, strict=True)]
    assert series.times.dtype == np.dtype("datetime64[ns]")
    assert series.times.tolist() == np.array(STAMPS, "datetime64[ns]").tolist()
    return series.labels is None and series.windows is None


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (text(COMMA), "CSV"),
        (text(COMMA)[:-1], "CSV"),  # no end of the last line
        (text(COMMA, "\r\n"), "CSV"),
        (text(COMMA, "\r"), "CSV"),
        (b"\xef\xbb\xbf" + text(COMMA), "CSV"),
        (text([line.replace(",", "\t") for line in COMMA]), "TSV"),
        (text(SEMICOLON), "CSV with semicolons"),
        (text([line.replace(",", "|") for line in COMMA]), "text with bars"),
        (text(['"' + line.replace(",", '","') + '"' for line in COMMA]), "CSV"),
        (text([line.replace(",", " , ") for line in COMMA]), "CSV"),
        (text(OBJECTS), "JSON lines"),
        (gzip.compress(text(COMMA), mtime=0), "CSV, gzip"),
        (gzip.compress(text(OBJECTS), mtime=0), "JSON lines, gzip"),
    ],
)
@pytest.mark.parametrize("name", ["mine.csv", "mine.data"])
def test_text_is_told_by_its_content_and_not_by_its_name(read, content, kind, name):
    series = read(content, name)
    assert is_the_series(series)
    assert series.summary.format == kind
    assert series.repairs == []


def test_parquet_gives_the_same_series(tmp_path):
    frame = pl.DataFrame({"timestamp": STAMPS, "load": LOAD, "heat": [int(h) for h in HEAT]})
    assert is_the_series(read_series(parquet(tmp_path / "text.parquet", frame)))
    timed = frame.with_columns(pl.col("timestamp").str.to_datetime())
    series = read_series(parquet(tmp_path / "timed", timed))
    assert is_the_series(series)
    assert series.summary.format == "Parquet"


def test_a_parquet_zone_becomes_utc_and_dates_become_midnights(tmp_path):
    zone = timezone(timedelta(hours=2))
    at = [datetime(2014, 2, 14, hour, tzinfo=zone) for hour in (1, 2)]
    frame = pl.DataFrame(
        {"at": at, "x": [1, 2]}, schema={"at": pl.Datetime("us", "Europe/Helsinki"), "x": pl.Int8}
    )
    series = read_series(parquet(tmp_path / "zone.parquet", frame))
    assert series.times[0] == np.datetime64("2014-02-13T23:00")
    assert series.repairs == ["Times in zone Europe/Helsinki were converted to UTC."]
    days = read_series(
        parquet(
            tmp_path / "day.parquet",
            pl.DataFrame({"d": [date(2014, 2, 14), date(2014, 2, 15)], "x": [1, 2]}),
        )
    )
    assert days.times.tolist() == np.array(["2014-02-14", "2014-02-15"], "datetime64[ns]").tolist()


def test_what_parquet_holds_besides_numbers_and_times_is_left_out_and_said(tmp_path):
    frame = pl.DataFrame(
        {"x": [2.5, float("inf"), 1.5], "many": [[1], [2], [3]], "on": [True, False, True]}
    )
    series = read_series(parquet(tmp_path / "odd.parquet", frame))
    assert series.names == ("x",)
    assert series.values.ravel().tolist() == [2.5, 2, 1.5]
    assert series.repairs == [
        "Column many holds List(Int64), which is not a number, time or text: left out.",
        "Column on holds text ('true' on row 1): left out.",
        "x: 1 of 3 values was missing: 1 interpolated.",
    ]


def test_letters_that_are_not_utf8_are_read_as_latin1_and_said(read):
    series = read("größe,x\n1,2\n2,5\n4,3\n".encode("latin-1"))
    assert series.names == ("größe", "x")
    assert series.repairs == ["The file is not UTF-8: it was read as Latin-1."]


def test_without_a_header_columns_are_numbered_and_it_is_said(read):
    series = read(ROWS)
    assert series.names == ("column_2", "column_3")
    assert series.values[:, 0].tolist() == LOAD
    assert series.summary.time == "column_1 (ISO 8601)"
    assert series.repairs == [
        "The first line does not name the columns: they are column_1, column_2, column_3."
    ]
