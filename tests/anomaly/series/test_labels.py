"""Labels: a column of 0/1, true/false or normal/anomaly, or a file of windows in any of three
layouts."""

from __future__ import annotations

import json

import polars as pl
import pytest

from locant.anomaly.metrics.events import event_recall
from locant.anomaly.series import read_series

HOURS = ["time,x", *(f"2014-02-14 {hour:02}:00,{hour % 5}" for hour in range(10))]


@pytest.mark.parametrize(
    "cells",
    [
        ["0", "1", "1", "0"],
        ["0.0", "1.0", "1.0", "0"],
        ["False", "TRUE", "true", "false"],
        ["normal", "Anomaly", "anomaly", "no"],
    ],
)
@pytest.mark.parametrize(
    ("name", "options"),
    [("Label", {}), ("anomaly", {}), ("is_anomaly", {}), ("fault", {"label": "fault"})],
)
def test_a_column_of_labels_is_understood_and_is_no_value(read, cells, name, options):
    series = read([f"x,{name}", *(f"{k % 3},{cell}" for k, cell in enumerate(cells))], **options)
    assert series.names == ("x",)
    assert series.labels.dtype == bool
    assert series.labels.tolist() == [False, True, True, False]
    assert series.windows == ((1, 3),)


def test_a_column_called_label_that_is_not_binary_is_a_value(read):
    series = read(["x,label", "1,0", "2,3", "4,1"])
    assert series.names == ("x", "label")
    assert series.labels is None


def test_parquet_booleans_are_labels(tmp_path):
    pl.DataFrame({"x": [1, 2, 4], "label": [False, True, False]}).write_parquet(
        tmp_path / "a.parquet"
    )
    assert read_series(tmp_path / "a.parquet").labels.tolist() == [False, True, False]


def test_a_second_column_of_labels_does_not_leak_into_the_values(read):
    series = read(["x,is_anomaly,label", "1,1,0", "2,0,1", "4,0,0"])
    assert series.names == ("x",)
    assert series.labels.tolist() == [False, True, False]
    assert series.repairs == ["Column is_anomaly holds labels, but others are used: left out."]


def test_rows_without_a_label_are_normal_and_it_is_said(read):
    series = read(["x,label", "1,1", "2,", "4,0"])
    assert series.labels.tolist() == [True, False, False]
    assert series.repairs == ["label: 1 of 3 rows had no label: treated as normal."]


def test_labels_follow_their_rows_and_one_anomalous_repeat_marks_the_moment(read):
    series = read(["time,x,label", "3,1,0", "1,2,0", "2,3,0", "2,5,1", "4,3,1"])
    assert series.labels.tolist() == [False, True, False, True]


def test_a_label_column_that_is_asked_for_must_be_one(read):
    with pytest.raises(
        ValueError, match=r"line 3: '3' in the label column y is not a label.\n  0/1, true/false"
    ):
        read(["x,y", "1,0", "2,3"], label="y")


@pytest.fixture
def marked(write):
    """A series of ten hours, with windows written as JSON or as text."""

    def reads(windows, lines=HOURS, **options):
        text = (
            windows
            if isinstance(windows, list) and isinstance(windows[0], str)
            else json.dumps(windows)
        )
        return read_series(
            write(lines, "folder/mine.csv"), windows=write(text, "windows.file"), **options
        )

    return reads


@pytest.mark.parametrize(
    "windows",
    [
        [
            ["2014-02-14 02:00", "2014-02-14 04:00"],
            ["2014-02-14 07:30", "2014-02-14 08:10:00.000000"],
        ],
        {
            "folder/mine.csv": [
                ["2014-02-14 02:00", "2014-02-14 04:00"],
                ["2014-02-14 07:30", "2014-02-14 08:10"],
            ],
            "mine.csv": [],
        },
        ["start,end", "2014-02-14 02:00,2014-02-14 04:00", "2014-02-14 07:30,2014-02-14 08:10"],
        [
            "why;End;Start",
            "a;2014-02-14 04:00;2014-02-14 02:00",
            "b;2014-02-14 08:10;2014-02-14 07:30",
        ],
        [[1392343200, 1392350400], [1392363000, 1392365400]],
    ],
)
def test_windows_of_every_layout_mark_the_same_rows_with_both_ends(marked, windows):
    series = marked(windows)
    assert series.windows == ((2, 5), (8, 9))
    assert series.labels.nonzero()[0].tolist() == [2, 3, 4, 8]
    assert event_recall(series.windows, series.labels) == 1


def test_windows_of_a_packed_file_are_found_under_its_plain_name(write):
    import gzip

    path = write(gzip.compress("\n".join(HOURS).encode(), mtime=0), "folder/mine.csv.gz")
    windows = write(
        json.dumps({"folder/mine.csv": [["2014-02-14 02:00", "2014-02-14 02:00"]]}), "w.json"
    )
    assert read_series(path, windows=windows).windows == ((2, 3),)


