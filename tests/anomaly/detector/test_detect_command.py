"""`locant detect`: the files it writes, what it prints, and what it refuses with a sentence."""

from __future__ import annotations

import csv as reader
import io
import json
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from common_detection import csv, ran, refused, wave

from locant.anomaly import baselines
from locant.anomaly.series import input_file
from locant.cli.detect import _detect_pipe

PLAIN = ("--method", "harmonic", "--no-picture")


@pytest.fixture
def file(tmp_path):
    """A seasonal series with a fault at rows 200..203, and a place for the files."""
    values = wave(300)
    values[200:204] += 3
    path = tmp_path / "mine.csv"
    path.write_text(csv(values))
    return path


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_files_hold_scores_events_and_a_picture(file, tmp_path):
    done = ran(file, "--method", "sub-pca", "--parquet", "--out", tmp_path / "out")
    assert files(tmp_path / "out") == [
        "detected.png",
        "events.csv",
        "events.json",
        "scores.csv",
        "scores.parquet",
    ]
    scores = pl.read_csv(tmp_path / "out" / "scores.csv")
    assert scores.columns == ["row", "time", "score", "event", "x0", "x0 expected", "x0 score"]
    assert len(scores) == 300
    assert (
        pl.read_parquet(tmp_path / "out" / "scores.parquet")["score"].to_list()
        == scores["score"].to_list()
    )
    (event,) = pl.read_csv(tmp_path / "out" / "events.csv").to_dicts()
    assert 198 <= event["first_row"] <= 200 <= 203 <= event["last_row"] <= 205
    assert event["start"].startswith("2014-02-22T")
    assert event["columns"] == "x0"
    told = json.loads((tmp_path / "out" / "events.json").read_text())
    assert told["events"][0]["peak_row"] == event["peak_row"]
    assert "1 event in mine.csv" in done.stdout
    assert "Self-test" in done.stdout
    assert (tmp_path / "out" / "detected.png").read_bytes().startswith(b"\x89PNG")


def test_a_quiet_series_gives_files_without_events(tmp_path):
    path = tmp_path / "quiet.csv"
    path.write_text(csv(wave(400)))
    done = ran(path, *PLAIN, "--out", tmp_path / "out", "--threshold", "50")
    assert "No event" in done.stdout
    assert (tmp_path / "out" / "events.csv").read_text().startswith("event,start,end")


def test_labels_bring_measures_and_baselines_but_never_point_adjusted_f1(file, tmp_path):
    (tmp_path / "labels.json").write_text('[["2014-02-22T08:00", "2014-02-22T11:00"]]')
    done = ran(
        file,
        *PLAIN,
        "--windows",
        tmp_path / "labels.json",
        "--baselines",
        "--out",
        tmp_path / "out",
        "--json",
    )
    told = json.loads(done.stdout)
    measures = told["against_labels"]
    assert {"VUS-PR", "average precision", "AUC-ROC", "affiliation F1", "event recall"} <= set(
        measures
    )
    assert measures["event recall"] == 1.0
    assert measures["AUC-ROC"] > 0.95
    assert {"sub-pca", "rolling-median", "second-difference", "harmonic", "nearest-window"} <= set(
        told["baselines"]
    )
    assert set(told["baselines"]) == {baselines.shown(name) for name in baselines.names()}
    assert "No point-adjusted F1: random scores do well by it" in done.stderr
    assert told["vus_pr_window"] == 24  # the season
    assert "VUS-PR gives part of the credit up to 12 rows from a label" in done.stderr
    assert "baseline sub-pca" in pl.read_csv(tmp_path / "out" / "scores.csv").columns


def test_the_user_is_told_when_a_plain_method_is_better(file, tmp_path):
    text = file.read_text().splitlines()
    label = ["label", *("1" if 190 <= row < 230 else "0" for row in range(300))]
    file.write_text("\n".join(f"{line},{mark}" for line, mark in zip(text, label, strict=True)))
    done = ran(
        file,
        *PLAIN,
        "--season",
        "50",
        "--baselines",
        "--labels",
        "label",
        "--out",
        tmp_path / "out",
    )
    assert "On these labels the plain method" in done.stdout


def test_a_saved_detector_judges_new_files_and_pipes(file, tmp_path):
    ran(file, *PLAIN, "--out", tmp_path / "a", "--save", tmp_path / "kept")
    new = wave(200)
    new[100:104] -= 3
    (tmp_path / "new.csv").write_text(csv(new, start="2014-02-26T12:00"))
    done = ran(
        tmp_path / "new.csv",
        "--model",
        tmp_path / "kept",
        "--no-picture",
        "--out",
        tmp_path / "b",
        "--json",
    )
    (event,) = json.loads(done.stdout)["events"]
    assert 99 <= event["first_row"] <= 101
    piped = ran(
        "-",
        "--model",
        tmp_path / "kept",
        "--out",
        tmp_path / "c",
        stdin=csv(new, start="2014-02-26T12:00"),
    )
    rows = list(reader.DictReader(io.StringIO(piped.stdout)))
    assert len(rows) == 200
    assert 98 <= int(np.argmax([float(row["score"]) for row in rows])) <= 106
    assert {int(row["event"]) for row in rows[100:104]} == {1}
    assert files(tmp_path / "c") == ["detected.png", "events.csv", "events.json", "scores.csv"]


