"""Cells of text: what is a number, what is missing, and which mark stands before a fraction."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from locant.anomaly.series import number_format
from locant.anomaly.series.number_format import (
    PLAIN,
    NumberFormat,
    parse_number,
    parse_numbers,
)

TWO = ["1,5", "2,25", "-3,75"]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_every_number_that_python_writes_is_read_back_exactly(values):
    read = parse_numbers(pl.Series([repr(value) for value in values]))
    assert read.values.tolist() == values
    assert not read.is_text.any()


@given(
    st.text("019.,+-eE _naif", max_size=6)
    | st.from_regex(r"\A[+-]?[0-9]{0,2}\.?[0-9]{0,2}([eE][+-]?[0-9])?\Z")
)
def test_what_is_a_number_is_what_python_calls_one_without_its_underscores(cell):
    read = parse_numbers(pl.Series([cell]))
    try:
        want = math.nan if "_" in cell else float(cell)
    except ValueError:
        want = math.nan
    want = want if math.isfinite(want) else math.nan
    assert read.values.tolist() == [want] or (math.isnan(want) and np.isnan(read.values[0]))


@pytest.mark.parametrize(
    "cell",
    ["", " ", "NA", "n/a", "NaN", "null", "None", "-", "?", "inf", "-Inf", "+infinity", None],
)
def test_a_missing_value_is_neither_a_number_nor_text(cell):
    read = parse_numbers(pl.Series([cell, "1"]))
    assert np.isnan(read.values[0])
    assert read.is_text.tolist() == read.overflows.tolist() == [False, False]


@pytest.mark.parametrize(
    "cell", ["abc", "1.2.3", "1,5", "0x10", "１", "1 000", "12%", "--1", "e5", ".", "1_000"]
)
def test_what_is_no_number_is_text(cell):
    assert parse_numbers(pl.Series([cell])).is_text.tolist() == [True]


@given(
    st.text("019.,+-eE _naif", max_size=6) | st.floats().map(repr),
    st.sampled_from([PLAIN, NumberFormat(","), NumberFormat(",", ".")]),
)
def test_one_cell_is_read_as_a_column_is(cell, form):
    column, one = parse_numbers(pl.Series([cell]), form), parse_number(cell, form)
    assert (one is None) == bool(column.is_text[0] or column.overflows[0])
    assert one is None or np.array_equal([one], column.values, equal_nan=True)


def test_a_column_of_many_blocks_is_read_like_one(monkeypatch):
    column = pl.Series([str(k) if k % 3 else "word" for k in range(50)])
    whole = parse_numbers(column)
    monkeypatch.setattr(number_format, "BLOCK_CELLS", 7)
    for one, other in zip(parse_numbers(column), whole, strict=True):
        assert np.array_equal(one, other, equal_nan=True)


@pytest.mark.parametrize(
    ("form", "cell", "want"),
    [
        (NumberFormat(","), "1,5", 1.5),
        (NumberFormat(",", "."), "1.234.567,5", 1234567.5),
        (NumberFormat(".", ","), "1,234.5", 1234.5),
        (NumberFormat(".", ","), "12,34", math.nan),
        (NumberFormat(".", ","), "0,123", math.nan),
        (NumberFormat(","), "1.5", math.nan),
    ],
)
def test_the_number_format_says_what_a_number_is(form, cell, want):
    assert parse_numbers(pl.Series([cell]), form).values.tolist() == pytest.approx(
        [want], nan_ok=True
    )


@pytest.mark.parametrize(
    ("column", "want", "how"),
    [
        (TWO, [1.5, 2.25, -3.75], "a decimal comma, as in '1,5'"),
        (["1,234", "0,5", "7"], [1.234, 0.5, 7], "a decimal comma, as in '1,234'"),
        (["1.234,5", "2.000", "3"], [1234.5, 2000, 3], "a decimal comma, as in '1.234,5'"),
        (["1,234", "0.5", "3"], [1234, 0.5, 3], "a comma between the thousands, as in '1,234'"),
        (
            ["1,234,567", "3,000", "8"],
            [1234567, 3000, 8],
            "a comma between the thousands, as in '1,234,567'",
        ),
    ],
)
def test_a_comma_is_read_as_the_file_settles_it(read, column, want, how):
    series = read(["n;x", *(f"{k};{cell}" for k, cell in enumerate(column))])
    assert series.values.ravel().tolist() == want
    assert series.repairs == [f"Numbers were read with {how} of column x."]


def test_another_column_may_settle_the_comma(read):
    assert read(["a;b", "1,234;0,5", "2,345;0,7"]).values.tolist() == [[1.234, 0.5], [2.345, 0.7]]


def test_a_comma_that_nothing_settles_is_refused(read):
    with pytest.raises(
        ValueError,
        match=r"column x: '1,234' may be 1.234 or 1234, and nothing in the file settles it.\n  Wr",
    ):
        read(["x;y", "1,234;1", "2,345;2"])


def test_two_ways_of_writing_numbers_are_refused(read):
    with pytest.raises(
        ValueError, match=r"writes numbers in two ways: '1,5' and '2.5'.\n  Write all"
    ):
        read(["x;y", "1,5;1", "2.5;2"])


def test_commas_in_a_column_of_words_decide_nothing(read):
    series = read(["x;note", "1.5;1,5", "2.5;so, so", "3;well, well"])
    assert series.values.ravel().tolist() == [1.5, 2.5, 3]


@pytest.mark.parametrize(
    "lines",
    [
        ["x", *TWO],
        ["x;y", *(f"{cell};{cell}" for cell in TWO)],
        ["x\ty", *(f"{c}\t{c}" for c in TWO)],
    ],
)
def test_decimal_commas_do_not_cut_cells(read, lines):
    assert read(lines).values[:, -1].tolist() == [1.5, 2.25, -3.75]


def test_quoted_decimal_commas_are_read_in_a_file_with_commas_between_cells(read):
    assert read(["x,y", '"1,5","0,5"', '"2,5","0,25"']).values.tolist() == [[1.5, 0.5], [2.5, 0.25]]
