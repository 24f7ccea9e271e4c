"""The laboratory from outside: commands, files, crashes."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import random
import signal
import sqlite3
import subprocess
import time

import polars
import pytest
import torch
from common_lab import LOCANT, finish, kept, start, write_tiny
from typer.testing import CliRunner

from locant.cli.app import app
from locant.lab.study_files import study_names


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The tiny study, run once without interruption."""
    folder = tmp_path_factory.mktemp("whole")
    write_tiny(folder)
    return folder, finish(folder), kept(folder)


@pytest.fixture
def refused(tmp_path, monkeypatch):
    """What the tiny study's command answers to words that it cannot follow."""
    write_tiny(tmp_path)
    monkeypatch.chdir(tmp_path)

    def ask(*words):
        result = CliRunner().invoke(app, ["compare", "tiny.toml", *words])
        assert result.exit_code == 2, result.output
        return " ".join(result.output.split())

    return ask


def test_a_study_ends_in_a_table_a_verdict_and_the_path_of_what_it_wrote(whole):
    _, text, runs = whole
    assert len(runs) == 8  # none, scrambled, rotary, t5 × two seeds
    assert "No conclusion is possible with 2 seeds" in text
    assert "at most 0.5 without positions" in " ".join(text.split())
    assert "Kept in locant-results/runs.sqlite as tiny-" in text


def test_the_same_command_trains_nothing_and_one_more_encoding_only_that(whole):
    folder, _, before = whole
    with sqlite3.connect(folder / "locant-results/runs.sqlite") as base:
        stamps = dict(base.execute("SELECT digest, finished FROM runs"))
    assert "runs, best validation" not in finish(folder)
    assert kept(folder) == before
    assert "10 of 10 runs, best validation loss so far" in finish(
        folder, "--encodings", "rotary,t5,alibi"
    )  # told without a terminal
    assert len(kept(folder)) == len(before) + 2
    with sqlite3.connect(folder / "locant-results/runs.sqlite") as base:
        now = dict(base.execute("SELECT digest, finished FROM runs"))
    assert all(now[digest] == when for digest, when in stamps.items())


@pytest.mark.slow
@pytest.mark.parametrize("case", range(4))
def test_killed_at_any_moment_it_goes_on_to_the_same_results(whole, tmp_path, case):
    """kill -9 of the driver, of a worker, or of both; then the same command until it ends."""
    write_tiny(tmp_path)
    draw = random.Random(case)
    for _ in range(5):
        process = start(tmp_path)
        time.sleep(draw.uniform(0.3, 4.5))
        workers = _children(process.pid)
        victims = {0: [process.pid], 1: workers, 2: [process.pid, *workers], 3: workers[:1]}[case]
        for victim in victims:
            _kill(victim)
        if process.pid in victims:
            process.wait(timeout=30)
        else:
            process.communicate(timeout=90)
        for orphan in workers:
            _wait_gone(orphan)
    finish(tmp_path)
    assert kept(tmp_path) == whole[2]


@pytest.mark.slow
def test_two_drivers_on_one_store_share_the_work(whole, tmp_path):
    write_tiny(tmp_path)
    pair = [start(tmp_path, "--workers", "1") for _ in range(2)]
    for process in pair:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    assert kept(tmp_path) == whole[2]


