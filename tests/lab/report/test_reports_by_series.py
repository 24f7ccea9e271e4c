"""A study paired over series: its reports speak of series, and say how many would see what
matters."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from common_nab import SMALL, write_nab

from locant.lab.binding import bind as bound
from locant.lab.engine.driver import Driver
from locant.lab.report.conclusion import conclusion
from locant.lab.report.score_table import header, rank_entrants
from locant.lab.report.study_page import markdown
from locant.lab.report.study_pictures import pictures
from locant.lab.report.study_view import StudyView
from locant.lab.statistics.paired import seeds_needed
from locant.lab.store.record import read_record
from locant.lab.store.store import Store
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study import read_stored_study
from locant.lab.study_files import read_study
from locant.lab.tasks.base import make_task
from locant.lab.training.run_result import RunResult

ENCODINGS = ["rotary", "alibi", "t5"]


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
            cost = (
                {}
                if one.baseline
                else {"parameters": 9.0, "seconds_a_step": 0.01, "peak_megabytes": 1.0}
            )
            history = [] if one.baseline else [{"step": 50, "masked loss": 0.5}]
            yield RunResult.done(one, {"VUS-PR": value, "validation": 0.5}, history, cost)

    which = Driver(study, store, compute).finish(
        TaskFacts.of(make_task(study.task, **study.task_options)), "locant compare"
    )
    return read_record(store, which)


def test_reports_speak_of_series_and_say_how_many_would_see_what_matters(record):
    scores = [row.scores("VUS-PR") for row in record.entrants if row.name in ENCODINGS]
    spread = float(np.median([np.std(a - b, ddof=1) for a, b in combinations(scores, 2)]))
    level = rank_entrants(record).level
    needed = seeds_needed(0.03, spread, alpha=level)
    assert needed > seeds_needed(0.03, spread) > 20  # the correction for all pairs is not for free
    assert conclusion(record).endswith(
        "To show a difference of 0.03 between two encodings, corrected for all pairs, would take "
        f"about {needed} series."
    )
    assert "12 series would rarely show a difference below" in conclusion(record)
    assert header(record)[-1] == "series"
    told = markdown(record, [(picture.caption, "") for picture in pictures(record).values()])
    assert "seed" not in told.split("made by")[0].lower()
    assert "VUS-PR on labels that no entrant saw, higher is better" in told
    assert "selected by masked loss, without any label" in told
    assert "every series as a dot" in told
    assert StudyView(record).single_words(11) == "1 series (even/9.csv)"  # the last by name


def test_a_difference_that_matters_is_told_only_where_a_study_names_one(record):
    changed = {"unit": "seeds", "matters": None}
    usual = replace(record, settings=record.settings.model_copy(update=changed))
    assert conclusion(usual).endswith(", corrected for all pairs.")
    assert "12 seeds would rarely show a difference below" in conclusion(usual)
    assert header(usual)[-1] == "seeds"
    stored = record.settings.model_dump()
    older = {name: value for name, value in stored.items() if name not in ("unit", "matters")}
    assert markdown(replace(record, settings=read_stored_study(older))) == markdown(usual)


def test_a_failed_run_names_its_series(tmp_path):
    study = small(write_nab(tmp_path / "few"))
    store = Store(tmp_path / "runs.sqlite")

    def compute(runs):
        for one in runs:
            done = RunResult.done(one, {"VUS-PR": 0.5, "validation": 0.5})
            yield RunResult.failed(one, "it broke") if one.seed == 1 else done

    which = Driver(study, store, compute).finish(
        TaskFacts.of(make_task(study.task, **study.task_options)), "locant compare"
    )
    assert read_record(store, which).entrants[0].failures == ["series 1: it broke"]
