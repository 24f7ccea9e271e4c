"""Real series with marks: nothing but the marks judges, and every row is smoothed alike."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from common_nab import FAULT, ROWS, SMALL, START, mark, write_nab, write_series
from common_runs import run

from locant._internal.seeds import stable_seed
from locant.anomaly.metrics.smoothing import default_width, random_scores, smooth
from locant.anomaly.metrics.vus_pr import vus_pr
from locant.anomaly.metrics.vus_window import vus_window
from locant.lab.store.pack import unpack
from locant.lab.store.task_facts import TaskFacts
from locant.lab.tasks.base import identified, make_task
from locant.lab.tasks.real_anomalies import label_metrics
from locant.lab.training.config import RunConfig, TrainingConfig
from locant.lab.training.evaluate import execute
from locant.lab.training.position_policy import PositionPolicy

PACKED = Path(__file__).parents[3] / "docs" / "studies" / "studies.json.gz"


@pytest.fixture
def task(nab):
    return make_task("real-anomalies", folder=str(nab), **SMALL)


def a_run(nab, **more):
    settings = {
        "steps": 40,
        "batch": 16,
        "validate_every": 20,
        "validation": 8,
        "warm_up": 4,
        "rate": 3e-3,
    }
    fields = {"task": "real-anomalies", "task_options": {"folder": str(nab), **SMALL}, "seed": 0}
    return run(**{**fields, "training": settings, **more})


def test_the_series_are_those_with_a_mark_in_the_order_of_their_names(task):
    assert task.names() == ("even/0.csv", "even/1.csv", "uneven/0.csv")
    assert replace(task, sampled="irregular").names() == ("uneven/0.csv",)
    assert TaskFacts.of(task).names == task.names()
    with pytest.raises(ValueError, match=r"has 3 such series, 0 to 2. Got 3"):
        task.batch(2, seed=3, step=0)


def test_what_the_folder_holds_is_part_of_a_run_s_identity(nab):
    before = identified("real-anomalies", {"folder": str(nab), **SMALL})
    make_task("real-anomalies", **before)
    mark(nab, "even/0.csv", [[str(START), str(START + np.timedelta64(3600, "s"))]])
    assert identified("real-anomalies", {"folder": str(nab), **SMALL})["digest"] != before["digest"]
    with pytest.raises(ValueError, match="does not hold what it held"):
        make_task("real-anomalies", **before)


def test_where_the_folder_lies_is_no_part_of_it(nab, tmp_path, monkeypatch):
    monkeypatch.setenv("LOCANT_NAB", str(nab))
    here = identified("real-anomalies", SMALL)
    nab.rename(tmp_path / "moved")
    monkeypatch.setenv("LOCANT_NAB", str(tmp_path / "moved"))
    assert identified("real-anomalies", SMALL) == here
    assert make_task("real-anomalies", **here).names()[0] == "even/0.csv"


def test_what_is_hidden_is_not_shown_and_only_that_is_asked(task):
    rows = task.batch(5, seed=1, step=2)
    hidden = rows.target[..., -1] > 0
    assert rows.inputs.shape == rows.target.shape == (5, 16, 5)
    assert torch.equal(hidden, rows.inputs[..., -1] > 0)
    assert hidden.sum(1).min() >= 3  # a span
    assert (rows.inputs[..., :-1][hidden] == 0).all()
    assert torch.equal(rows.inputs[..., :-1][~hidden], rows.target[..., :-1][~hidden])
    right = rows.target[..., :-1].clone()
    right[~hidden] += 5  # not asked
    assert task.loss(right, rows.target) == 0
    right[hidden] += 0.5
    assert task.loss(right, rows.target) == pytest.approx(0.125)  # half the square near by,
    right[hidden] += 2.5
    assert task.loss(right, rows.target) == pytest.approx(
        2.5
    )  # the distance less a half farther out


def test_every_point_is_judged_by_a_mask_that_hides_it(task):
    """A model that repeats what it is shown says 0 of what is hidden: every deviation is the value
    itself."""
    tested = task.test(lambda inputs, padding_mask, times: inputs[..., :-1], 0, 0)
    series = task._series(0)
    assert np.allclose(tested.columns["score"], np.abs(series.values[:, 0]), atol=1e-5)
    assert np.flatnonzero(tested.columns["kind"]).tolist() == list(range(*FAULT))


def test_labels_change_what_is_judged_and_nothing_else(nab, tmp_path):
    other = write_nab(tmp_path / "other")
    mark(other, "even/0.csv", [[str(START), str(START + np.timedelta64(7200, "s"))]])
    ours, theirs = (
        make_task("real-anomalies", folder=str(folder), **SMALL) for folder in (nab, other)
    )
    assert torch.equal(ours.batch(4, 0, 7).inputs, theirs.batch(4, 0, 7).inputs)

    def blind(inputs, padding_mask, times):
        return torch.zeros(*inputs.shape[:2], 4)

    assert ours.validate(blind, 8, 0) == theirs.validate(blind, 8, 0)
    tested, again = ours.test(blind, 0, 0), theirs.test(blind, 0, 0)
    assert tested.columns["score"] == again.columns["score"]
    assert (
        tested.scores["VUS-PR"] > 2 * again.scores["VUS-PR"]
    )  # the fault is where ours has its mark


def test_every_row_is_smoothed_alike_and_forgiven_a_period_of_the_series(task):
    series, width = task._series(1), default_width(ROWS)
    assert width > 0

    def vus(labels, scores):
        return vus_pr(labels, scores, window=vus_window(series.values))

    labels = series.labels
    noise = random_scores(ROWS, width, stable_seed("random scores", 1))
    assert task.baseline("random", 0, 1)["VUS-PR"] == vus(labels, noise)
    rough = np.random.default_rng(3).random(ROWS)
    scores = label_metrics(series, rough)
    assert scores["VUS-PR"] == vus(labels, smooth(rough[:, None], width)[:, 0])
    assert scores["VUS-PR, not smoothed"] == vus(labels, rough)


@pytest.mark.parametrize(
    "name", ["sub_pca", "distance", "rolling_median", "local_quadratic", "second_difference"]
)
def test_plain_methods_are_judged_on_the_same_series(task, name):
    scores = task.baseline(name, 0, 0)
    assert set(scores) == set(label_metrics(task._series(0), np.arange(ROWS, dtype=float)))
    assert all(0 <= value <= 1 for value in scores.values())


def test_chance_is_what_random_scores_reach(task):
    values = [task.baseline("random", 0, seed)["VUS-PR"] for seed in range(3)]
    assert task.chance == pytest.approx(np.mean(values), abs=6e-4)


def test_a_trained_model_finds_the_fault(nab):
    metrics = execute(a_run(nab, encoding="rotary")).metrics
    assert metrics["VUS-PR"] > 0.6
    assert metrics["validation"] > 0  # the masked loss that chose the step


def test_times_are_the_count_where_series_are_even(task):
    even, uneven = task.batch(4, 0, 0).times, task.batch(4, 2, 0).times
    assert torch.equal(even, torch.arange(16.0).double().expand(4, -1))
    assert (uneven[:, 0] == 0).all()
    assert (uneven.diff() >= 1).all()
    assert uneven[:, -1].min() > 18


def test_positions_by_the_clock_change_answers_where_series_are_uneven_alone(nab):
    scores = {
        (seed, kind): execute(a_run(nab, encoding="rotary", seed=seed, positions=kind)).metrics
        for seed in (0, 2)
        for kind in ("order", "times")
    }
    assert scores[0, "order"] == scores[0, "times"]
    assert scores[2, "order"] != scores[2, "times"]


def test_positions_are_counted_unless_a_row_asks_for_times():
    inputs, times = torch.zeros(2, 3, 1), torch.tensor([[0.0, 1.5, 2.0], [0.0, 4.0, 9.0]])
    assert PositionPolicy(run(), "test")(inputs, None, times).pos.tolist() == [0, 1, 2]
    assert torch.equal(
        PositionPolicy(run(positions="times"), "test")(inputs, None, times).pos, times
    )
    with pytest.raises(ValueError, match="have no times"):
        PositionPolicy(run(positions="times"), "test")(inputs)


def test_packed_runs_of_this_version_keep_their_names_and_counted_positions_are_left_unsaid():
    store = unpack(PACKED)
    for entry in store.studies():
        for _, _, digest, code in entry.runs[::50]:
            config = store.find(digest, code).config
            if set(config["training"]) == set(
                TrainingConfig.model_fields
            ):  # others had fewer settings
                assert RunConfig(**config).digest() == digest
    assert run(positions="times").digest() != run().digest()


def test_a_series_without_even_one_gap_too_many_is_no_uneven_one(tmp_path):
    """A single hole in a regular series does not make it irregular."""
    folder = write_nab(tmp_path / "nab", uneven=0)
    times = START + np.arange(ROWS) * np.timedelta64(300, "s")
    times[100:] += np.timedelta64(86_400, "s")
    write_series(folder / "even" / "0.csv", times, np.sin(np.arange(ROWS) / 5))
    mark(folder, "even/0.csv", [[str(times[120]), str(times[140])]])
    task = make_task("real-anomalies", folder=str(folder), **SMALL)
    assert task._series(0).irregular < 0.1
    with pytest.raises(ValueError, match="uneven times"):
        replace(task, sampled="irregular").names()
