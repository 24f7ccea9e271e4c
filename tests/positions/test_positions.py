"""Where tokens are: counting, padding, packing, grids, time stamps, and the samplers of
training."""

from __future__ import annotations

import datetime as dt
import math
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from locant.positions import (
    cape,
    consecutive,
    from_mask,
    grid,
    packed,
    randomized,
    skips,
    timestamps,
)

quick = settings(max_examples=50, deadline=None)
seeded = torch.Generator().manual_seed


def refused(call, *fragments):
    """The call is refused with a ValueError that says all of the fragments."""
    with pytest.raises(ValueError) as caught:
        call()
    assert [one for one in fragments if one not in str(caught.value)] == [], str(caught.value)


def test_consecutive_counts_from_its_start():
    assert consecutive(4).equal(torch.tensor([0, 1, 2, 3]))
    assert consecutive(2, start=-1).tolist() == [-1, 0]
    assert consecutive(0, start=5, device="meta").shape == (0,)


@pytest.mark.parametrize("wrong", [-1, 2.5, True, None, "3"])
def test_consecutive_refuses_what_is_no_length(wrong):
    refused(lambda: consecutive(wrong), "length", repr(wrong))


def test_padding_on_any_side_leaves_the_tokens_counted_from_zero():
    rows = {"..xx": [0, 0, 0, 1], "xxx.": [0, 1, 2, 0], ".xx.": [0, 0, 1, 0], "....": [0, 0, 0, 0]}
    mask = torch.tensor([[token == "x" for token in row] for row in rows])
    assert from_mask(mask).tolist() == list(rows.values())
    assert [from_mask(row).tolist() for row in mask] == list(rows.values())


@quick
@given(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=1, max_size=4))
def test_tokens_of_a_padded_row_count_up_by_one_and_padding_is_zero(rows):
    for pos, real in zip(from_mask(torch.tensor(rows)), torch.tensor(rows), strict=True):
        assert pos[real].tolist() == list(range(int(real.sum())))
        assert not pos[~real].any()


@pytest.mark.parametrize(
    "mask", [torch.ones(2, 3), torch.ones(3).long(), torch.ones(1, 2, 3).bool(), [[True]]]
)
def test_from_mask_refuses_what_is_no_boolean_row(mask):
    refused(lambda: from_mask(mask), "mask", "Got")


@quick
@given(
    st.lists(st.integers(1, 7), min_size=1, max_size=6),
    st.sampled_from([list, tuple, torch.tensor, np.array]),
)
def test_packed_sequences_start_again_and_see_only_themselves(lengths, kind):
    pos, mask = packed(kind(lengths))
    assert pos.tolist() == [p for length in lengths for p in range(length)]
    assert mask.equal(torch.block_diag(*[torch.ones(n, n) for n in lengths]).bool())


@pytest.mark.parametrize("lengths", [[0, 1], [2, -1], [], [2.5], [True], [None], 5, "ab"], ids=repr)
def test_packed_refuses_lengths_that_are_no_lengths(lengths):
    refused(lambda: packed(lengths), "packed", "length")


@pytest.mark.parametrize("start", [0, 1, 2, 7])
def test_positions_of_padded_and_packed_rows_count_from_their_start(start):
    mask = torch.tensor([[False, True, True, True], [True, True, False, False]])
    pos = from_mask(mask, start=start)
    assert torch.equal(pos[mask], from_mask(mask)[mask] + start)
    assert pos[~mask].eq(start).all()  # inside every table that the tokens are inside of
    apart, plain = packed([3, 2], start=start), packed([3, 2])
    assert torch.equal(apart.positions, plain.positions + start)
    assert torch.equal(apart.mask, plain.mask)


@pytest.mark.parametrize("start", [-1, 1.5, "2", True, None])
def test_a_start_that_is_no_whole_number_from_zero_on_is_refused(start):
    refused(lambda: from_mask(torch.ones(3, dtype=torch.bool), start=start), "from_mask", "start")
    refused(lambda: packed([3], start=start), "packed", "start")


def test_a_grid_goes_row_by_row():
    assert grid(2, 3).tolist() == [[r, c] for r in range(2) for c in range(3)]
    assert grid(2, 3, 4).tolist() == [
        [t, r, c] for t in range(2) for r in range(3) for c in range(4)
    ]


@pytest.mark.parametrize(
    "sizes", [(), (3,), ([2, 3],), (0, 2), (2, -1), (2.0, 2), (True, 2), ("a", 2)], ids=repr
)
def test_a_grid_refuses_sizes_that_are_no_sizes(sizes):
    refused(lambda: grid(*sizes), "grid", "Got")


