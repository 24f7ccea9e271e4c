"""Streams: row by row the answers of one go, within the delay of the smoothing; and restarts."""

from __future__ import annotations

import csv as reader
import io

import numpy as np
import pytest
from common_detection import as_series, csv, ran, wave
from test_time_grid import START, WEEK, working_weeks

from locant.anomaly.detector import Settings, detect, detect_stream, load, save
from locant.anomaly.detector.stream import Stream
from locant.anomaly.series import stream_rows
from locant.cli.detect import _until_interrupted

HOUR = np.timedelta64(1, "h")


def faulty(rows=600, seed=1):
    """A season with a spike, a level shift and a sensor that hangs, after clean rows."""
    values = wave(2 * rows, noise=0.2, seed=seed)
    clean, new = values[:rows], values[rows:].copy()
    new[150] += 5
    new[220:250] += 1.5
    new[320:350] = new[320]
    return clean, new, [(150, 151), (220, 250), (320, 350)]


def lines_of(values):
    return ["x0\n", *(f"{value:.6f}\n" for value in values[:, 0])]


def scores_of(lines, detector):
    """The scores of rows, one at a time."""
    scored = []
    found = detect_stream(lines, model=detector, on_row=lambda _, one: scored.append(one.score))
    return np.array(scored), found


@pytest.mark.parametrize("method", ["harmonic", "sub-pca", "nearest-window"])
def test_every_fault_of_one_go_is_flagged_row_by_row_within_the_smoothing(method):
    clean, new, faults = faulty()
    detector = detect(as_series(clean), Settings(method)).detector
    scores, found = scores_of(lines_of(new), detector)
    late = np.flatnonzero(scores > found.threshold.value)
    delay = 3 * detector.chosen.smooth
    near = np.zeros(len(new), bool)
    for start, stop in faults:
        assert any(event.start < stop and event.stop > start for event in found.events)
        assert ((late >= start) & (late < stop + delay)).any()
        near[start : stop + 2 * delay] = True
    assert (~near[late]).mean() <= 0.05


def test_what_a_stream_leaves_is_what_a_file_of_its_rows_gives():
    clean, new, _ = faulty()
    detector = detect(as_series(clean), Settings("harmonic")).detector
    _, found = scores_of(lines_of(new), detector)
    whole = detect(as_series(new.round(6)), model=detector)
    assert [(e.start, e.stop) for e in found.events] == [(e.start, e.stop) for e in whole.events]
    assert np.array_equal(found.scores, whole.scores)


def test_a_stream_knows_the_week_although_it_remembers_few_rows():
    values, _, _ = working_weeks(1, outages=0, weeks=18)
    clean, new = values[-1800:-900, None], values[-900:, None].copy()
    new[150] += 5  # twenty standard deviations of the noise
    detector = detect(as_series(clean), Settings("harmonic")).detector
    assert detector.method.context_rows() >= 3 * WEEK
    scores, found = scores_of(lines_of(new), detector)
    assert scores[150] > 1.5 * found.threshold.value
    assert (scores > found.threshold.value).sum() <= 20


@pytest.mark.parametrize("method", ["harmonic", "nearest-window"])
def test_a_restart_goes_on_as_if_there_had_been_none(method, tmp_path):
    clean, new, _ = faulty()
    detector = detect(as_series(clean), Settings(method)).detector
    whole, _ = scores_of(lines_of(new), detector)
    first, ended = scores_of(lines_of(new[:235]), detector)  # in the middle of a fault
    again, _ = scores_of(lines_of(new[235:]), load(save(ended.detector, tmp_path / "kept")))
    assert np.array_equal(np.concatenate([first, again]), whole)


def test_a_restart_of_the_command_goes_on(tmp_path):
    clean, new, _ = faulty(400)
    (tmp_path / "clean.csv").write_text(csv(clean))
    kept, start = tmp_path / "kept", np.datetime64("2014-02-14T00") + 400 * HOUR
    ran(
        tmp_path / "clean.csv",
        "--method",
        "harmonic",
        "--no-picture",
        "--out",
        tmp_path,
        "--save",
        kept,
    )

    def scores(text, model):
        asked = ("--no-picture", "--out", tmp_path, "--save", tmp_path / "next")
        printed = ran("-", "--model", model, *asked, stdin=text).stdout
        return [row["score"] for row in reader.DictReader(io.StringIO(printed))]

    whole = scores(csv(new, start=str(start)), kept)
    first = scores(csv(new[:155], start=str(start)), kept)
    again = scores(csv(new[155:], start=str(start + 155 * HOUR)), tmp_path / "next")
    assert first + again == whole


def test_rows_that_a_stream_lacks_are_hidden_as_in_a_file():
    values = wave(900, noise=0.1)
    times = START + np.arange(900) * HOUR
    kept = np.ones(900, bool)
    kept[400:430] = kept[700:721] = False  # in what is learned, and in the stream
    learned = kept[:600]
    detector = detect(
        as_series(values[:600][learned], times[:600][learned]), Settings("sub-pca")
    ).detector
    stream = Stream(detector)
    scores = []
    for row, time in zip(values[600:][kept[600:]], times[600:][kept[600:]], strict=True):
        position = float(detector.time_axis.positions(np.array([time]), 1)[0])
        scores.append(stream.push(row, position).score)
    assert np.isfinite(scores).all()
    assert max(scores) < 1.5 * detector.calibration.threshold.value


def test_empty_cells_in_what_was_learned_do_not_reach_a_stream(tmp_path):
    values = wave(500)
    values[450:460] = np.nan
    detector = detect(values, Settings("sub-pca")).detector
    rows = list(stream_rows(lines_of(wave(100, seed=4))))
    stream = Stream(detector)
    scores = [stream.push(row.values, 500.0 + at).score for at, row in enumerate(rows)]
    assert np.isfinite(scores).all()
    assert min(scores) > 0


def test_an_interrupt_ends_a_stream_and_keeps_what_was_read():
    def lines():
        yield "x0"
        yield "1.5"
        raise KeyboardInterrupt

    assert list(_until_interrupted(lines())) == ["x0", "1.5"]
