"""One run: deterministic, what it costs, and nothing chosen on test data."""

from __future__ import annotations

import os
import time

import pytest
import torch
from common_runs import run

from locant.results.reading import read_study
from locant.tasks.order import Order
from locant.training.evaluate import execute
from locant.training.loop import train
from locant.training.memory import forget_peak, peak_megabytes


def test_the_same_settings_give_the_same_bits():
    first, second = execute(run()), execute(run())
    assert first.metrics == second.metrics
    assert first.history == second.history
    assert execute(run(seed=4)).metrics != first.metrics


def test_the_best_step_is_chosen_by_validation_alone():
    outcome = execute(run())
    best = max(entry["accuracy"] for entry in outcome.history)
    assert outcome.metrics["validation"] == best
    assert outcome.metrics["best_step"] in [entry["step"] for entry in outcome.history]


@pytest.mark.parametrize("name", ["order", "gap", "anomaly", "byte-lm"])
def test_a_trial_of_a_search_has_a_validation_score_though_it_is_hardly_tested(name):
    study = read_study(name, changes={"training.steps": 1, "training.warm_up": 0, "training.validation": 1})
    rotary = next(row for row in study.rows() if row.name == "rotary")
    assert "validation" in execute(study.trial(rotary, 0)).metrics


def test_a_digest_names_what_determines_a_run_and_nothing_else():
    assert run().digest() == run(name="another name for the row").digest()
    changes = [
        {"seed": 4},
        {"encoding": "alibi"},
        {"control": "scramble"},
        {"control": "alone"},
        {"device": "meta"},
        {"baseline": "token counts"},
        {"match_scale": False},
    ]
    changes += [{"options": {"base": 100.0}}, {"task_options": {"length": 9, "symbols": 5}}]
    assert len({run(**change).digest() for change in changes} | {run().digest()}) == len(changes) + 1


def test_a_choice_that_older_runs_did_not_have_counts_only_where_it_is_made():
    assert run().digest() == "f6995fdaffe321f9"  # as before there was a choice
    small = run().model.model_dump()
    made = [{"initialisation": "xavier"}, {"input_dropout": "if added"}]
    assert len({run(model={**small, **one}).digest() for one in made} | {run().digest()}) == 3
    assert run().code() == run().code() != run("alibi").code()


def test_a_loss_that_is_not_finite_stops_with_its_step():
    model = torch.nn.Linear(1, 1)
    losses = iter([1.0, 1.0, float("nan")])
    with pytest.raises(FloatingPointError, match="at step 2"):
        train(model, lambda _: model.weight.sum() * 0 + next(losses), steps=5)


def test_a_score_that_is_no_number_is_a_failure(monkeypatch):
    monkeypatch.setattr(Order, "score", lambda self, output, target: {"accuracy": 0.5, "loss": float("nan")})
    with pytest.raises(FloatingPointError, match="in the end: loss"):
        execute(run())


def test_the_peak_of_a_run_does_not_remember_the_run_before():
    if not os.access("/proc/self/clear_refs", os.W_OK):
        pytest.skip("this system cannot start counting anew")
    forget_peak()
    before = peak_megabytes()
    large = torch.ones(60_000_000)
    assert peak_megabytes() > before + 200
    del large
    forget_peak()
    assert peak_megabytes() < before + 100


def test_the_cost_of_a_step_is_its_work_not_what_the_machine_does_meanwhile(monkeypatch):
    execute(run())  # what is loaded at first use is loaded now
    plain = Order.batch
    monkeypatch.setattr(Order, "batch", lambda self, *args: (time.sleep(0.1), plain(self, *args))[1])
    assert execute(run()).cost["seconds_a_step"] < 0.1