HOURS = [0, 1, 2, 4]  # from midnight before the clocks change in Berlin
NAIVE = [dt.datetime(2024, 3, 31, hour) for hour in HOURS]
ZONED = [one.replace(tzinfo=dt.UTC) for one in NAIVE]
ISO = [one.isoformat() for one in NAIVE]
WAYS = {
    f"datetime64[{u}]": np.array(NAIVE, dtype=f"datetime64[{u}]")
    for u in ("ns", "us", "ms", "s", "m", "h")
}
WAYS |= {
    "datetimes": NAIVE,
    "datetimes in UTC": ZONED,
    "datetimes in two zones": [
        *ZONED[:2],
        *(t.astimezone(dt.timezone(dt.timedelta(hours=5.5))) for t in ZONED[2:]),
    ],
    "pandas Series, cut": pd.Series([dt.datetime(1999, 1, 1), *NAIVE]).iloc[1:],
    "pandas Series in Berlin": pd.Series(ZONED).dt.tz_convert("Europe/Berlin"),
    "DatetimeIndex of nanoseconds": pd.DatetimeIndex(NAIVE).as_unit("ns"),
    "DatetimeIndex in Berlin": pd.DatetimeIndex(ZONED).tz_convert("Europe/Berlin"),
    "pandas Timestamps": [pd.Timestamp(one).tz_convert("Europe/Berlin") for one in ZONED],
    "polars Series": pl.Series(NAIVE),
    "polars Series in Berlin": pl.Series(ZONED).dt.convert_time_zone("Europe/Berlin"),
    "ISO strings": ISO,
    "ISO strings with Z": [one + "Z" for one in ISO],
    "pandas strings": pd.Series(ISO),
    "polars strings": pl.Series(ISO),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("times", WAYS.values(), ids=WAYS)
def test_the_same_hours_are_the_same_positions_however_they_are_written(times):
    torch.testing.assert_close(
        timestamps(times, unit="h"), torch.tensor(HOURS, dtype=torch.float64), rtol=0, atol=0
    )


DAYS = {
    "datetime64[D]": (np.array(["2024-02-28", "2024-03-01"], dtype="datetime64[D]"), [0, 2]),
    "datetime64[W]": (np.array([10, 11, 13], dtype="datetime64[W]"), [0, 7, 21]),
    "datetime64[M]": (
        np.array(["2024-01", "2024-02", "2024-03"], dtype="datetime64[M]"),
        [0, 31, 60],
    ),
    "datetime64[Y]": (np.array(["2023", "2024", "2025"], dtype="datetime64[Y]"), [0, 365, 731]),
    "datetime64[ns] far apart": (
        np.array(["1678-01-01", "2262-01-01"], dtype="datetime64[ns]"),
        [0, 213301],
    ),
    "dates": ([dt.date(2024, 2, 28), dt.date(2024, 3, 1)], [0, 2]),
    "polars dates": (pl.Series([dt.date(2024, 2, 28), dt.date(2024, 3, 1)]), [0, 2]),
}


@pytest.mark.parametrize(("times", "expected"), DAYS.values(), ids=DAYS)
def test_days_weeks_months_and_years_have_their_true_lengths(times, expected):
    assert timestamps(times, unit="D").tolist() == expected


def test_a_minute_in_every_unit():
    for unit, minute in {
        "ns": 60e9,
        "us": 60e6,
        "ms": 6e4,
        "s": 60,
        "min": 1,
        "h": 1 / 60,
        "D": 1 / 1440,
    }.items():
        assert timestamps(["2024-01-01T00:00", "2024-01-01T00:01"], unit=unit).tolist() == [
            0,
            minute,
        ]


NUMBERS = {
    "floats": [10.0, 10.5, 12.0],
    "float64 tensor": torch.tensor([10.0, 10.5, 12.0], dtype=torch.float64),
    "int64 tensor": torch.tensor([20, 21, 24]),
    "uint8, descending": np.array([24, 21, 20], dtype=np.uint8),
    "int8, far apart": torch.tensor([-100, 0, 100], dtype=torch.int8),
    "bfloat16 tensor": torch.tensor([10.0, 10.5, 12.0], dtype=torch.bfloat16),
    "polars numbers": pl.Series([20, 21, 24]),
    "nanoseconds since 1970": np.array([0, 1, 5]) + 1_700_000_000_000_000_000,
}


@pytest.mark.parametrize("times", NUMBERS.values(), ids=NUMBERS)
def test_numbers_are_counted_from_the_first_in_the_unit_given(times):
    plain = [one.item() if hasattr(one, "item") else one for one in times]
    assert timestamps(times, unit=0.5).tolist() == [(one - plain[0]) / 0.5 for one in plain]


def test_rows_are_each_counted_from_their_own_first_time():
    rows = [[10.0, 11.0, 13.0], [100.0, 101.0, 104.0]]
    assert timestamps(rows, unit=1).tolist() == [[0, 1, 3], [0, 1, 4]]
    assert timestamps(np.array(rows).astype("datetime64[s]"), unit="s").tolist() == [
        [0, 1, 3],
        [0, 1, 4],
    ]
    assert timestamps([NAIVE, NAIVE[::-1]], unit="h").tolist() == [HOURS, [0, -2, -3, -4]]


@quick
@given(st.integers(-(10**18), 10**18), st.integers(1, 10**12), st.integers(1, 50))
def test_regular_times_are_zero_one_two(start, step, count):
    stamps = start + step * np.arange(count)
    assert timestamps(stamps.astype("datetime64[ns]")).tolist() == list(range(count))
    assert timestamps(step * np.arange(count)).tolist() == list(range(count))


@quick
@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=30))
def test_without_a_unit_one_position_is_the_median_step_that_is_not_zero(seconds):
    steps = [abs(b - a) for a, b in pairwise(seconds) if a != b] or [1.0]
    expected = pytest.approx([(one - seconds[0]) / np.median(steps) for one in seconds])
    assert timestamps([float(one) for one in seconds]).tolist() == expected
    assert timestamps(np.array(seconds, dtype="datetime64[s]")).tolist() == expected


