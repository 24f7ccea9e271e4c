"""The value columns: numbers that vary; what is left out is noted."""

from __future__ import annotations


def test_text_among_numbers_is_named_with_its_first_line_and_taken_as_missing(read):
    series = read(["x,y", "1,1", "error,2", "3,1", "??,5", "5,3"])
    assert series.values[:, 0].tolist() == [1, 2, 3, 4, 5]
    assert (
        series.repairs[0]
        == "x: 2 cells are not numbers, the first ('error' on line 3): treated as missing."
    )


def test_columns_of_text_constants_and_nothing_are_left_out_and_said(read):
    series = read(["x,name,same,none,mixed", "1,a,5,,b", "2,b,5,NA,1", "4,c,NA,,c"])
    assert series.names == ("x",)
    assert series.repairs == [
        "Column name holds text ('a' on line 2): left out.",
        "Column same is constant (5): left out.",
        "Column none has no values: left out.",
        "Column mixed holds text ('b' on line 2): left out.",
    ]


def test_a_constant_column_that_is_asked_for_is_kept(read):
    series = read(["x,stuck", "1,5", "2,5", "4,5"], columns=["stuck", "x"])
    assert series.names == ("stuck", "x")
    assert series.values[:, 0].tolist() == [5, 5, 5]
    assert series.repairs == []


def test_a_column_that_only_counts_rows_beside_a_time_is_left_out_and_said(read):
    series = read(["index,date,x", "0,2014-02-14,3", "1,2014-02-15,1", "2,2014-02-16,7"])
    assert series.names == ("x",)
    assert series.repairs == ["Column index only counts the rows: left out."]
    assert read([",date,x", "0,2014-02-14,3", "1,2014-02-15,1"]).names == ("x",)