def test_windows_of_a_file_that_moved_are_taken_by_its_name_alone_and_it_is_said(marked):
    series = marked(
        {
            "elsewhere/mine.csv": [["2014-02-14 02:00", "2014-02-14 02:00"]],
            "elsewhere/other.csv": [],
        }
    )
    assert series.windows == ((2, 3),)
    assert series.repairs == [
        "The windows of elsewhere/mine.csv were used: the file name is the same, the folder is not."
    ]


def test_a_name_that_only_ends_alike_is_another_file(marked):
    with pytest.raises(
        ValueError,
        match=r"has no windows for .*mine.csv.*\n"
        r"  It has 2 keys, each the end of a path: older/mine.csv",
    ):
        marked({"older/mine.csv": [], "old/mine.csv": []})
    with pytest.raises(ValueError, match=r"has no windows for .*mine.csv"):
        marked({"so_mine.csv": []})


def test_overlapping_windows_stay_two_windows(marked):
    series = marked(
        [["2014-02-14 02:00", "2014-02-14 04:00"], ["2014-02-14 03:00", "2014-02-14 05:00"]]
    )
    assert series.windows == ((2, 5), (3, 6))
    assert int(series.labels.sum()) == 4


def test_a_window_that_holds_no_row_is_said_and_left_out(marked):
    series = marked([["2014-02-14 02:00", "2014-02-14 04:00"], ["2015-01-01", "2015-01-02"]])
    assert series.windows == ((2, 5),)
    assert "Window [2015-01-01, 2015-01-02] holds no row of the series: left out." in series.repairs


def test_windows_that_are_all_outside_are_refused(marked):
    with pytest.raises(
        ValueError,
        match=r"no window holds a row of the series, which runs from "
        r"2014-02-14 00:00:00 to 2014-02-14 09",
    ):
        marked([["2015-01-01", "2015-01-02"]])


def test_no_window_means_that_all_is_normal_and_it_is_said(marked):
    series = marked({"folder/mine.csv": []})
    assert not series.labels.any()
    assert series.windows == ()
    assert series.repairs[0].endswith("has no window for this series: all rows are labeled normal.")


def test_windows_of_whole_days_hold_the_last_day(marked):
    lines = [
        "time,x",
        *(f"2014-02-{day} {hour:02}:00,{hour}" for day in (14, 15, 16) for hour in (0, 12)),
    ]
    series = marked([["2014-02-14", "2014-02-15"]], lines)
    assert series.windows == ((0, 4),)
    assert series.repairs == [
        "Windows that end on a date without a time of day include that whole day."
    ]


def test_windows_of_plain_times_are_plain_numbers(marked):
    assert marked([[2, 3.5]], ["time,x", "1,5", "2,7", "3,5", "4,8"]).windows == ((1, 3),)
    with pytest.raises(
        ValueError,
        match=r"the windows are ISO 8601, such as '2014-02-14', but the times .* are plain numbers",
    ):
        marked([["2014-02-14", "2014-02-15"]], ["time,x", "1,5", "2,7", "3,5", "4,8"])


def test_windows_of_a_series_without_times_count_its_rows(marked):
    series = marked([[1, 2]], ["x,y", "5,1", "7,4", "5,2", "8,5"])
    assert series.windows == ((1, 3),)
    assert "counted from 0" in series.repairs[0]
    with pytest.raises(
        ValueError,
        match=r"windows are row numbers, counted from 0. Got 2014-02-14, 2014-02-15.",
    ):
        marked([[0, 1], ["2014-02-14", "2014-02-15"]], ["x,y", "5,1", "7,4", "5,2"])


def test_a_zone_in_the_windows_alone_is_said(marked):
    series = marked([["2014-02-14T04:00+02:00", "2014-02-14T06:00+02:00"]])
    assert series.windows == ((2, 5),)
    assert (
        series.repairs[-1]
        == "The windows have a zone, the times of the series have none: all were read as UTC."
    )


def test_windows_win_over_a_column_that_looks_like_labels(marked):
    lines = ["time,x,label", *(f"{k},{k % 3},{k % 2}" for k in range(6))]
    series = marked([[2, 3]], lines)
    assert series.labels.tolist() == [False, False, True, True, False, False]
    assert series.names == ("x",)
    with pytest.raises(
        ValueError, match=r"asked for by label='label' and by windows. Give one of them"
    ):
        marked([[2, 3]], lines, label="label")


@pytest.mark.parametrize(
    ("windows", "why"),
    [
        ([["2014-02-14 05:00", "2014-02-14 04:00"]], r"the window \[.*\] ends before it starts"),
        (
            [["2014-02-14"]],
            r'window 1 is \["2014-02-14"\], not \[start, end\]. Windows are a JSON list',
        ),
        ([["2014-02-14", None]], "window 1 is"),
        ({"folder/mine.csv": [1]}, 'window 1 is "1", not'),
        ({"folder/mine.csv": True}, "holds true where windows should be"),
        (["from,to", "1,2"], r"has the columns from, to. Windows are"),
        (["[[1, 2"], r"is not complete JSON"),
        (["start,end", "1,"], r'window 1 is \["1", ""\], not'),
    ],
)
def test_a_windows_file_that_is_none_is_refused(marked, windows, why):
    with pytest.raises(ValueError, match=why):
        marked(windows)
