"""What was understood of a file, as facts and as a table."""

from __future__ import annotations

import pytest

from locant.anomaly.series import summary_table


def column(stamps, name="when"):
    return [f"{name},x", *(f'"{stamp}",{k % 3}' for k, stamp in enumerate(stamps))]


def test_the_summary_table_says_what_was_understood(read):
    lines = [
        "time,x,label",
        "2014-02-14 14:30,1,0",
        "2014-02-14 14:35,,1",
        "2014-02-14 14:40,4,1",
        "2014-02-15 14:40:30.5,4,0",
    ]
    assert summary_table(read(lines)) == [
        ("file", "mine.csv (CSV)"),
        ("rows", "4"),
        ("columns", "1: x"),
        ("time", "time (ISO 8601)"),
        ("span", "2014-02-14 14:30:00 to 2014-02-15 14:40:30.5 (1 day 10 min 30.5 s)"),
        ("usual step", "5 min"),
        ("irregular gaps", "33.3%"),
        ("missing values", "1 of 4 (25.0%)"),
        ("labels", "1 window, 50.0% of the rows"),
    ]


def test_the_summary_table_of_a_series_without_a_time_is_shorter(read):
    lines = [
        ",".join("abcdefgh"),
        *(",".join(str((k + j) ** 2 % 7) for j in range(8)) for k in range(3)),
    ]
    assert summary_table(read(lines)) == [
        ("file", "mine.csv (CSV)"),
        ("rows", "3"),
        ("columns", "8: a, b, c, d, e, f, …"),
        ("time", "none: rows are counted"),
        ("missing values", "none"),
    ]


@pytest.mark.parametrize(
    ("times", "span"),
    [((0, 0.5, 1.5), "0 to 1.5 (1.5)"), ((1e6, 2e6, 4e6), "1e+06 to 4e+06 (3e+06)")],
)
def test_plain_numbers_have_a_span_without_a_unit(read, times, span):
    series = read(["time,x", *(f"{at},{k % 2}" for k, at in enumerate(times))])
    assert ("span", span) in summary_table(series)


def test_the_usual_step_is_the_median_and_gaps_off_by_a_tenth_are_irregular(read):
    series = read(["time,x", *(f"{at},{at % 3}" for at in (0, 10, 20, 30.9, 42, 52, 62, 100))])
    assert (series.summary.step, series.summary.irregular) == (10.0, pytest.approx(2 / 7))
    assert len(series.values) == 8  # nothing was put into the gap
    months = read(column([f"2014-{month:02}-01" for month in range(1, 13)]))
    assert months.summary.irregular == 0
    assert months.summary.step == 31 * 86400
