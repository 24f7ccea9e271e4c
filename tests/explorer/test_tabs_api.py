"""Attention, certificates and studies, as the page asks for them."""

from __future__ import annotations

import json
import sqlite3
import time

import numpy as np
import pytest

from locant.explorer import studies
from locant.lab.store.record import read_record
from locant.lab.store.store import Store
from locant.lab.store.unfinished import in_flight, unfinished
from locant.lab.training.config import RunConfig
from locant.lab.training.run_result import RunResult


def test_attention_before_training_is_causal_and_sums_to_one(ask):
    got = ask("attention", encoding="rotary", words="the cat chased the mouse")
    weights = np.array(got["weights"])
    assert weights.shape == (2, 4, 5, 5)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-4)
    assert not np.triu(weights, 1).any()
    assert got["accuracy"] is None


def test_a_trained_model_looks_at_the_word_it_was_asked_for(ask):
    asked = {"encoding": "relative", "words": "one two three four five six seven", "back": 2}
    before, after = (ask("attention", **asked, trained=trained) for trained in (False, True))
    assert after["accuracy"] > 0.95
    looks = [
        np.array(got["weights"])[:, :, np.arange(2, 7), np.arange(5)].mean(-1).max()
        for got in (before, after)
    ]
    assert looks[1] > 1.5 * looks[0]  # two words back, by the head that does it most


def test_a_study_shows_its_window_before_and_after_training(ask):
    study = next(one for one in ask("studies")["studies"] if one["id"].startswith("anomaly-"))
    before, after = (
        ask("window", study=study["id"], row="rotary", trained=trained) for trained in (False, True)
    )
    assert np.shape(before["weights"]) == np.shape(after["weights"]) == (2, 4, 96, 96)
    assert before["series"] == after["series"]
    assert np.max(after["weights"]) > 2 * np.max(before["weights"])


def test_a_study_says_what_its_report_says(ask, store):
    got = ask("study", study="anomaly")
    record = read_record(Store(store), "anomaly")
    from locant.lab.report.conclusion import conclusion
    from locant.lab.report.score_table import scores

    assert got["verdict"] == conclusion(record)
    assert [row[0] for row in got["rows"]] == [score.name for score in scores(record)]
    forest = got["pictures"]["forest"]
    rows = {row.name: row.scores("average precision") for row in record.entrants}
    at = forest["names"].index("rotary")
    np.testing.assert_allclose(forest["values"][at], rows["rotary"] - rows["none"], atol=1e-5)
    np.testing.assert_allclose(
        forest["means"][at], [(rows["rotary"] - rows["none"]).mean()], atol=1e-5
    )
    (low, high) = forest["intervals"][at][0]
    assert low < forest["means"][at][0] < high
    assert len(forest["groups"]) == len(forest["names"])


@pytest.mark.parametrize(
    ("path", "values", "words"),
    [
        ("study", {"study": "zebra"}, "no study 'zebra'"),
        ("window", {"study": "anomaly", "row": "zebra"}, "no row called 'zebra'"),
        ("attention", {"encoding": "rotary", "words": "one"}, "2 to 16 words"),
        ("attention", {"encoding": "rotary", "back": 9}, "back should be less"),
        ("certificate", {"encoding": "zebra"}, "no encoding of this page"),
    ],
)
def test_what_is_not_there_is_told(refused, path, values, words):
    assert words in refused(path, **values)


@pytest.mark.slow
def test_a_certificate_is_measured_once(ask):
    begun = time.perf_counter()
    first = ask("certificate", encoding="none")
    measured = time.perf_counter()
    assert ask("certificate", encoding="none") == first
    assert time.perf_counter() - measured < 0.5 * (measured - begun)
    assert first["fails"] == []
    assert {"order", "shift", "cache"} <= {one["name"] for one in first["findings"]}


def test_a_store_that_is_not_there_is_empty_and_is_not_made(tmp_path):
    path = tmp_path / "runs.sqlite"
    assert json.loads(studies.list_studies(path)) == {
        "studies": [],
        "unfinished": [],
        "in_flight": 0,
    }
    assert list(tmp_path.iterdir()) == []


def a_run(name, seed, **metrics):
    run = RunConfig(task="order", name=name, encoding="none", seed=seed)
    status = "done" if metrics else "failed"
    return RunResult(run.digest(), "code", run.model_dump(), status, metrics)


def test_a_study_that_is_being_computed_is_seen_while_it_runs(tmp_path):
    store = Store(tmp_path / "runs.sqlite")
    for run in (a_run("none", 0, accuracy=0.5), a_run("none", 1, accuracy=0.7), a_run("none", 2)):
        store.keep(run)
    store.keep(a_run("none", 1_000_000, accuracy=0.9))  # of the search
    store.lease("another", "code")
    got = json.loads(studies.list_studies(store.path))
    assert got["in_flight"] == 1
    assert got["unfinished"][0]["rows"] == [{"name": "none", "done": 2, "failed": 1, "mean": 0.6}]
    assert got["unfinished"][0]["searched"] == 1


def test_what_a_kept_study_names_or_searched_for_is_not_unfinished(tmp_path):
    store = Store(tmp_path / "runs.sqlite")
    run = a_run("none", 0, accuracy=0.5)
    store.keep(run)
    store.keep(a_run("none", 1_000_000, accuracy=0.9))
    assert len(unfinished(store)) == 1
    store.keep_study(
        "order-1",
        {"name": "order"},
        {},
        [["none", "none", run.digest, "code"]],
        "locant compare order",
    )
    assert unfinished(store) == []


def test_a_claim_without_a_sign_of_life_does_not_count(tmp_path):
    store = Store(tmp_path / "runs.sqlite")
    store.lease("one", "code")
    with sqlite3.connect(store.path) as base:
        base.execute("UPDATE claims SET seen = seen - 1000")
    assert in_flight(store) == 0
