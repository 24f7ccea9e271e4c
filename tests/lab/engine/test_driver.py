"""The driver from inside: searches, checks, longer runs, claims, failures."""

from __future__ import annotations

import math
import multiprocessing
import time
from dataclasses import replace

import pytest
from common_lab import write_tiny

from locant.lab.engine import driver as driver_module
from locant.lab.engine import local
from locant.lab.engine.attempt import RunFiles, attempt
from locant.lab.engine.driver import Driver
from locant.lab.progress import Display
from locant.lab.store import store as store_module
from locant.lab.store.record import read_record
from locant.lab.store.store import Store
from locant.lab.store.store_errors import StoreError
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study import FIRST_CHECK_SEED, FIRST_LONGER_SEED, FIRST_SEARCH_SEED, Claim
from locant.lab.study_files import read_study
from locant.lab.training.run_result import RunResult

FACTS = TaskFacts(
    metric="accuracy",
    higher_is_better=True,
    selection_metric="loss",
    selects_higher=False,
    chance=0.5,
    threshold=0.9,
    ceilings={"without positions": 0.5},
)


def scripted(loss, seen=None, accuracy=0.95):
    """An engine that computes nothing: validation is what `loss` says of a run, None for a
    failure."""

    def compute(runs):
        for run in runs:
            if seen is not None:
                seen.append(run)
            value = loss(run)
            if value is None:
                yield RunResult.failed(run, "FloatingPointError: the loss is nan at step 3")
                continue
            metrics = {"validation": value, "validation, second half": value, "accuracy": accuracy}
            history = [{"step": 6, "loss": value, "accuracy": accuracy}]
            yield RunResult.done(run, metrics, history)

    return compute


@pytest.fixture
def tiny(tmp_path):
    def make(**changes):
        return read_study(str(write_tiny(tmp_path)), changes=changes), Store(
            tmp_path / "runs.sqlite"
        )

    return make


SEARCH = {"rate": [1.0, 3.0], "positional_rate": [1.0, 10.0, 100.0], "check": 0}


def is_search(run):
    return FIRST_SEARCH_SEED <= run.seed < FIRST_CHECK_SEED


def multiples(run, study):
    return round(run.training.rate / study.training.rate, 6), round(run.training.positional_rate, 6)


def test_every_reported_seed_has_a_search_of_its_own_by_a_seed_that_is_not_reported(tiny):
    study, store = tiny(search=SEARCH, seeds=4, encodings=["t5"])
    seen = []

    def loss(run):  # every search seed likes another positional rate
        return abs(math.log10(run.training.positional_rate) - run.seed % 2) + run.training.rate

    which = Driver(study, store, scripted(loss, seen)).finish(FACTS, "test")
    reported = {run.seed: run for run in seen if run.name == "t5" and run.seed < FIRST_SEARCH_SEED}
    searched = [run for run in seen if is_search(run)]
    assert {seed: run.training.positional_rate for seed, run in reported.items()} == {
        0: 1.0,
        1: 10.0,
        2: 1.0,
        3: 10.0,
    }
    assert {run.seed - FIRST_SEARCH_SEED for run in searched} == {0, 1, 2, 3}
    assert {run.training.test for run in searched} == {
        1
    }  # its validation chooses; the test data are left alone
    assert {run.training.test for run in reported.values()} == {study.training.test} != {1}
    assert len({run.digest() for run in seen}) == len(seen)  # nothing twice
    choices = next(entry for entry in store.studies() if entry.id == which).choices
    assert choices["rates"]["t5"] == [[1.0, 1.0], [1.0, 10.0], [1.0, 1.0], [1.0, 10.0]]
    tried = [line for line in choices["search"] if line[0] == "t5"]
    assert all(
        store.find(digest, code) is not None for *_, digest, code in tried
    )  # every try can be looked at
    assert len(tried) == len([run for run in searched if run.name == "t5"])


def test_every_row_gets_as_many_tries_whatever_it_learns(tiny):
    study, store = tiny(search=SEARCH, encodings=["rotary", "t5"])
    seen = []
    Driver(study, store, scripted(lambda run: 0.5, seen)).finish(FACTS, "t")
    first = {
        name: {
            multiples(run, study)
            for run in seen
            if run.name == name and run.seed == FIRST_SEARCH_SEED
        }
        for name in ("rotary", "t5")
    }
    assert {name: len(tried) for name, tried in first.items()} == {"rotary": 4, "t5": 4}
    assert {run.name for run in seen if is_search(run)} == {
        "rotary",
        "t5",
    }  # the others have an exact ceiling
    assert {own for _, own in first["rotary"]} == {1.0}
    assert {own for _, own in first["t5"]} == {1.0, 10.0, 100.0}