@pytest.mark.slow
def test_one_worker_or_two_give_the_same_bits(whole, tmp_path):
    write_tiny(tmp_path)
    finish(tmp_path, "--workers", "1")
    assert kept(tmp_path) == whole[2]


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path):
    write_tiny(tmp_path)
    process = start(tmp_path, "--seeds", "200")
    for _ in range(600):
        time.sleep(0.1)
        if (tmp_path / "locant-results/runs.sqlite").exists() and kept(tmp_path):
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "the same command goes on from here" in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_loss_that_is_not_a_number_is_a_failure_with_its_step(tmp_path):
    write_tiny(tmp_path)
    mine = tmp_path / "bad.py"
    mine.write_text(
        "import torch\nfrom locant.encodings.base import Encoding\n"
        "class Bad(Encoding):\n    def embed(self, x, pos):\n        return x * float('nan')\n"
    )
    text = finish(tmp_path, "--encodings", "rotary,bad.py:Bad")
    assert "Bad failed: seed 0: FloatingPointError: the loss is nan at step 0" in " ".join(
        text.split()
    )
    failed = [row for row in kept(tmp_path).values() if row[1] == "failed"]
    assert len(failed) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "training.stepz=3"), "Allowed there: steps, batch, rate"),
        (("--set", "training.steps=-1"), "training.steps"),
        (("--set", "nonsense"), "field=value"),
        (("--encodings", "rotry"), "Did you mean 'rotary'?"),
        (("--seeds", "0"), "seeds"),
        (("--set", "task=ordr"), "no task is called 'ordr'"),
        (("--set", "task_options.lenght=3"), "Did you mean 'length'?"),
    ],
)
def test_a_wrong_field_says_what_is_allowed_before_anything_trains(refused, tmp_path, words, said):
    assert said in refused(*words)
    assert not kept(tmp_path) if (tmp_path / "locant-results").exists() else True


def test_a_store_that_cannot_be_used_is_told_and_left_alone(refused, whole, tmp_path):
    (tmp_path / "text.sqlite").write_text(
        "this is no database, but it is longer than a header of SQLite would be " * 3
    )
    before = (tmp_path / "text.sqlite").read_bytes()
    assert "cannot be opened" in refused("--store", "text.sqlite")
    assert (tmp_path / "text.sqlite").read_bytes() == before
    (tmp_path / "a_file").write_text("")
    assert "cannot be opened" in refused("--store", "a_file/runs.sqlite")
    whole_file = (whole[0] / "locant-results/runs.sqlite").read_bytes()
    (tmp_path / "cut.sqlite").write_bytes(whole_file[: len(whole_file) // 2])
    assert "cut.sqlite" in refused("--store", "cut.sqlite")


def test_reports_come_from_the_store_alone_in_every_format(whole):
    folder = whole[0]

    def run(*words):
        done = subprocess.run(
            [LOCANT, *words], cwd=folder, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    said = json.loads(run("report", "tiny", "--json"))
    assert {row["name"] for row in said["table"]} >= {"none", "scrambled", "rotary", "t5"}
    assert said["facts"]["ceilings"]["without positions"] == 0.5
    rows = list(csv.DictReader(io.StringIO(run("report", "tiny", "--csv"))))
    assert {row["name"] for row in rows} >= {"none", "rotary"}
    assert run("report", "tiny", "--markdown").startswith("# tiny")
    run("report", "tiny", "--parquet", "out/runs.parquet")
    assert polars.read_parquet(folder / "out/runs.parquet").height >= 8
    assert "tiny-" in run("runs")
    code = (
        "import sys, runpy; sys.argv = ['locant', 'report', 'tiny']\nfrom locant.cli.app import "
        "app\n"
    )
    code += "try:\n    app()\nexcept SystemExit: pass\nassert 'torch' not in sys.modules"
    subprocess.run(
        [LOCANT.with_name("python"), "-c", code],
        cwd=folder,
        check=True,
        capture_output=True,
        timeout=60,
    )


def test_every_study_that_is_shipped_can_be_read_and_is_listed(tmp_path):
    out = subprocess.run(
        [LOCANT, "compare"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert [line.split()[0] for line in out.splitlines()] == study_names()


def _children(pid: int) -> list[int]:
    out = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout
    return [int(line) for line in out.split()]


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _wait_gone(pid: int) -> None:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    _kill(pid)


def test_a_device_that_is_not_there_is_told_before_anything_trains(refused):
    said = refused("--device", "cuda:7" if not torch.cuda.is_available() else "cuda:99")
    assert "cannot be used here" in said
    assert "--device cpu" in said
