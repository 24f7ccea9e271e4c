"""One small series in every kind of file: the same numbers come out."""

from __future__ import annotations

import gzip
import json
from datetime import date, datetime, timedelta, timezone

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locant.anomaly.series import delimited, read_series
from locant.anomaly.series.delimited import read_delimited
from locant.anomaly.series.input_file import scan_text

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


def test_columns_of_one_name_are_told_apart_and_it_is_said(read):
    series = read(["x,x,x_2", "1,4,7", "3,5,9", "2,8,8"])
    assert series.names == ("x", "x_3", "x_2")
    assert series.values[0].tolist() == [1, 4, 7]
    assert series.repairs == ["2 columns are called 'x': they were renamed x, x_3."]


def test_empty_lines_are_skipped_and_counted_but_are_gaps_in_a_single_column(read):
    series = read(["a,b", "1,2", "", "  ", "5,4", ""])
    assert series.values.tolist() == [[1, 2], [5, 4]]
    assert series.repairs == ["3 empty lines were skipped."]
    assert read(["a", "1", "", "4"]).values.ravel().tolist() == [1, 2.5, 4]
    assert read(['"a"', "1", "", "4"]).values.ravel().tolist() == [1, 2.5, 4]


def test_a_quoted_cell_may_hold_marks_and_line_ends_and_lines_are_still_counted(read):
    series = read(["x,note", '1,"a, b"', '2,"two\nlines"', 'oops,"he said ""no"""', "4,d"])
    assert series.values.ravel().tolist() == [1, 2, 3, 4]
    assert series.repairs[0] == "x: 1 cell is not a number ('oops' on line 5): treated as missing."


def test_a_key_that_some_json_lines_do_not_have_is_a_missing_value(read):
    lines = [
        '{"a": 1, "b": 1}',
        '{"a": 2}',
        '{"a": 4, "b": 3, "c": 1}',
        '{"a": 3, "b": null, "c": 4}',
    ]
    series = read(lines, "mine.jsonl")
    assert series.names == ("a", "b", "c")
    assert series.values.tolist() == [[1, 1, 1], [2, 2, 1], [4, 3, 1], [3, 3, 4]]


def test_keys_that_first_appear_in_a_later_block_are_missing_before_it(read, monkeypatch):
    monkeypatch.setattr("locant.anomaly.series.jsonlines.BLOCK_ROWS", 2)
    series = read(['{"a": 1}', '{"a": 5}', '{"a": 2, "b": 7}', '{"a": 2, "b": 9}'], "mine.jsonl")
    assert series.values[:, 1].tolist() == [7, 7, 7, 9]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["1", "-2.5", "NA", "word", ""]), st.text("ab ", max_size=3)),
        min_size=2,
        max_size=9,
    )
)
def test_files_with_and_without_quotation_marks_are_cut_alike(tmp_path_factory, rows):
    folder = tmp_path_factory.getbasetemp()
    (folder / "plain.csv").write_text(
        "".join(f"{a},x{b.strip()}\n" for a, b in [("a", "b"), *rows])
    )
    (folder / "quoted.csv").write_text(
        "".join(f'"{a}","x{b.strip()}"\n' for a, b in [("a", "b"), *rows])
    )
    plain, quoted = (
        read_delimited(scan_text(folder / name)) for name in ("plain.csv", "quoted.csv")
    )
    assert [cells.to_list() for cells in plain.columns] == [
        cells.to_list() for cells in quoted.columns
    ]
    assert plain.lines.tolist() == quoted.lines.tolist()
    assert plain.names == quoted.names


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_file_of_many_blocks_is_read_like_one(write, monkeypatch, quote):
    path = write(["a,b"] + [f"{quote}{k}{quote},{k % 3}" for k in range(50)])
    whole = read_delimited(scan_text(path))
    monkeypatch.setattr(delimited, "BLOCK_LINES", 7)
    monkeypatch.setattr(delimited, "BLOCK_ROWS", 7)
    parts = read_delimited(scan_text(path))
    assert [cells.to_list() for cells in whole.columns] == [
        cells.to_list() for cells in parts.columns
    ]
    assert parts.lines.tolist() == whole.lines.tolist() == list(range(2, 52))
