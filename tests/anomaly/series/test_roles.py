"""The roles of columns: the time is found or named, and no column has two roles."""

from __future__ import annotations

import numpy as np
import pytest

GOOD = ["time,x", "2014-02-14,1", "2014-02-15,2"]


def ns(*stamps):
    return np.array(stamps, "datetime64[ns]").tolist()


@pytest.mark.parametrize(
    ("header", "rows", "found"),
    [
        ("a,day,x", ["1,2014-02-14,3", "3,2014-02-15,1", "2,2014-02-16,7"], "day"),
        (
            "other,timestamp,x",
            ["2013-01-01,2014-02-14,3", "2013-01-02,2014-02-15,1", "2013-01-03,2014-02-16,7"],
            "timestamp",
        ),
        ("x,eventTime", ["3,1392379200", "1,1392379230", "7,1392379260"], "eventTime"),
        (
            "at,x",
            ["1392379200,3", "1392379230,1", "1392379260,7"],
            "at",
        ),  # first, and it can be no accident
        ("time,x", ["5,3", "1,1", "3,7"], "time"),
        ("x,t", ["3,0.1", "1,0.2", "7,0.35"], "t"),
        ("km,x", ["0.5,3", "1.0,1", "1.5,7", "2,3"], "km"),  # first, and evenly rising
        ("index,x", ["1,3", "2,1", "7,7"], "index"),
        ("Time (s),x", ["0.1,3", "0.2,1", "0.7,7"], "Time (s)"),
        ("x,time_ms", ["3,0.1", "1,0.2", "7,0.2"], "time_ms"),
    ],
)
def test_the_time_is_found_by_name_and_by_content(read, header, rows, found):
    series = read([header, *rows])
    assert series.summary.time.startswith(f"{found} (")
    assert "x" in series.names
    assert found not in series.names


@pytest.mark.parametrize(
    "lines",
    [
        ["x,y", "3,2", "1,5", "7,9"],
        [
            "x,y",
            "1,2",
            "2,5",
            "7,9",
            "8,9",
        ],  # first and rising, but not evenly, and with a name of its own
        ["x,t", "3,20.5", "1,19.5", "7,21"],  # a temperature
        ["response_time,x", "30,3", "35,1", "70,7", "71,7"],
        ["x,y", "3,2", "4,5", "5,9"],  # first and even, but too few to tell
        ["x", "1", "2", "4"],
    ],
)
def test_numbers_are_not_taken_for_a_time_without_reason(read, lines):
    series = read(lines)
    assert series.times is None
    assert series.summary.time is None
    assert series.summary.step is series.summary.irregular is None


def test_without_a_header_a_rising_first_column_is_the_time(read):
    series = read(["0.0,5", "0.1,7", "0.3,6", "0.4,6"])
    assert series.times.tolist() == [0, 0.1, 0.3, 0.4]
    assert series.times.dtype == np.float64
    assert series.names == ("column_2",)


def test_a_column_that_is_asked_for_as_a_value_is_never_the_time(read):
    lines = ["time,x", "1,3", "2,1", "3,7"]
    assert read(lines).names == ("x",)
    assert read(lines, columns=["time", "x"]).times is None
    assert read(lines, columns="time").values.ravel().tolist() == [1, 2, 3]


def test_a_named_time_wins_over_what_would_be_found(read):
    lines = ["timestamp,k,x", "2014-02-14,3,3", "2014-02-15,5,1", "2014-02-16,9,7"]
    assert read(lines, time="k").times.tolist() == [3, 5, 9]


def test_a_date_and_a_clock_in_two_columns_are_joined_and_it_is_said(read):
    series = read(
        [
            "Date;Time;x",
            "16/12/2006;17:24:00;4,5",
            "16/12/2006;17:25:00;5,5",
            "?;?;6",
            "16/12/2006;17:26;7,5",
        ]
    )
    assert series.times.tolist() == ns("2006-12-16T17:24", "2006-12-16T17:25", "2006-12-16T17:26")
    assert series.names == ("x",)
    assert "Columns Date and Time were joined: a date and a time of day." in series.repairs
    assert series.summary.time == "Date Time (day, month, year)"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            {"time": "tme"},
            r"has no column 'tme', asked for as the time column. Did you mean 'time'\?\n"
            r"  Its columns: time, x",
        ),
        ({"label": "y"}, r"has no column 'y', asked for as the label column"),
        ({"columns": ["x", "y"]}, r"has no column 'y', asked for as a value column"),
        (
            {"columns": ["time"]},
            r"column time holds text \('2014-02-14' on line 2\). Ask for columns of numbers",
        ),
        (
            {"columns": ["x"], "time": "x"},
            r"column 'x' was asked for as the time and as something else",
        ),
        (
            {"label": "time", "time": "time"},
            r"column 'time' was asked for as the time and as something else",
        ),
    ],
)
def test_a_column_that_is_not_there_or_cannot_be_that_is_refused(read, options, why):
    with pytest.raises(ValueError, match=why):
        read(GOOD, **options)