def test_a_pipe_learns_from_its_first_rows(tmp_path):
    values = wave(260)
    values[230:234] += 4
    done = ran("-", *PLAIN, "--learn", "200", "--out", tmp_path / "out", stdin=csv(values))
    rows = list(reader.DictReader(io.StringIO(done.stdout)))
    assert [int(row["line"]) for row in rows] == list(range(202, 262))
    assert 29 <= int(np.argmax([float(row["score"]) for row in rows])) <= 36


def test_a_pipe_that_is_short_is_judged_as_a_whole(file, tmp_path):
    ran("-", *PLAIN, "--out", tmp_path / "out", stdin=file.read_text())
    assert len(pl.read_csv(tmp_path / "out" / "scores.csv")) == 300


def test_rows_of_a_pipe_are_answered_before_the_next_one_comes(file, tmp_path):
    ran(file, *PLAIN, "--out", tmp_path / "a", "--save", tmp_path / "kept")
    asked = ("detect", "-", "--model", tmp_path / "kept", "--no-picture", "--out", tmp_path / "c")
    command = [sys.executable, "-c", "from locant.cli import main; main()", *map(str, asked)]
    lines = csv(wave(3), start="2014-02-26T12:00").splitlines(keepends=True)
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": buffered}
    with subprocess.Popen(command, **pipes) as process:
        process.stdin.write(lines[0] + lines[1])
        process.stdin.flush()
        assert process.stdout.readline().startswith("line,time,score")
        assert process.stdout.readline().startswith("2,2014-02-26T12:00")
        process.stdin.close()
        assert process.wait(60) == 0


def test_what_was_there_before_stays_when_a_file_cannot_be_written(file, tmp_path, monkeypatch):
    ran(file, *PLAIN, "--out", tmp_path / "out")
    before = (tmp_path / "out" / "events.json").read_text()

    def full(*_, **__):
        raise OSError(28, "No space left on device", "scores.csv")

    monkeypatch.setattr(pl.DataFrame, "write_csv", full)
    assert "No space left on device" in refused(file, *PLAIN, "--out", tmp_path / "out")
    assert (tmp_path / "out" / "events.json").read_text() == before
    assert files(tmp_path / "out") == ["events.csv", "events.json", "scores.csv"]


GOOD = csv(wave(120))
TWICE = GOOD + GOOD.splitlines()[-1] + "\n"
BAD = {
    "an empty file": (b"", "mine.csv is empty"),
    "a header alone": (b"time,x\n", "has only a header"),
    "one row": (b"time,x\n2014-02-14,1\n", "has only 1 row"),
    "a column of text": (b"name\na\nb\nc\n", "has no column of numbers that vary"),
    "nothing but NaN": (b"x\nNaN\nNaN\n", "has no values"),
    "a constant": (b"x\n" + b"5\n" * 200, "is constant"),
    "ten rows": (
        csv(wave(10)).encode(),
        "detect needs at least 100 rows to learn from. mine.csv gives 10",
    ),
    "dates in two formats": (GOOD.encode() + b"14/03/2014 10:00,1\n", "is written differently"),
    "a binary file": (bytes(range(256)) * 20, "is not text"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_file_is_refused_and_nothing_is_written(what, tmp_path):
    content, why = BAD[what]
    (tmp_path / "mine.csv").write_bytes(content)
    assert why in refused(
        tmp_path / "mine.csv", "--out", tmp_path / "out", "--save", tmp_path / "kept"
    )
    assert files(tmp_path) == ["mine.csv"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (TWICE, "repeated a timestamp"),
        (GOOD.replace(GOOD.splitlines()[9].split(",")[1], "inf"), "missing"),
    ],
)
def test_what_can_be_repaired_is_repaired_and_told(content, said, tmp_path):
    (tmp_path / "mine.csv").write_text(content)
    assert said in ran(tmp_path / "mine.csv", *PLAIN, "--out", tmp_path / "out").stdout


def test_a_folder_a_missing_file_and_a_window_outside_are_refused(file, tmp_path):
    assert "is a folder" in refused(tmp_path, "--out", tmp_path / "out")
    assert "there is no file" in refused(tmp_path / "mime.csv", "--out", tmp_path / "out")
    (tmp_path / "labels.json").write_text('[["2020-01-01", "2020-01-02"]]')
    assert "2020-01-01" in refused(
        file, "--windows", tmp_path / "labels.json", "--out", tmp_path / "out"
    )
    assert files(tmp_path) == ["labels.json", "mine.csv"]


def test_a_file_larger_than_memory_is_refused(file, tmp_path, monkeypatch):
    monkeypatch.setattr(input_file, "available_memory", lambda: 1000)
    assert "of memory, but" in refused(file, "--out", tmp_path / "out")
    assert files(tmp_path) == ["mine.csv"]


def test_a_saved_detector_refuses_other_columns_and_other_times(file, tmp_path):
    ran(file, *PLAIN, "--out", tmp_path / "a", "--save", tmp_path / "kept")
    (tmp_path / "other.csv").write_text(csv(wave(120), names=["load"]))
    asked = ("--model", tmp_path / "kept", "--out", tmp_path / "b")
    assert "x0" in refused(tmp_path / "other.csv", *asked)
    assert "knows the columns x0; the series has load" in refused(
        tmp_path / "other.csv", "--columns", "load", *asked
    )
    (tmp_path / "rows.csv").write_text(
        "x0\n" + "\n".join(f"{value:.4f}" for value in wave(120)[:, 0])
    )
    assert "learned from rows with times (dates); here are none" in refused(
        tmp_path / "rows.csv", *asked
    )
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("name", ["detector.safetensors", "detector.json"])
def test_a_truncated_or_changed_detector_is_refused(file, tmp_path, name):
    ran(file, *PLAIN, "--out", tmp_path / "a", "--save", tmp_path / "kept")
    path = tmp_path / "kept" / name
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    asked = (file, "--model", tmp_path / "kept", "--out", tmp_path / "b")
    assert "is damaged" in refused(*asked)
    path.write_bytes(whole.replace(b"harmonic", b"harmonik"))
    assert "damaged" in (said := refused(*asked)) or "not of one detector" in said
    path.unlink()
    assert "is no saved detector" in refused(*asked)
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--method", "magic"], "Allowed: auto, transformer"),
        (["--encodings", "rop"], "Did you mean 'rotary'?"),
        (["--threshold", "often"], "a threshold is clean"),
        (["--threshold", "80%"], "a threshold is clean"),
        (["--clean", "1.5"], "a share of the series"),
        (["--season", "1"], "at least 2 for season"),
        (["--season", "151"], "300 rows are learned from. Allowed: at most 150"),
        (["--smooth", "100000000"], "300 rows are learned from. Allowed: at most 300"),
        (["--columns", " , "], "--columns needs at least one word"),
        (["--smooth", "-1"], "at least 0 for smooth"),
        (["--train", "a.csv", "--model", "b"], "exclude each other"),
        (["--model", "nowhere"], "is no saved detector"),
        (["--out", "mine.csv/x"], "is a file. Choose another path"),
    ],
)
def test_a_wrong_request_is_refused_before_anything_runs(
    file, tmp_path, monkeypatch, arguments, why
):
    monkeypatch.chdir(tmp_path)
    assert why in refused(file, *arguments)
    assert files(tmp_path) == ["mine.csv"]


