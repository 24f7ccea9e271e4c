"""Label columns: 0/1, true/false, normal/anomaly."""

from __future__ import annotations

import polars as pl
import pytest

from locant.anomaly.series import read_series


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
