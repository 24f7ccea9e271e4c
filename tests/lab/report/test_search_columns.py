"""Every column of the table of searches is explained in a sentence beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from locant.lab.report.search_audit import column_notes, search_table
from locant.lab.report.study_page import markdown
from locant.lab.store.pack import unpack
from locant.lab.store.record import read_record

PACKED = Path(__file__).parents[3] / "docs" / "studies" / "studies.json.gz"


@pytest.fixture(scope="module")
def store():
    return unpack(PACKED)


@pytest.mark.parametrize("name", ["order", "anomaly-faithful"])
def test_each_column_that_is_shown_has_its_sentence_and_no_other_has(store, name):
    record = read_record(store, name)
    table, notes = search_table(record), column_notes(record)
    columns = [] if table is None else [column for column in table[0] if column]
    assert [note.partition("”")[0].removeprefix("“") for note in notes] == columns
    page = markdown(record)
    assert all(note in page for note in notes)


def test_a_study_with_checks_and_one_without_are_among_them(store):
    assert len(column_notes(read_record(store, "order"))) == 4
    assert column_notes(read_record(store, "anomaly-faithful")) == []