def test_a_run_of_a_search_knows_what_it_has_to_beat(tiny):
    study, store = tiny(search=SEARCH, encodings=["t5"])
    seen = []
    Driver(study, store, scripted(lambda run: run.training.rate, seen)).finish(FACTS, "t")
    own = [run for run in seen if run.name == "t5" and run.seed == FIRST_SEARCH_SEED]
    assert own[0].training.abandon_above is None
    assert [run.training.abandon_above for run in own[1:]] == [study.training.rate] * 3
    assert {run.training.abandon_above for run in seen if not is_search(run)} == {None}
    later = []
    best_step, store = tiny(search={**SEARCH, "judged_by": "best step"}, encodings=["t5"])
    Driver(best_step, store, scripted(lambda run: 0.5, later)).finish(FACTS, "t")
    assert {run.training.abandon_above for run in later} == {
        None
    }  # a late start may still have the best step


def test_another_number_is_another_search_by_other_seeds(tiny):
    seeds = []
    for number in (0, 1):
        study, store = tiny(search={**SEARCH, "number": number})
        seen = []
        Driver(study, store, scripted(lambda run: 0.5, seen)).finish(FACTS, "t")
        seeds.append({run.seed for run in seen if is_search(run)})
    assert not seeds[0] & seeds[1]


def test_fixed_points_of_the_grid_are_run_on_fresh_seeds_for_every_row(tiny):
    study, store = tiny(search={**SEARCH, "check": 2}, encodings=["rotary", "t5"])
    seen = []
    which = Driver(study, store, scripted(lambda run: run.training.positional_rate, seen)).finish(
        FACTS, "t"
    )
    checks = [run for run in seen if run.seed >= FIRST_CHECK_SEED]
    assert {(run.name, *multiples(run, study)) for run in checks if run.name == "t5"} == {
        ("t5", 1.0, 1.0),
        ("t5", 1.0, 10.0),
        ("t5", 1.0, 100.0),
    }
    assert {multiples(run, study)[0] for run in checks if run.name == "rotary"} == {
        round(1 / 3, 6),
        1.0,
        3.0,
    }
    assert {run.seed for run in checks} == {FIRST_CHECK_SEED, FIRST_CHECK_SEED + 1}
    assert {run.training.test for run in checks} == {study.training.test}
    record = read_record(store, which)
    assert {run.name for run in record.checks} == {"rotary", "t5"}
    assert {run.score for run in record.checks} == {0.95}


@pytest.mark.parametrize(("accuracy", "rows"), [(0.95, set()), (0.6, {"t5"})])
def test_a_row_that_is_not_learnt_is_run_for_longer_unless_it_cannot_be(tiny, accuracy, rows):
    ceilings = {"without positions": 0.5, "blind to direction": 0.5}
    study, store = tiny(longer={"times": 4, "rate": [1.0, 0.5]}, encodings=["t5", "alibi"])
    seen, high = [], {"without positions": 0.5, "blind to direction": 0.95}
    which = Driver(study, store, scripted(lambda run: 0.5, seen, accuracy)).finish(
        replace(FACTS, ceilings=ceilings), "t"
    )
    longer = [run for run in seen if run.seed >= FIRST_LONGER_SEED]
    assert {run.name for run in longer} == rows
    assert {run.training.steps for run in longer} <= {4 * study.training.steps}
    assert len(longer) == 2 * len(rows)
    assert read_record(store, which).barred == {"none": 0.5, "scrambled": 0.5, "alibi": 0.5}
    more = []
    Driver(study, store, scripted(lambda run: 0.5, more, accuracy)).finish(
        replace(FACTS, ceilings=high), "t"
    )
    assert {run.name for run in more if run.seed >= FIRST_LONGER_SEED} == (
        {"alibi"} if rows else set()
    )  # .95 bars nobody


def test_a_rate_at_which_runs_fail_is_never_chosen(tiny):
    study, store = tiny(search=SEARCH)
    seen = []
    limit = study.training.rate * 2
    Driver(
        study, store, scripted(lambda run: None if run.training.rate > limit else 0.5, seen)
    ).finish(FACTS, "t")
    assert all(run.training.rate <= limit for run in seen if run.seed < FIRST_SEARCH_SEED)


