"""Faults in the middle of a study: it stops with a sentence, and the same command goes on to the
same end, bit for bit."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from common_lab import LOCANT, finish, kept, write_tiny
from faults import little_room, locked
from scripted import compute, keep_study

from locant.lab.engine import driver as driver_module
from locant.lab.store import store as store_module
from locant.lab.store.store import Store
from locant.lab.store.store_errors import StoreError

STORE = "runs.sqlite"
MORE = ("--seeds", "6", "--store", STORE)
IMPATIENT = (
    "from locant.lab.store.store import Store; Store.timeout = 0.5; from locant.cli import main; "
    "main()"
)
FULL_DISK = """
mount -t tmpfs -o size=256k none room && cp tiny.toml room && cd room \\
&& head -c 200k /dev/zero > filler || exit 1
"$@"; echo status $? >&2
rm filler; "$@" && cp runs.sqlite ..
"""


def filling_up(path: Path, at: int):
    """An engine during whose work there is no room for more, after `at` runs."""

    def engine(runs):
        for count, done in enumerate(compute(runs)):
            with little_room(path.stat().st_size) if count >= at else contextlib.nullcontext():
                yield done

    return engine


def getting_locked(path: Path, at: int):
    """An engine during whose work somebody takes the database, after `at` runs."""

    def engine(runs):
        for count, done in enumerate(compute(runs)):
            with locked(path) if count == at else contextlib.nullcontext():
                yield done

    return engine


@pytest.mark.parametrize("fault", ["full", "locked"])
def test_a_fault_in_the_middle_stops_the_study_and_the_same_command_goes_on_to_the_same_end(
    tmp_path, monkeypatch, fault
):
    monkeypatch.setattr(Store, "timeout", 0.05)
    monkeypatch.setattr(store_module, "STALE", 0.3)
    path = tmp_path / STORE
    engine = {"full": filling_up, "locked": getting_locked}[fault](path, 5)
    with pytest.raises(StoreError, match=r"intact: .* the same command goes on from there") as told:
        keep_study(path, engine, seeds=4)
    assert {"full": "disk", "locked": "locked"}[fault] in str(told.value)
    before = kept(tmp_path, STORE)
    assert 5 <= len(before) < 16
    keep_study(path, seeds=4)
    after = kept(tmp_path, STORE)
    assert {digest: after[digest] for digest in before} == before
    (tmp_path / "other").mkdir()
    keep_study(tmp_path / "other" / STORE, seeds=4)
    assert after == kept(tmp_path / "other", STORE)


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_signs_of_life_outlive_a_lock_that_passes(tmp_path, monkeypatch):
    for module in (driver_module, store_module):
        monkeypatch.setattr(module, "STALE", 0.3)
    path, stamps = tmp_path / STORE, []

    def engine(runs):
        for done in compute(runs):
            with locked(path):
                time.sleep(0.3)  # six signs of life fail
            freed = time.time()
            time.sleep(0.3)
            with contextlib.closing(sqlite3.connect(path)) as base:
                stamps.append(base.execute("SELECT MAX(seen) FROM claims").fetchone()[0] - freed)
            yield done

    keep_study(path, engine, seeds=1, controls=[], encodings=["rotary"])
    assert stamps[0] > 0


def test_ctrl_c_while_somebody_holds_the_store_is_prompt_and_still_ctrl_c(tmp_path, monkeypatch):
    for module in (driver_module, store_module):
        monkeypatch.setattr(module, "STALE", 0.3)
    holding = contextlib.ExitStack()

    def engine(runs):
        yield next(compute(runs))
        holding.enter_context(locked(tmp_path / STORE))
        time.sleep(0.2)  # signs of life are waiting
        raise KeyboardInterrupt

    begun = time.monotonic()
    with holding, pytest.raises(KeyboardInterrupt):
        keep_study(tmp_path / STORE, engine)
    assert time.monotonic() - begun < Store.timeout / 4
    assert len(kept(tmp_path, STORE)) == 1


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The tiny study with more seeds, trained without a fault."""
    folder = tmp_path_factory.mktemp("whole")
    write_tiny(folder)
    finish(folder, *MORE)
    return kept(folder, STORE)


def mounting() -> list[list[str]]:
    """How a disk can be mounted here that only one process sees; nothing where that is not
    permitted."""
    test = ["sh", "-c", "mount -t tmpfs none /mnt"]
    ways = [["unshare", "-m"], ["unshare", "-Urm"]] if shutil.which("unshare") else []
    return [
        way for way in ways if subprocess.run([*way, *test], capture_output=True).returncode == 0
    ][:1]


@pytest.mark.slow
def test_without_room_training_stops_and_goes_on_when_there_is_some(whole, tmp_path):
    write_tiny(tmp_path)
    with little_room(10 * 4096):  # the workers' too
        said = finish(tmp_path, *MORE, status=2)
    assert "Every run kept before is intact" in said
    assert 0 < len(kept(tmp_path, STORE)) < len(whole)
    finish(tmp_path, *MORE)
    assert kept(tmp_path, STORE) == whole


@pytest.mark.slow
@pytest.mark.parametrize("way", mounting(), ids=" ".join)
def test_on_a_disk_that_is_really_full_too(whole, tmp_path, way):
    write_tiny(tmp_path)
    (tmp_path / "room").mkdir()
    words = [*way, "sh", "-c", FULL_DISK, "sh", LOCANT, "compare", "tiny.toml", *MORE]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    assert (
        "cannot be written: database or disk is full.\n  Every run kept before is intact: make room"
        in done.stderr
    )
    assert "status 2" in done.stderr
    assert "Traceback" not in done.stderr
    assert kept(tmp_path, STORE) == whole


@pytest.mark.slow
def test_locked_out_training_stops_and_goes_on_when_it_may(whole, tmp_path):
    write_tiny(tmp_path)
    words = [sys.executable, "-c", IMPATIENT, "compare", "tiny.toml", *MORE]
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not (tmp_path / STORE).exists() or not kept(tmp_path, STORE):
        assert process.poll() is None
        time.sleep(0.01)
    with locked(tmp_path / STORE):
        _, said = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "database is locked by another program for more than 0.5 s" in said
    assert "the same command goes on from there" in said
    assert "Traceback" not in said
    finish(tmp_path, *MORE)
    assert kept(tmp_path, STORE) == whole
