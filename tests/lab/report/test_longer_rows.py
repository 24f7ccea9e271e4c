"""Longer rows in a report: only of entrants that learned the trained length."""

from __future__ import annotations

import numpy as np

from locant.lab.report.longer_rows import beyond_notes, beyond_table, shown_entrants
from locant.lab.report.published import judge_statements
from locant.lab.report.study_pictures import pictures
from locant.lab.store.record import EntrantRecord, StudyRecord
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study_files import read_study
from locant.lab.tasks.base import make_task

SEEDS = list(range(10))


def entrant(name, learned, at_48):
    """Ten runs, so many of which reached the threshold."""
    histories = []
    for seed in SEEDS:
        histories.append([{"step": 50, "accuracy": 1.0 if seed < learned else 0.3, "loss": 1.0}])
    metrics = {"accuracy": [0.97 - seed / 1000 for seed in SEEDS]}
    metrics["accuracy at 48"] = [at_48 + seed / 1000 for seed in SEEDS]
    costs = {"parameters": [1.0] * 10, "seconds_a_step": [0.01] * 10}
    encoding = name.partition("+")[0]
    notes = [{} for _ in SEEDS]
    digests = [f"{name}{seed}" for seed in SEEDS]
    return EntrantRecord(
        name, encoding, [(1.0, 1.0)] * 10, metrics, SEEDS, histories, costs, notes, digests
    )


def record():
    study = read_study("copy", changes={"task_options.longer": [48], "search": False})
    facts = TaskFacts.of(make_task("copy", **study.task_options))
    rows = [("none", 4, 0.9), ("t5", 10, 0.6), ("alibi", 5, 0.8), ("rotary", 4, 0.5)]
    entrants = [entrant(*row) for row in rows]
    return StudyRecord("copy-0", study, facts, "locant compare copy", entrants)


def test_who_has_not_learned_the_trained_length_is_not_shown_beyond_it():
    header, lines = beyond_table(record())
    assert header == ["", "accuracy at 24, trained", "accuracy at 48"]
    cells = {line[0]: line[2] for line in lines}
    assert cells["none"] == cells["rotary"] == "–"
    assert cells["alibi"].startswith(".80")
    assert cells["alibi"].endswith("(1)")
    assert cells["t5"].startswith(".605")
    assert cells["t5"].endswith("(2)")
    assert [one.name for one in shown_entrants(record())] == ["t5", "alibi"]
    first, hidden = beyond_notes(record())
    assert first.startswith("At 48 tokens alibi leads the encodings with .80")
    assert hidden.endswith("none, rotary.")


def test_a_published_statement_on_longer_rows_waits_for_the_trained_length():
    judged = {one.statement: one for one in judge_statements(record())}
    better = judged["T5's bias copies longer strings better than ALiBi"]
    assert better.answer == "does not hold"
    unlearned = judged["ALiBi copies longer strings better than rotary"]
    assert (unlearned.answer, unlearned.measured) == (
        "cannot be decided",
        "trained length not learned: rotary",
    )


def test_the_picture_names_those_it_leaves_out():
    picture = pictures(record())["lengths"]
    assert [one.name for one in picture.numbers["entrants"]] == ["t5", "alibi"]
    assert "have not learned rows of 24 (none, rotary)" in picture.caption
    assert np.shape(picture.numbers["scores"]) == (2, 2, 10)