def test_of_a_kept_detector_only_the_threshold_can_be_changed(file, tmp_path):
    ran(file, *PLAIN, "--out", tmp_path / "a", "--save", tmp_path / "kept")
    ran(
        file,
        "--model",
        tmp_path / "kept",
        "--threshold",
        "5%",
        "--no-picture",
        "--out",
        tmp_path / "b",
    )
    asked = (file, "--model", tmp_path / "kept", "--out", tmp_path / "c")
    assert "the threshold alone can be changed" in refused(*asked, "--season", "24")
    assert not (tmp_path / "c").exists()


def test_what_is_read_is_never_overwritten(file, tmp_path):
    named = file.rename(tmp_path / "scores.csv")
    before = named.read_text()
    assert "would be overwritten" in refused(named, *PLAIN, "--out", tmp_path)
    assert named.read_text() == before


def test_files_whose_names_have_dots_have_folders_of_their_own(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("load.01.csv", "load.02.csv"):
        (tmp_path / name).write_text(file.read_text())
        ran(name, *PLAIN)
    assert files(tmp_path / "locant-detect") == ["load.01", "load.02"]


def test_names_are_shown_and_written_as_they_are(tmp_path):
    values = wave(300, 4)
    values[200:204] += 3
    path = tmp_path / "[red]mine.csv"
    path.write_text(csv(values, ["x score", "x", "[/nope]", r"$\foo{$"]))
    done = ran(path, "--method", "harmonic", "--out", tmp_path / "out")
    for name in ("[red]mine.csv", "[/nope]", r"$\foo{$"):
        assert name in done.stdout
    table = pl.read_csv(tmp_path / "out" / "scores.csv")
    assert table["x score"].to_list() == pytest.approx(values[:, 0].tolist(), abs=1e-6)
    assert table["x"].to_list() == pytest.approx(values[:, 1].tolist(), abs=1e-6)
    assert "score of x" in table.columns
    assert (tmp_path / "out" / "detected.png").stat().st_size > 10_000


def test_a_closed_pipe_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="standard input is closed"):
        _detect_pipe(learn=100)


def test_an_empty_pipe_is_refused(tmp_path):
    assert "the stream has no row" in refused("-", "--out", tmp_path / "out", stdin="time,x\n")
    assert "--model" in refused("-", "--windows", tmp_path / "w.json", stdin="")
    assert files(tmp_path) == []


def test_the_old_spelling_of_encodings_works_and_names_the_new_one(file, tmp_path):
    done = ran(file, *PLAIN, "--encoding", "rotary", "--out", tmp_path / "out")
    assert "--encoding is now spelled --encodings" in done.stderr
    assert "--encoding " not in ran("--help").stdout