def test_a_failure_is_kept_as_a_failure_and_not_tried_again_by_itself(tiny):
    study, store = tiny()
    seen = []
    compute = scripted(lambda run: None if run.name == "t5" else 0.5, seen)
    Driver(study, store, compute).finish(FACTS, "t")
    count = len(seen)
    Driver(study, store, compute).finish(FACTS, "t")
    assert len(seen) == count
    kept = store.find(study.run(study.rows()[-1], 0).digest(), None)
    assert (kept.status, kept.metrics) == ("failed", {})
    assert "at step 3" in kept.error


def test_a_run_that_another_driver_has_is_left_to_it_until_it_falls_silent(tiny, monkeypatch):
    study, store = tiny()
    other = Store(store.path)
    other.owner = "elsewhere/1"
    run = study.run(study.rows()[0], 0)
    assert other.lease(run.digest(), run.code())
    assert not store.lease(run.digest(), run.code())
    monkeypatch.setattr(store_module, "STALE", 0.0)
    time.sleep(0.01)
    assert store.lease(run.digest(), run.code())


def test_a_long_run_keeps_its_claim(tiny, monkeypatch):
    monkeypatch.setattr(driver_module, "STALE", 0.6)
    study, store = tiny(seeds=1, controls=[], encodings=["rotary"])
    other = Store(store.path)
    other.owner = "elsewhere/1"
    run = study.run(study.rows()[0], 0)
    stamps = []

    def slow(runs):
        for one in runs:
            time.sleep(0.5)
            with store._open() as base:
                stamps.append(base.execute("SELECT seen FROM claims").fetchone()[0])
            yield RunResult.done(one, {"validation": 1.0, "accuracy": 1.0})

    begun = time.time()
    Driver(study, store, slow).finish(FACTS, "t")
    assert stamps[0] > begun + 0.05
    assert other.lease(run.digest() + "x", run.code())  # and all claims are given back
    with store._open() as base:
        assert base.execute(
            "SELECT COUNT(*) FROM claims WHERE owner = ?", (store.owner,)
        ).fetchone() == (0,)


def test_changed_code_makes_old_runs_strangers_unless_told(tiny, monkeypatch):
    study, store = tiny()
    seen = []
    compute = scripted(lambda run: 0.5, seen)
    Driver(study, store, compute).finish(FACTS, "t")
    count = len(seen)
    monkeypatch.setattr("locant.lab.training.config.version", lambda _: "another torch")
    Driver(study, store, compute, any_code=True).finish(FACTS, "t")
    assert len(seen) == count
    Driver(study, store, compute).finish(FACTS, "t")
    assert len(seen) == 2 * count


def test_a_file_that_cannot_be_written_stops_the_study_and_fails_no_run(tiny, tmp_path):
    study, store = tiny(keep_files=True)
    (tmp_path / "in the way").write_text("")
    files = RunFiles(str(tmp_path / "in the way"), keep=True)
    run = study.run(study.rows()[0], 0)
    with pytest.raises(
        StoreError, match=r"could not write its files.*\n.*the same command goes on"
    ):
        Driver(study, store, lambda runs: iter([attempt(run, files)])).finish(FACTS, "t")
    assert store.find(run.digest(), None) is None


@pytest.mark.parametrize("sign", [1, -1])
def test_the_display_knows_that_a_plain_method_has_no_validation(sign):
    display = Display()
    display.sign = sign
    display.planned("runs", 2, [])
    for metrics in ({"F1": 0.5}, {"F1": 0.5, "validation": 0.3}):
        display.ended(
            read_study("order").run(read_study("order").rows()[0], 0),
            RunResult("d", "c", {"name": "none"}, "done", metrics),
        )
    assert display.best == (sign * 0.3, "none")


def test_after_a_resume_the_best_so_far_remembers_the_runs_that_were_kept():
    display = Display()
    kept = [
        RunResult("d", "c", {"name": name}, "done", {"validation": v})
        for name, v in (("a", 0.9), ("b", 0.2))
    ]
    display.planned("runs", 3, kept[:1])
    display.ended(None, kept[1])
    assert display.best == (0.9, "a")


