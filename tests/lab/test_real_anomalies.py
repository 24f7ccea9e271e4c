"""Real series with marks: nothing but the marks judges, every row is smoothed alike, and reports speak of series."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from common_nab import FAULT, ROWS, START, mark, write_nab, write_series
from common_runs import run

from locant.cli.app import app
from locant.cli.binding import identified as bound
from locant.engine.attempt import Done
from locant.engine.driver import Driver
from locant.metrics.smoothing import random_scores, smooth, usual_width
from locant.metrics.vus_pr import vus
from locant.report.pictures import pictures
from locant.report.shown import Shown
from locant.report.study import conclusion, heads, markdown
from locant.results.pack import unpack
from locant.results.reading import about, read_studies, read_study
from locant.results.record import read_record
from locant.results.store import Store
from locant.seeds import stable_seed
from locant.statistics.paired import seeds_needed
from locant.tasks.base import facts, identified, make_task
from locant.tasks.real_anomalies import judged
from locant.training.config import RunConfig
from locant.training.evaluate import execute
from locant.training.places import Places

ENCODINGS = ["rotary", "alibi", "t5"]
SMALL = {"length": 16, "width": 4}
PACKED = Path(__file__).parents[2] / "docs" / "studies" / "studies.json.gz"


@pytest.fixture
def nab(tmp_path):
    return write_nab(tmp_path / "nab")


@pytest.fixture
def task(nab):
    return make_task("real-anomalies", folder=str(nab), **SMALL)


def a_run(nab, **more):
    settings = {"steps": 40, "batch": 16, "validate_every": 20, "validation": 8, "warm_up": 4, "rate": 3e-3}
    fields = {"task": "real-anomalies", "task_options": {"folder": str(nab), **SMALL}, "seed": 0}
    return run(**{**fields, "training": settings, **more})


def test_the_series_are_those_with_a_mark_in_the_order_of_their_names(task):
    assert task.names() == ("even/0.csv", "even/1.csv", "uneven/0.csv")
    assert replace(task, sampled="irregular").names() == ("uneven/0.csv",)
    assert facts(task)["names"] == list(task.names())
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
    assert task.loss(right, rows.target) == pytest.approx(2.5)  # the distance less a half farther out


def test_every_point_is_judged_by_a_mask_that_hides_it(task):
    """A model that repeats what it is shown says 0 of what is hidden: every deviation is the value itself."""
    tested = task.test(lambda inputs, real, times: inputs[..., :-1], 0, 0)
    series = task._series(0)
    assert np.allclose(tested.columns["score"], np.abs(series.values[:, 0]), atol=1e-5)
    assert np.flatnonzero(tested.columns["kind"]).tolist() == list(range(*FAULT))


def test_labels_change_what_is_judged_and_nothing_else(nab, tmp_path):
    other = write_nab(tmp_path / "other")
    mark(other, "even/0.csv", [[str(START), str(START + np.timedelta64(7200, "s"))]])
    ours, theirs = (make_task("real-anomalies", folder=str(folder), **SMALL) for folder in (nab, other))
    assert torch.equal(ours.batch(4, 0, 7).inputs, theirs.batch(4, 0, 7).inputs)

    def blind(inputs, real, times):
        return torch.zeros(*inputs.shape[:2], 4)

    assert ours.validate(blind, 8, 0) == theirs.validate(blind, 8, 0)
    tested, again = ours.test(blind, 0, 0), theirs.test(blind, 0, 0)
    assert tested.columns["score"] == again.columns["score"]
    assert tested.scores["VUS-PR"] > 2 * again.scores["VUS-PR"]  # the fault is where ours has its mark


def test_every_row_is_smoothed_alike(task):
    labels, width = task._series(1).labels, usual_width(ROWS)
    assert width > 0
    noise = random_scores(ROWS, width, stable_seed("random scores", 1))
    assert task.baseline("random", 0, 1)["VUS-PR"] == vus(labels, noise)
    rough = np.random.default_rng(3).random(ROWS)
    scores = judged(labels, rough)
    assert scores["VUS-PR"] == vus(labels, smooth(rough[:, None], width)[:, 0])
    assert scores["VUS-PR, not smoothed"] == vus(labels, rough)


@pytest.mark.parametrize("name", ["sub_pca", "distance", "rolling_median", "local_quadratic", "second_difference"])
def test_plain_methods_are_judged_on_the_same_series(task, name):
    scores = task.baseline(name, 0, 0)
    assert set(scores) == set(judged(task._series(0).labels, np.arange(ROWS, dtype=float)))
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


def test_places_are_counted_unless_a_row_asks_for_times():
    inputs, times = torch.zeros(2, 3, 1), torch.tensor([[0.0, 1.5, 2.0], [0.0, 4.0, 9.0]])
    assert Places(run(), "test")(inputs, None, times).pos.tolist() == [0, 1, 2]
    assert torch.equal(Places(run(positions="times"), "test")(inputs, None, times).pos, times)
    with pytest.raises(ValueError, match="tells no times"):
        Places(run(positions="times"), "test")(inputs)


def test_counted_positions_leave_the_names_of_kept_runs_as_they_were():
    store = unpack(PACKED)
    for entry in store.studies():
        for _, _, digest, code in entry["runs"][::50]:
            assert RunConfig(**store.find(digest, code).config).digest() == digest
    assert run(positions="times").digest() != run().digest()


def test_seeds_are_all_series_unless_fewer_are_asked_for(nab, monkeypatch):
    monkeypatch.setenv("LOCANT_NAB", str(nab))
    changes = {f"task_options.{name}": value for name, value in SMALL.items()}
    assert bound(read_study("real-anomalies", changes=changes)).seed_list() == [0, 1, 2]
    assert bound(read_study("real-anomalies", changes={**changes, "seeds": 2})).seed_list() == [0, 1]
    (uneven,) = read_studies("real-anomalies", design="irregular", changes=changes)
    assert bound(uneven).seed_list() == [0]
    assert {"rotary", "rotary, times"} <= {row.name for row in uneven.rows()}
    assert about("real-anomalies").endswith("(15 rows × all series)")


CASES = [
    (["real-anomalies"], "locant compare real-anomalies --nab FOLDER, or set LOCANT_NAB"),
    (["real-anomalies", "--nab", "nowhere"], "there is no folder"),
    (["real-anomalies", "--nab", "bare"], "has no windows.json"),
    (["real-anomalies", "--nab", "broken"], "is no whole JSON"),
    (["real-anomalies", "--nab", "calm"], "no labelled series: windows.json has 2 names"),
    (["real-anomalies", "--nab", "short"], "even/0.csv has 100 rows, but a window has 256"),
    (["real-anomalies", "--nab", "whole"], "marks none or all of the rows of even/0.csv"),
    (["real-anomalies", "--nab", "two"], "even/0.csv has 2 columns of values"),
    (["real-anomalies", "--nab", "nab", "--seeds", "9"], "has 3 series, numbered from 0, but number 8 is asked for"),
    (["real-anomalies", "--nab", "nab", "--set", "search={ seeds = 1 }"], "cannot search: all its series are reported"),
    (["real-anomalies", "--nab", "even", "--design", "irregular"], "is sampled at uneven times"),
    (["order", "--nab", "nab"], "--nab is for studies of the task real-anomalies"),
    (["order", "--set", "seeds=all"], "has no end of them"),
    (["clock.toml", "--nab", "nab"], "t5 takes whole numbers alone"),
    (["order.toml"], "the data of this task have none"),
]


@pytest.mark.parametrize(("words", "said"), CASES)
def test_what_cannot_be_compared_is_told_before_anything_trains(tmp_path, words, said, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOCANT_NAB", "")
    monkeypatch.setattr("locant.cli.compare.Store", None)  # nothing may begin
    write_nab(tmp_path / "nab")
    write_nab(tmp_path / "even", uneven=0)
    write_nab(tmp_path / "calm", even=0, uneven=0)
    write_nab(tmp_path / "short", rows=100)
    mark(write_nab(tmp_path / "whole"), "even/0.csv", [["2014-01-01", "2015-01-01"]])
    (tmp_path / "bare" / "group").mkdir(parents=True)
    (write_nab(tmp_path / "broken") / "windows.json").write_text("{")
    path = write_nab(tmp_path / "two") / "even" / "0.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(f"{line},{'more' if not at else at % 7}" for at, line in enumerate(lines)))
    row = 'title = "t"\ncontrols = ["none"]\nencodings = [{ name = "a", encoding = "t5", positions = "times" }]\n'
    (tmp_path / "clock.toml").write_text(row + 'seeds = "all"\ntask = "real-anomalies"\n')
    (tmp_path / "order.toml").write_text(row + 'task = "order"\n')
    with pytest.raises(SystemExit) as end:
        app(["compare", *words])
    told = capsys.readouterr().err
    assert end.value.code == 2, told
    assert "locant: " in told
    assert said in " ".join(told.split())
    assert not (tmp_path / "locant-results").exists()


def small(folder):
    """The study at a small size on a folder, with few rows."""
    changes = {
        "encodings": ENCODINGS,
        "baselines": ["random"],
        "controls": ["none"],
        "task_options.folder": str(folder),
    }
    changes |= {f"task_options.{name}": value for name, value in SMALL.items()}
    return bound(read_study("real-anomalies", changes=changes))


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """The study on a folder of twelve series, finished without any training."""
    tmp_path = tmp_path_factory.mktemp("kept")
    study = small(write_nab(tmp_path / "many", even=12, uneven=0))
    store, draw = Store(tmp_path / "runs.sqlite"), np.random.default_rng(0)

    def compute(runs):
        for one in runs:
            value = 0.5 + 0.01 * one.seed + draw.normal(0, 0.05)
            cost = {} if one.baseline else {"parameters": 9.0, "seconds_a_step": 0.01, "peak_megabytes": 1.0}
            history = [] if one.baseline else [{"step": 50, "masked loss": 0.5}]
            yield Done(one, {"VUS-PR": value, "validation": 0.5}, history, cost, "")

    which = Driver(study, store, compute).finish(facts(make_task(study.task, **study.task_options)), "locant compare")
    return read_record(store, which)


def test_reports_speak_of_series_and_say_how_many_would_see_what_matters(record):
    scores = [row.scores("VUS-PR") for row in record.rows if row.name in ENCODINGS]
    spread = float(np.median([np.std(a - b, ddof=1) for a, b in combinations(scores, 2)]))
    needed = seeds_needed(0.03, spread)
    assert needed > 20
    assert conclusion(record).endswith(f"To see a difference of 0.03 between two encodings would take {needed} series.")
    assert "could hardly be seen with 12 series" in conclusion(record)
    assert heads(record)[-1] == "series"
    told = markdown(record, [(picture.caption, "") for picture in pictures(record).values()])
    assert "seed" not in told.split("made by")[0].lower()
    assert "VUS-PR on labels that no row was shown, higher is better" in told
    assert "chosen by masked loss, without any label" in told
    assert "every series as a dot" in told
    assert Shown(record).single(11) == "1 series (even/9.csv)"  # the last by name


def test_a_difference_that_matters_is_told_only_where_a_study_names_one(record):
    usual = replace(record, study={**record.study, "unit": "seeds", "matters": None})
    assert conclusion(usual).endswith("could hardly be seen with 12 seeds.")
    assert heads(usual)[-1] == "seeds"
    older = {name: value for name, value in record.study.items() if name not in ("unit", "matters")}
    assert markdown(replace(record, study=older)) == markdown(usual)


def test_a_failed_run_names_its_series(tmp_path):
    study = small(write_nab(tmp_path / "few"))
    store = Store(tmp_path / "runs.sqlite")

    def compute(runs):
        for one in runs:
            yield Done(one, {"VUS-PR": 0.5, "validation": 0.5}, [], {}, "it broke" if one.seed == 1 else "")

    which = Driver(study, store, compute).finish(facts(make_task(study.task, **study.task_options)), "locant compare")
    assert read_record(store, which).rows[0].failures == ["series 1: it broke"]


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
