"""Text tables: separators, headers, empty lines, quotation marks and blocks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from locant.anomaly.series import delimited
from locant.anomaly.series.delimited import read_delimited
from locant.anomaly.series.input_file import scan_text


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
