"""The time column: found or named, and every common way of writing times read alike."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locant.anomaly.series import read_series

NOON = "2014-02-14T12:00:00"


def column(stamps, name="when"):
    return [f"{name},x", *(f'"{stamp}",{k % 3}' for k, stamp in enumerate(stamps))]


def ns(*stamps):
    return np.array(stamps, "datetime64[ns]").tolist()


@pytest.mark.parametrize(
    ("stamps", "how"),
    [
        (["2014-02-14 12:00:00", "2014-02-14 12:00:30"], "ISO 8601"),
        (["2014-02-14T12:00:00", "2014-02-14T12:00:30"], "ISO 8601"),
        (["2014-02-14T12:00:00.000", "2014-02-14T12:00:30.000000"], "ISO 8601"),
        (["2014-02-14T12:00:00Z", "2014-02-14T12:00:30Z"], "ISO 8601"),
        (["2014-02-14 12:00 UTC", "2014-02-14 12:00:30 UTC"], "ISO 8601"),
        (["2014-02-14T14:00:00+02:00", "2014-02-14T06:30:30-0530"], "ISO 8601"),
        (
            ["2014-02-14T13:00:00+01[Europe/Paris]", "2014-02-14T13:00:30+01[Europe/Paris]"],
            "ISO 8601",
        ),
        (["2014/02/14 12:00", "2014/02/14 12:00:30"], "ISO 8601"),
        (["2014/2/14 12:00 PM", "2014/2/14 12:00:30 p.m."], "ISO 8601"),
        (["14/02/2014 12:00", "14/02/2014 12:00:30"], "day, month, year"),
        (["14.2.2014 12:00", "14.2.2014 12:00:30"], "day, month, year"),
        (["2/14/2014 12:00:00 PM", "2/14/2014, 12:00:30 PM"], "month, day, year"),
        (["14 Feb 2014 12:00", "14 February 2014 12:00:30"], "day, month by name, year"),
        (
            ["Fri, 14 Feb 2014 12:00:00 GMT", "Fri, 14 Feb 2014 12:00:30 GMT"],
            "day, month by name, year",
        ),
        (["14/Feb/2014:12:00:00 +0000", "14/Feb/2014:12:00:30 +0000"], "day, month by name, year"),
        (["Feb 14, 2014 12:00 pm", "Feb 14, 2014 12:00:30 pm"], "month by name, day, year"),
        (["20140214T120000", "20140214T120030"], "digits of ISO 8601"),
        (["1392379200", "1392379230"], "seconds since 1970"),
        (["1392379200.0", "1392379230.0"], "seconds since 1970"),
        (["1392379200000", "1392379230000"], "milliseconds since 1970"),
        (["1392379200000000", "1392379230000000"], "microseconds since 1970"),
        (["1392379200000000000", "1392379230000000000"], "nanoseconds since 1970"),
    ],
)
@pytest.mark.parametrize("name", ["when", "time"])
def test_one_moment_is_read_from_every_way_of_writing_it(read, stamps, how, name):
    series = read(column(stamps, name))
    assert series.times.tolist() == ns(NOON, "2014-02-14T12:00:30")
    assert series.summary.time == f"{name} ({how})"
    assert series.names == ("x",)


@pytest.mark.parametrize(
    ("stamps", "want"),
    [
        (
            ["2014-02-14 12:00:00.123456789", "2014-02-14 12:00:00.5"],
            ["2014-02-14T12:00:00.123456789", "2014-02-14T12:00:00.5"],
        ),
        (
            ["1392379200123456789", "1392379200123456790"],
            ["2014-02-14T12:00:00.123456789", "2014-02-14T12:00:00.123456790"],
        ),
        (["1392379200.25", "1392379200.75"], ["2014-02-14T12:00:00.25", "2014-02-14T12:00:00.75"]),
        (["2/14/2014 12:05 AM", "2/14/2014 1:05 PM"], ["2014-02-14T00:05", "2014-02-14T13:05"]),
        (["2016-02-29", "2016-03-01"], ["2016-02-29", "2016-03-01"]),
        (["2014-01", "2014-12"], ["2014-01-01", "2014-12-01"]),
        (["1700-01-01", "2200-01-01"], ["1700-01-01", "2200-01-01"]),
    ],
)
def test_fractions_halves_of_the_day_and_leap_days_are_exact(read, stamps, want):
    assert read(column(stamps)).times.tolist() == ns(*want)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.datetimes(datetime(1700, 1, 1), datetime(2260, 1, 1)),
        min_size=2,
        max_size=5,
        unique=True,
    )
)
def test_every_moment_that_python_writes_is_read_back_exactly(tmp_path_factory, moments):
    moments = sorted(moments)
    path = tmp_path_factory.getbasetemp() / "moments.csv"
    path.write_text("\n".join(column([moment.isoformat() for moment in moments])))
    assert (
        read_series(path, columns=["x"]).times.tolist()
        == np.array(moments, "datetime64[ns]").tolist()
    )


def test_digits_are_dates_where_a_time_is_expected_and_numbers_elsewhere(read):
    rows = ["20140214,20140214,1", "20140215,20140219,4", "20140216,20140217,2"]
    series = read(["date,count,x", *rows])
    assert series.times.tolist() == ns("2014-02-14", "2014-02-15", "2014-02-16")
    assert series.values[:, 0].tolist() == [20140214, 20140219, 20140217]
    assert read(["time,x", "20140214,1", "20149999,2"]).times.tolist() == [20140214, 20149999]


def test_zones_become_utc_and_it_is_said(read):
    series = read(column(["2014-10-26T02:30:00+02:00", "2014-10-26T02:30:00+01:00"]))
    assert series.times.tolist() == ns("2014-10-26T00:30", "2014-10-26T01:30")
    assert series.repairs == ["Times in zone +01:00, +02:00 were converted to UTC."]


@pytest.mark.parametrize(
    ("stamps", "why"),
    [
        (
            ["01/02/2014", "02/02/2014"],
            r"line 2: '01/02/2014' .* may have the day or the month first, and no row settles it",
        ),
        (
            ["14/02/2014", "02/14/2014"],
            r"line 3: '02/14/2014' .* has the day second, but '14/02/2014' has it first",
        ),
        (
            ["2014-02-14", "15/02/2014"],
            r"line 3: '15/02/2014' .* is written differently from '2014-02-14'",
        ),
        (["2014-02-14", "soon"], r"line 3: 'soon' in the time column when is not a time"),
        (
            ["2014-02-14", "2014-02-30"],
            r"line 3: '2014-02-30' .* is not a valid time between the years 1678 and 2261",
        ),
        (
            ["2014-02-14 12:00", "2014-02-14 25:00"],
            r"'2014-02-14 25:00' .* is not a valid time between the years 1678 and 2261",
        ),
        (
            ["2/14/2014 12:00 PM", "2/14/2014 13:00 PM"],
            r"'2/14/2014 13:00 PM' .* is not a valid time between the years 1678 and 2261",
        ),
        (
            ["2014-02-14", "9999-01-01"],
            r"'9999-01-01' .* is not a valid time between the years 1678 and 2261",
        ),
        (
            ["14 Foo 2014", "15 Foo 2014"],
            r"'14 Foo 2014' .* is not a valid time between the years 1678 and 2261",
        ),
        (
            ["2014-02-14T12:00Z", "2014-02-14T12:05"],
            r"line 3: .* has no zone, but '2014-02-14T12:00Z' has one",
        ),
    ],
)
def test_a_time_that_cannot_be_placed_is_refused_with_its_line(read, stamps, why):
    with pytest.raises(
        ValueError,
        match=why + r".\n  2014-02-14T14:30:00Z, .* are understood; write all rows in one",
    ):
        read(column(stamps))


@pytest.mark.parametrize("cells", [["soon", "1"], ["14:30", "14:35"], ["01/02/14", "14/02/14"]])
def test_a_column_that_was_named_as_the_time_must_hold_times(read, cells):
    with pytest.raises(
        ValueError, match=rf"line 2: '{cells[0]}' in the time column at is not a time"
    ):
        read(column(cells, "at"), time="at")
    with pytest.raises(
        ValueError, match=rf"line 2: '{cells[0]}' in the time column Date is not a time"
    ):
        read(column(cells, "Date"))
    assert read(column(cells, "Date"), columns=["x"]).times is None