def test_of_equal_rates_the_study_s_own_is_taken(tiny):
    study, store = tiny(search=SEARCH)
    seen = []
    Driver(study, store, scripted(lambda run: 0.5, seen)).finish(FACTS, "t")
    assert {multiples(run, study) for run in seen if run.seed < FIRST_SEARCH_SEED} == {(1.0, 1.0)}


def test_a_class_that_does_not_say_what_it_learns_is_searched_like_one_that_does(tiny, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "import torch\nfrom locant.encodings.base import Encoding\n\nclass Mine(Encoding):\n"
        "    def __init__(self, shape):\n        super().__init__(shape)\n"
        "        self.table = torch.nn.Parameter(torch.zeros(shape.length, shape.dim))\n"
        "    def embed(self, x, pos):\n        return x + self.table[pos]\n"
    )
    study, store = tiny(search=SEARCH, encodings=[f"{mine}:Mine"])
    seen = []
    Driver(study, store, scripted(lambda run: 0.5, seen)).finish(FACTS, "t")
    assert {run.training.positional_rate for run in seen if run.name == "Mine"} == {
        1.0,
        10.0,
        100.0,
    }


def test_failed_runs_of_the_search_too_are_tried_again_when_asked(tiny):
    study, store = tiny(search=SEARCH)
    Driver(study, store, scripted(lambda run: None)).finish(FACTS, "t")
    again = []
    Driver(study, store, scripted(lambda run: 0.5, again), retry=True).finish(FACTS, "t")
    assert any(run.seed >= FIRST_SEARCH_SEED for run in again)
    assert len({run.digest() for run in again}) == len(again)  # each once
    more = []
    Driver(study, store, scripted(lambda run: 0.5, more), retry=True).finish(FACTS, "t")
    assert more == []


def test_a_run_that_has_been_finished_elsewhere_cannot_be_claimed(tiny):
    study, store = tiny()
    run = study.run(study.rows()[0], 0)
    Store(store.path).keep(RunResult(run.digest(), run.code(), run.model_dump(), "done"))
    assert not store.lease(run.digest(), run.code())


def test_two_classes_of_one_name_are_two_rows(tiny, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        text = "from locant.encodings.base import Encoding\n\nclass Mine(Encoding):\n    pass\n"
        (tmp_path / folder / "mine.py").write_text(text)
        (tmp_path / folder / "my.py").write_text(text.replace("Mine", "none"))
    study, _ = tiny(
        encodings=[
            f"{tmp_path}/a/mine.py:Mine",
            f"{tmp_path}/b/mine.py:Mine",
            f"{tmp_path}/a/my.py:none",
        ]
    )
    names = [row.name for row in study.rows()]
    assert names == [
        "none",
        "scrambled",
        f"{tmp_path}/a/mine.py:Mine",
        f"{tmp_path}/b/mine.py:Mine",
        "my.py:none",
    ]


def test_rows_of_one_name_with_different_settings_are_refused(tiny):
    with pytest.raises(ValueError, match="two different rows are called 'rotary'"):
        tiny(
            encodings=[
                "rotary",
                {"name": "rotary", "encoding": "rotary", "options": {"base": 100.0}},
            ]
        )


def test_a_row_that_is_asked_for_by_name_keeps_what_its_study_gives_it():
    study = read_study("slots-faithful", changes={"encodings": ["relative", "t5"]})
    rows = {row.name: row for row in study.rows()}
    assert rows["relative"].options == {"max_distance": 128}
    assert not rows["relative"].match_scale
    assert rows["t5"].match_scale


@pytest.mark.parametrize("bounds", [{}, {"above": 0.1, "below": 0.2}])
def test_a_claim_has_a_bound_on_exactly_one_side(bounds):
    with pytest.raises(ValueError, match="give above, or below"):
        Claim(claim="c", published="p", metric="accuracy", row="rotary", **bounds)


@pytest.mark.slow
def test_a_worker_that_dies_while_it_waits_costs_nothing(tiny):
    study, _ = tiny(seeds=3)
    runs = [study.run(row, seed) for row in study.rows()[:2] for seed in range(3)]
    before = set(multiprocessing.active_children())
    engine = local.compute(runs, workers=2)
    ended = [next(engine)]
    for child in set(multiprocessing.active_children()) - before:
        child.kill()
        child.join()
    ended += engine
    assert sorted(done.digest for done in ended) == sorted(run.digest() for run in runs)
    assert all(done.metrics and not done.error for done in ended)