def test_seconds_since_1970_keep_their_milliseconds():
    pos = timestamps([1.7e9 + k / 1000 for k in range(2000)], unit=0.001)
    assert (pos - torch.arange(2000)).abs().max() < 1e-3


@pytest.mark.parametrize("years", [(1500, 2024), (1700, 2200), (1, 9999)])
def test_a_span_too_long_for_nanoseconds_has_its_true_length(years):
    first, last = (dt.datetime(year, 1, 1) for year in years)
    assert timestamps([first, last], unit="D").tolist() == [0, (last - first).days]


REFUSED = {
    "NaT": (np.array(["2024-01-01", "NaT"], dtype="datetime64[s]"), "number 1", "missing"),
    "None among datetimes": ([*NAIVE, None], "number 4", "missing"),
    "pandas NaT in a zone": (pd.Series([ZONED[0], pd.NaT]), "number 1", "missing"),
    "polars null": (pl.Series([NAIVE[0], None]), "number 1", "missing"),
    "NaN": ([1.0, 2.0, math.nan], "number 2", "not a finite number"),
    "infinite": ([1.0, -math.inf], "number 1", "not a finite number"),
    "null among polars numbers": (pl.Series([1, None, 3]), "number 1", "Drop"),
    "None among numbers": ([1.0, None], "number 1", "Drop"),
    "nothing": ([], "at least one time"),
    "rows of nothing": (np.zeros((2, 0)), "at least one time"),
    "one datetime": (NAIVE[0], "(T) or (B,T)"),
    "a cube": (np.zeros((1, 2, 3)), "(T) or (B,T)", "(1, 2, 3)"),
    "rows of unequal length": ([[1.0, 2.0], [3.0]], "(T) or (B,T)"),
    "text": (["yesterday", "today"], "yesterday", "ISO 8601"),
    "complex numbers": ([1j, 2j], "complex"),
    "a whole table": (pd.DataFrame({"a": [1.0, 2.0, 3.0]}), "column"),
    "numbers among datetimes": ([NAIVE[0], 5], "5 is not a time"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("times", "fragments"), [(row[0], row[1:]) for row in REFUSED.values()], ids=REFUSED
)
def test_what_is_no_row_of_times_is_refused_in_a_sentence(times, fragments):
    refused(lambda: timestamps(times), *fragments)


@pytest.mark.parametrize("times", [NAIVE, [1.0, 2.0]], ids=["times", "numbers"])
@pytest.mark.parametrize("unit", ["hour", 0, -1, math.nan, True, [1]], ids=str)
def test_a_unit_that_is_none_is_refused(times, unit):
    refused(lambda: timestamps(times, unit=unit), "timestamps", "unit", repr(unit))


def test_times_take_a_word_and_numbers_a_number_as_unit():
    refused(lambda: timestamps([1.0, 2.0], unit="s"), "plain numbers")
    refused(lambda: timestamps(NAIVE, unit=60.0), "Allowed: ns, us, ms, s, min, h, D")


SAMPLERS = {
    "randomized": lambda pos, generator: randomized(pos, 1000, generator=generator),
    "cape": lambda pos, generator: cape(
        pos, shift=50.0, jitter=0.4, stretch=2.0, generator=generator
    ),
    "skips": lambda pos, generator: skips(pos, 1000, chunks=3, generator=generator),
}


@pytest.mark.parametrize("sample", SAMPLERS.values(), ids=SAMPLERS)
def test_a_sampler_goes_by_its_seed_and_each_row_by_itself(sample):
    pos = consecutive(20).expand(8, 20)
    new = sample(pos, seeded(1))
    with torch.device(
        "meta"
    ):  # random numbers come from where the generator is, not from the default device
        assert sample(pos, seeded(1)).equal(new)
    assert not sample(pos, seeded(2)).equal(new)
    assert len({tuple(row) for row in new.tolist()}) == 8
    assert (new[:, 1:] > new[:, :-1]).all()


@quick
@given(st.integers(1, 20), st.integers(0, 30), st.integers(1, 6), st.integers(0, 99))
def test_sampled_positions_rise_stay_below_the_limit_and_keep_equals_equal(
    count, spare, chunks, seed
):
    limit, generator = count + spare, seeded(seed)
    padded = from_mask(torch.tensor([[False] * 3 + [True] * count, [True] * count + [False] * 3]))
    for pos in (
        consecutive(count),
        consecutive(count).int(),
        packed([count, max(count - 1, 1)]).positions,
        padded,
    ):
        for new in (
            randomized(pos, limit, generator=generator),
            skips(pos, limit, chunks=chunks, generator=generator),
        ):
            assert 0 <= new.min() <= new.max() < limit
            for old_row, row in zip(
                pos.reshape(-1, pos.shape[-1]), new.reshape(-1, pos.shape[-1]), strict=True
            ):
                pairs = sorted(set(zip(old_row.tolist(), row.tolist(), strict=True)))
                assert [old for old, _ in pairs] == list(
                    range(count)
                )  # one new position for each old one
                assert all(low < high for (_, low), (_, high) in pairwise(pairs))
        jumps = (
            skips(consecutive(count), limit, chunks=chunks, generator=generator).diff() > 1
        ).sum()
        assert jumps < chunks


@quick
@given(st.floats(0, 100), st.floats(0, 0.49), st.floats(1, 8), st.integers(0, 99))
def test_cape_shifts_and_stretches_a_row_and_jitters_a_token_within_its_bounds(
    shift, jitter, stretch, seed
):
    pos = consecutive(10).double()
    moved = cape(pos, shift=shift, generator=seeded(seed)) - pos
    assert moved.abs().max() <= shift + 1e-9
    assert (moved - moved[0]).abs().max() < 1e-9
    assert (cape(pos, jitter=jitter, generator=seeded(seed)) - pos).abs().max() <= jitter + 1e-9
    factor = cape(pos, stretch=stretch, generator=seeded(seed))[1].item()
    assert 1 / stretch - 1e-6 <= factor <= stretch + 1e-6
    assert torch.allclose(cape(pos, stretch=stretch, generator=seeded(seed)), factor * pos)
    both = cape(packed([5, 5]).positions, shift=shift, stretch=stretch, generator=seeded(seed))
    assert both[:5].equal(both[5:])


def test_samplers_hit_the_averages_that_their_papers_imply():
    many = consecutive(4).expand(4000, 4)
    averages = randomized(many, 100, generator=seeded(0)).double().mean(0)
    assert averages.tolist() == pytest.approx(
        [(p + 1) * 101 / 5 - 1 for p in range(4)], abs=1
    )  # order statistics
    assert skips(many, 104, generator=seeded(0))[:, -1].double().mean().item() == pytest.approx(
        3 + 50, abs=1.5
    )
    assert cape(many, stretch=4.0, generator=seeded(0))[:, 1].log().mean().item() == pytest.approx(
        0, abs=0.05
    )


@pytest.mark.parametrize("sampler", [randomized, skips])
@pytest.mark.parametrize(
    "pos", [torch.rand(3), torch.tensor([-1]), torch.ones(2, 0).long(), torch.ones(3).bool(), [0]]
)
def test_samplers_of_whole_numbers_refuse_other_positions(sampler, pos):
    refused(lambda: sampler(pos, 9), sampler.__name__, "whole-number")


@pytest.mark.parametrize("sampler", [randomized, skips])
@pytest.mark.parametrize("limit", [3, 0, -1, 2.5, True, None, "9"])
def test_a_limit_that_cannot_hold_the_positions_is_refused(sampler, limit):
    refused(lambda: sampler(consecutive(4), limit), sampler.__name__, "limit", repr(limit))


@pytest.mark.parametrize("option", ["shift", "jitter", "stretch"])
@pytest.mark.parametrize("value", [-1, math.nan, math.inf, None, "1"])
def test_cape_refuses_what_is_no_amount(option, value):
    refused(lambda: cape(consecutive(3), **{option: value}), "cape", option, repr(value))
    refused(lambda: cape(consecutive(3), stretch=0.5), "stretch ≥ 1", "0.5")
    refused(lambda: skips(consecutive(3), 9, chunks=0), "chunks", "0")
