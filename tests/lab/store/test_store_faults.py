"""Disks that are full, folders that are read-only, databases that are locked, cut or someone
else's: told, nothing lost."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess

import pytest
from common_lab import LOCANT, kept, write_tiny
from faults import little_room, locked, ordinary_user
from scripted import keep_study, refused

from locant.cli.app import app
from locant.lab.store.record import read_record
from locant.lab.store.store import Store

STORE = "runs.sqlite"
COMMANDS = [("compare", "tiny.toml"), ("report",), ("runs",)]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return keep_study(tmp_path_factory.mktemp("study") / STORE).path.parent


@pytest.fixture
def folder(study, tmp_path, monkeypatch):
    """A folder with the tiny study kept in it, as the place where commands are given."""
    shutil.copytree(study, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def cut_short(path):
    path.write_bytes(path.read_bytes()[:50])


def text(path):
    path.write_text("this is no database, but it is longer than a header of SQLite would be " * 3)


def overwritten(path):
    """The head is as it was; the pages behind it are not."""
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * (path.stat().st_size - 4096))


def no_json(path):
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        base.execute("UPDATE studies SET choices = 'what', runs = 'is this'")
        base.execute("UPDATE runs SET metrics = 'not what it was'")


def notes_of_another_program(path, table="notes (id, words)"):
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        base.execute(f"CREATE TABLE {table}")


def runs_of_another_program(path):
    notes_of_another_program(path, "runs (run_uuid, name, status, start_time)")


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (cut, "is damaged or no store of locant's, and was left as it is"),
        (cut_short, "is damaged or no store of locant's"),
        (text, "is damaged or no store of locant's"),
        (overwritten, "is damaged or no store of locant's"),
        (no_json, "is damaged or no store of locant's"),
        (notes_of_another_program, "another program, or of another version of locant"),
        (runs_of_another_program, "another program, or of another version of locant"),
    ],
)
def test_a_file_that_is_no_store_is_told_and_left_as_it_is(folder, capsys, harm, said, words):
    path = folder / STORE
    harm(path)
    before = path.read_bytes()
    assert said in refused(capsys, *words, "--store", STORE)
    assert path.read_bytes() == before


def test_a_store_of_an_older_version_is_read_and_brought_up_to_date(folder):
    with contextlib.closing(sqlite3.connect(folder / STORE)) as base:
        base.execute("ALTER TABLE runs DROP COLUMN notes")
    assert all(len(row.seeds) == 2 for row in read_record(Store(folder / STORE)).entrants)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_store_that_another_program_holds_is_told_and_can_be_used_afterwards(
    folder, capsys, monkeypatch, words
):
    monkeypatch.setattr(Store, "timeout", 0.05)
    before = kept(folder, STORE)
    with locked(folder / STORE):
        said = refused(capsys, *words, "--store", STORE)
    assert "database is locked by another program for more than 0.05 s" in said
    assert kept(folder, STORE) == before
    assert read_record(Store(folder / STORE)).complete


@pytest.mark.parametrize(
    "place", ["tiny.toml/runs.sqlite", "/proc/locant/runs.sqlite", ".", "shut/runs.sqlite"]
)
def test_a_place_where_no_store_can_be_made_is_told(folder, capsys, place):
    (folder / "shut").mkdir(mode=0o555)
    with ordinary_user():
        said = refused(capsys, "compare", "tiny.toml", "--store", place)
        assert "in a folder that can be written; give another store (--store)" in said
        assert "there is no store" in refused(capsys, "report", "--store", place)


@pytest.mark.parametrize("shut", ["the folder", "the file"])
def test_a_read_only_store_can_be_read_and_not_written(folder, capsys, shut):
    before = kept(folder, STORE)
    target = folder if shut == "the folder" else folder / STORE
    target.chmod(0o555)
    with ordinary_user():
        said = refused(capsys, "compare", "tiny.toml", "--store", STORE)
        assert "Every run kept before is intact" in said
        assert "the same command goes on from there" in said
        app(["report", "--store", STORE], standalone_mode=False)
        assert "rotary" in capsys.readouterr().out
    target.chmod(0o755)
    assert kept(folder, STORE) == before


def test_a_folder_that_is_read_only_takes_no_reports_and_says_so(folder, capsys):
    (folder / "shut").mkdir(mode=0o555)
    with ordinary_user():
        for words in (("--parquet", "shut/runs.parquet"), ("--tensorboard", "shut/curves")):
            assert f"{words[1]} cannot be written: Permission denied" in refused(
                capsys, "report", "--store", STORE, *words
            )


def test_a_full_disk_takes_no_reports_and_says_so(folder, capsys):
    with little_room(10):
        for words in (("--parquet", "runs.parquet"), ("--tensorboard", "curves")):
            said = refused(capsys, "report", "--store", STORE, *words)
            assert f"{words[1]} cannot be written" in said
            assert "The results stay in the store" in said


def test_output_for_which_there_is_no_room_is_told_once(folder):
    words = [LOCANT, "report", "--csv", "--store", STORE]
    buffered = {
        **os.environ,
        "PYTHONUNBUFFERED": "",
    }  # unbuffered, Python itself loses what a file does not take
    with open("table.csv", "w") as table, little_room(10):
        done = subprocess.run(words, env=buffered, stdout=table, stderr=subprocess.PIPE, text=True)
    assert done.stderr == "locant: the output cannot be read or written: File too large.\n"
    assert done.returncode == 2


def test_a_store_that_found_no_room_to_begin_begins_when_there_is_some(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    write_tiny(tmp_path)
    for size in (0, 4096, 3 * 4096):
        with little_room(size):
            assert "Nothing was changed: see that the disk has room" in refused(
                capsys, "compare", "tiny.toml", "--store", STORE
            )
    assert keep_study(tmp_path / STORE).studies()
