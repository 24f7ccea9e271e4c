"""Packed studies: the same report, the same bytes, and nothing left behind."""

from __future__ import annotations

import gzip
import json
import os
import subprocess

import pytest
from common_lab import LOCANT
from common_records import finished

from locant.cli.pack import pack as pack_command
from locant.lab.report.study_page import markdown
from locant.lab.store.open import open_store
from locant.lab.store.pack import FORMAT, pack, pack_runs, unpack
from locant.lab.store.record import read_record
from locant.lab.store.store import Store


def test_packed_studies_give_the_same_report_and_the_notes_of_the_first_seed(tmp_path):
    store, which = finished(
        tmp_path, "order", lambda name, seed: {"accuracy": 0.5 + seed / 100}, seeds=4
    )
    path = tmp_path / "deep" / "order.json.gz"
    pack(store, [which], path)
    first, again = read_record(store, which), read_record(unpack(path), "order")
    assert markdown(again) == markdown(first)
    assert [note.get("seed") for note in again.entrants[0].notes] == [0, None, None, None]
    before = path.read_bytes()
    pack(store, [which], path)
    assert path.read_bytes() == before  # the same bytes every time
    done = subprocess.run(
        [LOCANT, "report", "order", "--store", path, "--csv"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "rotary" in done.stdout


def test_a_store_is_packed_into_another_file_that_can_be_read_again(tmp_path):
    store, _ = finished(tmp_path, "order", lambda name, seed: {"accuracy": 0.5}, seeds=2)
    before = store.path.read_bytes()
    (tmp_path / "folder.gz").mkdir()
    for out in ("packed", "folder.gz", ""):
        with pytest.raises(ValueError, match=r"ends in \.gz"):
            pack_command(["order"], out=tmp_path / out, store=store.path)
    same = store.path.rename(tmp_path / "runs.gz")
    with pytest.raises(ValueError, match="is the store that is packed"):
        pack_command(["order"], out=same, store=same)
    assert same.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.gz", "runs.gz"]


def test_an_empty_file_is_no_store_and_stays_empty(tmp_path):
    path = tmp_path / "runs.sqlite"
    path.touch()
    with pytest.raises(ValueError, match="is empty"):
        open_store(path)
    assert path.read_bytes() == b""


WRONG = {
    "damaged": gzip.compress(b"x" * 999, mtime=0)[:12] + b"\xff" * 20,
    "a study without a title": gzip.compress(
        json.dumps(
            {"format": FORMAT, "runs": [], "studies": [{"study": {"name": "x"}, "choices": {}}]}
        ).encode(),
        mtime=0,
    ),
    "no gzip": b"hello",
    "no format": gzip.compress(b"[]", mtime=0),
    "another format": gzip.compress(json.dumps({"format": "x"}).encode(), mtime=0),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_file_that_holds_no_packed_studies_is_told(tmp_path, what):
    path = tmp_path / "some.json.gz"
    path.write_bytes(WRONG[what])
    with pytest.raises(ValueError, match="cannot be read as packed studies"):
        unpack(path)


def test_what_is_unpacked_is_gone_when_the_command_has_ended(tmp_path):
    store, which = finished(tmp_path, "order", lambda name, seed: {"accuracy": 0.5}, seeds=2)
    path, place = tmp_path / "order.json.gz", tmp_path / "unpacked"
    pack(store, [which], path)
    place.mkdir()
    words = [LOCANT, "report", "--store", path, "--csv"]
    done = subprocess.run(
        words, env={**os.environ, "TMPDIR": str(place)}, capture_output=True, text=True, check=True
    )
    assert "rotary" in done.stdout
    assert list(place.iterdir()) == []


def test_packed_studies_keep_the_day_on_which_they_were_finished(tmp_path):
    store, which = finished(tmp_path, "order", lambda name, seed: {"accuracy": 0.5}, seeds=2)
    path = tmp_path / "order.json.gz"
    pack(store, [which], path)
    assert read_record(unpack(path)).finished == read_record(store, which).finished


def test_packed_runs_of_an_unfinished_study_go_on_in_another_store(tmp_path):
    store, which = finished(tmp_path, "order", lambda name, seed: {"accuracy": 0.5}, seeds=2)
    begun = [run for run in store.runs() if run.config["seed"] == 1]
    assert 0 < len(begun) < len(store.runs())
    pack(store, [which], tmp_path / "studies.json.gz")
    pack_runs(begun, tmp_path / "unfinished.json.gz")
    other = Store(tmp_path / "other.sqlite")
    assert unpack(tmp_path / "unfinished.json.gz", other) is other
    assert other.studies() == []
    assert [run.metrics for run in other.runs()] == [run.metrics for run in begun]
    assert all(other.find(run.digest, run.code) for run in begun)
    unpack(tmp_path / "studies.json.gz", other)
    assert [entry.id for entry in other.studies()] == [which]
    assert len(other.runs()) == len(store.runs())
