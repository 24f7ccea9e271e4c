"""Time, not row numbers: absent rows are hidden, seasons are times, gaps are gaps, and no value
that is not in the file is an event."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from common_detection import as_series, ran, wave

from locant.anomaly.detector import Settings, detect
from locant.anomaly.detector.season import find_seasons
from locant.anomaly.detector.time_grid import TimeAxis, find_step

WEEK, START = 168, np.datetime64("2014-01-06T00", "ns")
HOUR = np.timedelta64(1, "h")


def working_weeks(seed, outages=6, weeks=26):
    """Hourly rows of working weeks with one Wednesday that looks like a Sunday, and outages of the
    logger elsewhere: the values, their times, and the first and last hour of that Wednesday."""
    draw = np.random.default_rng(seed)
    time = np.arange(weeks * WEEK)
    hour, working = time % 24, time // 24 % 7 < 5
    busy, idle = 4 * np.exp(-(((hour - 13) / 4) ** 2)), np.exp(-(((hour - 15) / 5) ** 2))
    odd = 16 * WEEK + 2 * 24 + np.arange(24)
    working[odd] = False
    values = 10 + np.where(working, busy, idle) + draw.normal(0, 0.25, len(time))
    kept = np.ones(len(time), bool)
    for number in range(outages):
        start = int(draw.integers(0, 300)) + WEEK * (2 + 2 * number)
        kept[start : start + int(draw.integers(24, 48))] = False
    assert kept[odd].all()
    times = START + time * HOUR
    return values[kept], times[kept], (times[odd[0]], times[odd[-1]])


def judged(found, first, last):
    """Whether a period was found, and how many events lie outside."""
    inside = [event.end_time >= first and event.start_time <= last for event in found.events]
    return any(inside), inside.count(False)


def test_an_odd_wednesday_is_found_among_outages_and_the_week_is_told_as_a_week():
    values, times, odd = working_weeks(0)
    found = detect(as_series(values[:, None], times), Settings("nearest-window"))
    hit, others = judged(found, *odd)
    assert hit
    assert others <= 1
    assert found.chosen.season == WEEK
    assert "Season: 168 hours, 24 hours, found" in " ".join(found.chosen.why)


def test_gaps_are_reported_as_gaps(tmp_path):
    values = wave(400)
    hours = np.r_[0:100, 130:300, 301:431]
    times = np.datetime_as_string(START + hours * HOUR, unit="m")
    rows = [f"{time},{value:.5f}" for time, (value,) in zip(times, values, strict=True)]
    (tmp_path / "mine.csv").write_text("\n".join(["time,x", *rows]))
    asked = ("--method", "harmonic", "--no-picture", "--out", tmp_path / "out")
    done = ran(tmp_path / "mine.csv", *asked)
    told = " ".join(done.stdout.split())
    assert "2 gaps: 31 of 431 rows are absent, most between 2014-01-10 03:00:00 and" in told
    gaps = json.loads((tmp_path / "out" / "events.json").read_text())["gaps"]
    assert [gap["absent_rows"] for gap in gaps] == [30, 1]
    assert gaps[1] == {
        "after": "2014-01-18T11:00:00",
        "before": "2014-01-18T13:00:00",
        "absent_rows": 1,
    }


@pytest.mark.parametrize("method", ["harmonic", "sub-pca", "nearest-window"])
def test_a_value_that_is_not_in_the_file_is_never_an_event(method, tmp_path):
    values = np.concatenate([wave(480), wave(480, seed=1)], 1)
    values[200:230, 0] = np.nan  # a line through these would be nothing like the season
    values[300] = np.nan
    values[400:406, 1] += 3
    times = np.datetime_as_string(START + np.arange(480) * HOUR, unit="m")
    cells = [["" if np.isnan(value) else f"{value:.5f}" for value in row] for row in values]
    lines = [",".join([time, *row]) for time, row in zip(times, cells, strict=True)]
    (tmp_path / "mine.csv").write_text("\n".join(["time,a,b", *lines]))
    found = detect(tmp_path / "mine.csv", method=method, out=tmp_path / "out")
    fault = [event for event in found.events if event.start < 406 and event.stop > 400]
    assert [event.columns[0] for event in fault] == ["b"]
    for event in found.events:
        assert not np.isnan(values[event.peak]).all()
        assert not (200 <= event.peak < 230 and event.columns[0] == "a")
        assert event.start != 300
        assert event.stop != 301
    assert not found.flags[300]
    written = pl.read_csv(tmp_path / "out" / "scores.csv")
    assert written["a"].null_count() == 31
    assert written["b"].null_count() == 1


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_a_season_is_found_with_any_share_of_absent_rows(share):
    draw = np.random.default_rng(3)
    kept = draw.random(1200) > share
    times = (START + np.arange(1200) * HOUR)[kept]
    axis = TimeAxis.of(as_series(wave(1200, noise=0.3)[kept], times))
    assert (axis.step, axis.regular) == (3600.0, True)
    assert find_seasons(wave(1200, noise=0.3), np.tile(kept[:, None], 1)) == (24,)
    values = wave(1200, noise=0.3)
    values[600:606] += 4
    found = detect(as_series(values[kept], times), Settings("harmonic"))
    assert found.chosen.season == 24
    assert judged(found, START + 600 * HOUR, START + 605 * HOUR) == (True, 0)


@pytest.mark.parametrize("method", ["harmonic", "sub-pca", "nearest-window"])
def test_an_irregular_series_goes_by_the_clock(method):
    draw = np.random.default_rng(0)
    minutes = np.cumsum(draw.exponential(10.0, 1500))
    values = 3 * np.sin(2 * np.pi * minutes / 480) + draw.normal(0, 0.2, 1500)
    values[900:910] += 3
    times = START + (minutes * 60e9).astype("timedelta64[ns]")
    found = detect(as_series(values[:, None], times), Settings(method))
    step = found.detector.time_axis.step
    assert not found.detector.time_axis.regular
    assert found.chosen.season * step == pytest.approx(480 * 60, rel=0.03)
    assert any(895 <= event.peak < 915 for event in found.events)
    assert len(found.events) <= 2


def test_rows_that_lack_none_are_scored_alike_with_and_without_times():
    values = wave(400)
    values[300:304] += 2
    counted = detect(as_series(values), Settings("sub-pca"))
    timed = detect(as_series(values, START + np.arange(400) * HOUR), Settings("sub-pca"))
    assert np.allclose(counted.scores, timed.scores)
    assert timed.gaps == counted.gaps == ()


def test_a_grid_with_jitter_and_months_is_regular_and_events_at_random_times_are_not():
    draw = np.random.default_rng(0)
    jitter = 300 * np.arange(500) + draw.uniform(-10, 10, 500)
    assert find_step(jitter) == (pytest.approx(300, rel=0.02), True)
    months = np.arange("2010-01", "2020-01", dtype="datetime64[M]").astype("datetime64[s]")
    assert find_step((months - months[0]).astype(float))[1]
    assert not find_step(np.cumsum(draw.exponential(1.0, 500)))[1]
