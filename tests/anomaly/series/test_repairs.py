"""Every repair does what its sentence says, and there is no repair without a sentence."""

from __future__ import annotations

import numpy as np
import pytest

OWN = "If these rows belong to several series, give each a column or a file of its own."


def test_unsorted_rows_are_sorted_and_counted(read):
    series = read(["time,x", "1,10", "3,30", "2,20", "5,50", "4,40"])
    assert series.times.tolist() == [1, 2, 3, 4, 5]
    assert series.values.ravel().tolist() == [10, 20, 30, 40, 50]
    assert series.repairs == ["2 of 5 rows were out of order: the rows were sorted by time."]


def test_rows_from_new_to_old_are_turned_round(read):
    series = read(["time,x", "3,30", "2,20", "1,15"])
    assert series.values.ravel().tolist() == [15, 20, 30]
    assert series.repairs == ["The rows ran from newest to oldest: their order was reversed."]


def test_repeated_moments_with_equal_values_are_dropped(read):
    series = read(["time,x,y", "1,0.1,1", "2,0.1,2", "2,0.1,2", "2,0.1,2", "3,0.3,1"])
    assert series.values.tolist() == [[0.1, 1], [0.1, 2], [0.3, 1]]
    assert series.repairs == ["2 rows repeated a timestamp with equal values: left out."]


def test_repeated_moments_with_different_values_become_their_mean(read):
    series = read(["time,x,y", "1,5,1", "2,10,2", "2,20,2", "2,NA,5", "3,5,1"])
    assert series.values.tolist() == [[5, 1], [15, 3], [5, 1]]
    assert series.repairs == [
        "1 timestamp occurred in several rows with different values: "
        "the mean was taken, of 3 rows.",
        OWN,
    ]


def test_equal_and_different_repeats_are_told_apart(read):
    series = read(["time,x", "1,5", "1,5", "2,10", "2,20", "2,30", "3,7", "3,8"])
    assert series.values.ravel().tolist() == [5, 20, 7.5]
    assert series.repairs == [
        "1 row repeated a timestamp with equal values: left out.",
        "2 timestamps occurred in several rows with different values: "
        "the mean was taken, of 5 rows.",
        OWN,
    ]


def test_repeats_of_missing_values_stay_missing(read):
    series = read(["time,x", "1,5", "2,", "2,", "3,7"])
    assert series.values.ravel().tolist() == [5, 6, 7]
    assert series.summary.missing == 1


def test_rows_without_a_time_are_left_out_and_counted(read):
    series = read(["time,x", "2014-02-14,1", ",9", "2014-02-15,2", "NA,8"])
    assert series.values.ravel().tolist() == [1, 2]
    assert series.repairs == ["2 of 4 rows had no time: left out."]
    series = read(["time,x,y,label", "1,1,,0", "2,2,,0", ",3,5,1", ",4,6,1"])
    assert series.names == ("x",)  # all that y had went with these rows
    assert not series.labels.any()


def test_missing_values_are_interpolated_in_time_and_held_at_the_edges(read):
    series = read(["time,x,y", "0,NA,1", "1,10,2", "2,,-", "10,null,11", "11,20,inf"])
    assert series.values[:, 0].tolist() == [10, 10, 11, 19, 20]
    assert series.values[:, 1].tolist() == [1, 2, 3, 11, 11]
    assert series.repairs == [
        "x: 3 of 5 values were missing: 2 interpolated, 1 held at the edges.",
        "y: 2 of 5 values were missing: 1 interpolated, 1 held at the edges.",
    ]
    assert series.summary.missing == 5


def test_the_line_between_the_largest_numbers_is_finite(read):
    assert read(["x,y", "1.7e308,1", "NA,2", "-1.7e308,7"]).values[:, 0].tolist() == [
        1.7e308,
        0,
        -1.7e308,
    ]


def test_without_a_time_missing_values_are_interpolated_in_rows(read):
    assert read(["x,y", "5,1", "NA,2", "2,7"]).values[:, 0].tolist() == [5, 3.5, 2]


def test_an_hour_that_comes_twice_is_told_as_the_end_of_summer_time(read):
    clock = [
        f"2014-10-26 {hour:02}:{minute:02}" for hour in (1, 2, 2, 3) for minute in range(0, 60, 15)
    ]
    series = read(["time,x", *(f"{at},{k}" for k, at in enumerate(clock))])
    assert len(series.values) == 12
    assert series.values[4:8].ravel().tolist() == [6, 7, 8, 9]  # the mean of the two hours
    assert series.repairs[0].startswith(
        "The clock goes back by an hour at 2014-10-26 02:00, as at the end of summer time"
    )
    zoned = [f"{at}+0{2 if k < 8 else 1}:00" for k, at in enumerate(clock)]
    series = read(["time,x", *(f"{at},{k}" for k, at in enumerate(zoned))])
    assert series.values.ravel().tolist() == list(range(16))  # with a zone both hours are there
    assert series.summary.irregular == 0


def test_an_hourly_clock_that_repeats_one_hour_at_night_is_told_too(read):
    hours = [*(f"2014-10-26 {hour:02}:00" for hour in (0, 1, 2, 2, 3, 4)), "2014-10-26 05:00"]
    assert (
        "end of summer time"
        in read(["time,x", *(f"{at},{k}" for k, at in enumerate(hours))]).repairs[0]
    )


def test_a_clean_file_has_nothing_to_say(read):
    assert read(["time,x", "2014-02-14,1", "2014-02-15,2", "2014-02-16,1"]).repairs == []


def test_times_always_rise_and_values_are_always_finite(read):
    lines = ["time,x", *(f"{(7 * k) % 30},{'NA' if k % 4 == 0 else k}" for k in range(40))]
    series = read(lines)
    assert (np.diff(series.times) > 0).all()
    assert np.isfinite(series.values).all()


def test_centuries_of_years_are_interpolated_in_time(read):
    years = [1700, 1750, 1900, 2020]
    lines = [f"{year}-01-01,{value}" for year, value in zip(years, [0, "", 200, 320], strict=True)]
    series = read(["date,x", *lines])
    assert series.values.ravel().tolist() == pytest.approx([0, 50, 200, 320], abs=0.01)
    assert series.summary.irregular == pytest.approx(2 / 3)
