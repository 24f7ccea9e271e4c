"""Rows as they come: the same numbers and times as from a file, one at a time."""

from __future__ import annotations

import numpy as np
import pytest

from locant.anomaly.series import read_series, stream_rows

LINES = [
    "time,x,y\n",
    "2014-02-14 12:00,1.5,7\n",
    "2014-02-14 12:05,NA,-2e3\n",
    "\n",
    "2014-02-14 12:10,3.5,8\n",
]


def test_a_stream_gives_what_a_file_gives(write):
    series = read_series(write("".join(LINES)))
    rows = list(stream_rows(LINES))
    assert [row.time for row in rows] == list(series.times)
    assert [row.line for row in rows] == [2, 3, 5]
    assert np.isnan(rows[1].values[0])  # a stream cannot look ahead
    assert np.array_equal(rows[2].values, series.values[2])
    assert rows[0].names == ["x", "y"]
    assert all(row.notes == [] for row in rows)


def test_a_row_is_given_as_soon_as_its_line_is_there():
    lines = iter([f"{k},{k * k}" for k in range(100)])
    rows = stream_rows(lines, ["step", "x"], time="step")
    assert [next(rows).values.tolist() for _ in range(3)] == [[0], [1], [4]]
    assert next(lines) == "3,9"  # not yet taken


@pytest.mark.parametrize(
    "stamps",
    [
        ["2014-02-14T12:00:00.123456789Z", "2014-02-14T12:05:00Z", "2014-02-14T12:10Z"],
        ["2014-02-14T12:00:00+0130", "2014-02-14T12:05:00+01", "2014-02-14 12:10-02:00"],
        ["14/02/2014 12:00", "14/02/2014 12:05:30", "1/3/2014"],
        ["2/14/2014 11:00 AM", "2/14/2014 12:05 PM", "3/1/2014 1:00 PM"],
        ["14 Feb 2014", "15 Feb 2014", "1 March 2014"],
        ["20140214", "20140215", "20140216"],
        ["2014-02", "2014-03", "2014-04"],
        ["1392379200", "1392379230", "1392379260"],
        ["1392379200.5", "1392379201.5", "1392379203"],
        ["1.5", "2.5", "4"],
    ],
)
def test_times_in_a_stream_are_those_of_a_file(write, stamps):
    lines = ["time,x", *(f"{stamp},{k % 2}" for k, stamp in enumerate(stamps))]
    assert [row.time for row in stream_rows(lines)] == list(read_series(write(lines)).times)


@pytest.mark.parametrize(
    "lines",
    [
        ["t;a", "1;2.5"],
        ["t\ta", "1\t2.5"],
        ['"t","a"', '"1","2.5"'],
        ["\ufefft,a", "1,2.5"],
        ['{"t": 1, "a": 2.5}'],
        ['{"t": 1, "a": "2.5", "more": [1]}'],
    ],
)
def test_every_kind_of_line_is_cut(lines):
    (row,) = stream_rows(lines, time="t", columns=["a"])
    assert (row.time, row.values.tolist()) == (1.0, [2.5])


def test_a_header_may_be_given_and_is_skipped_where_it_stands_in_the_stream_too():
    for lines in (["5,7"], ["x,y", "5,7"]):
        (row,) = stream_rows(lines, ["x", "y"])
        assert row.values.tolist() == [5, 7]
    (row,) = stream_rows(["5,7"])
    assert row.names == ["column_1", "column_2"]


def test_columns_are_given_in_the_order_that_was_asked_for():
    (row,) = stream_rows(["a,b,c", "1,2,3"], columns=["c", "a"])
    assert (row.names, row.values.tolist()) == (["c", "a"], [3, 1])


def test_words_in_the_first_row_are_no_values():
    rows = list(stream_rows(["a,name,b", "1,x,", "2,y,5"]))
    assert rows[0].names == ["a", "b"]
    assert rows[1].values.tolist() == [2, 5]


def test_a_cell_that_is_no_number_is_missing_and_said():
    rows = list(stream_rows(["a,b", "1,2", "oops,3", "1e400,4"]))
    assert np.isnan(rows[1].values[0])
    assert rows[1].notes == ["Line 3: 'oops' in column a is not a number: treated as missing."]
    assert rows[2].notes == ["Line 4: '1e400' in column a is not a number: treated as missing."]


def test_a_decimal_comma_is_read_when_it_is_asked_for():
    (row,) = stream_rows(["a;b", "1,5;2"], decimal=",")
    assert row.values.tolist() == [1.5, 2]
    with pytest.raises(ValueError, match=r"stream_rows was asked for decimal=';'"):
        next(stream_rows(["a"], decimal=";"))


def test_the_first_row_settles_how_times_are_written():
    rows = list(stream_rows(["d,x", "14/02/2014,1", "01/03/2014,2", ",3"]))
    assert rows[1].time == np.datetime64("2014-03-01")
    assert np.isnat(rows[2].time)
    for later in ("2014-03-01", "soon"):
        with pytest.raises(ValueError, match=r"the stream, line 3: "):
            list(stream_rows(["d,x", "14/02/2014,1", f"{later},2"]))
    with pytest.raises(ValueError, match=r"line 2: '01/03/2014' .* no row settles it"):
        list(stream_rows(["d,x", "01/03/2014,2"]))
    with pytest.raises(
        ValueError, match=r"line 3: the times change from seconds since 1970 to plain numbers"
    ):
        list(stream_rows(["time,x", "1392379200,2", "5,3"]))


def test_a_zone_is_said_once():
    rows = list(stream_rows(["at,x", "2014-02-14T12:00+02:00,1", "2014-02-14T12:05+02:00,2"]))
    assert [row.notes for row in rows] == [["Times in zone +02:00 were converted to UTC."], []]
    assert rows[1].time == np.datetime64("2014-02-14T10:05")


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["a,b", "1,2,3"], r"line 2 has 3 cells, but there are 2 columns: a, b"),
        (["a,b", '1,"2'], r"line 2: the quotation marks do not pair up"),
        (['{"a": 1}', "{"], r"the stream, line 2 is not JSON"),
        (["a,b", "x,y"], r"no cell besides the time is a number. Got \['x', 'y'\]"),
    ],
)
def test_a_line_that_cannot_be_cut_is_refused_with_its_number(lines, why):
    with pytest.raises(ValueError, match=why):
        list(stream_rows(lines))


def test_a_column_that_is_not_in_the_stream_is_refused():
    with pytest.raises(
        ValueError, match=r"the stream has no column 'z', asked for as a value column"
    ):
        list(stream_rows(["a,b", "1,2"], columns=["z"]))


def test_an_empty_stream_has_no_rows():
    assert list(stream_rows([])) == list(stream_rows(["\n"])) == list(stream_rows(["a,b\n"])) == []
