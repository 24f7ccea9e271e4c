"""One run: deterministic, what it costs, and nothing chosen on test data."""

from __future__ import annotations

import os
import time

import pytest
import torch
from common_runs import run

from locant.lab.study_files import read_study
from locant.lab.tasks.order import Order
from locant.lab.training.evaluate import execute
from locant.lab.training.loop import train
from locant.lab.training.peak_memory import forget_peak, peak_megabytes


def test_the_same_settings_give_the_same_bits():
    first, second = execute(run()), execute(run())
    assert first.metrics == second.metrics
    assert first.history == second.history
    assert execute(run(seed=4)).metrics != first.metrics


def test_the_best_step_is_chosen_by_validation_alone():
    outcome = execute(run())
    losses = [entry["loss"] for entry in outcome.history]
    assert outcome.metrics["validation"] == min(losses)
    late = losses[len(losses) // 2 :]
    assert outcome.metrics["validation, second half"] == pytest.approx(sum(late) / len(late))
    assert outcome.metrics["best_step"] in [entry["step"] for entry in outcome.history]


@pytest.mark.parametrize("name", ["order", "gap", "anomaly", "byte-lm"])
def test_a_trial_of_a_search_has_a_validation_score_though_it_is_hardly_tested(name):
    study = read_study(
        name, changes={"training.steps": 1, "training.warm_up": 0, "training.validation": 1}
    )
    rotary = next(row for row in study.rows() if row.name == "rotary")
    assert "validation" in execute(study.trial(rotary, 0, (1.0, 1.0))).metrics


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
    assert (
        len({run(**change).digest() for change in changes} | {run().digest()}) == len(changes) + 1
    )


def losses_of(monkeypatch, *losses):
    """Validation gives these losses, one after the other."""
    given = iter(losses)
    monkeypatch.setattr(
        Order, "score", lambda self, output, target: {"accuracy": 0.5, "loss": next(given, 9.0)}
    )


TEN = {"steps": 10, "batch": 4, "validate_every": 1, "validation": 4, "test": 4}


def test_training_ends_when_three_validations_in_a_row_are_low_and_the_rest_counts_as_it_was(
    monkeypatch,
):
    losses_of(monkeypatch, 0.9, 0.05, 0.5, 0.05, 0.02, 0.03)
    metrics = execute(run(training={**TEN, "stop_below": 0.1})).metrics
    assert metrics["steps"] == 6
    assert metrics["best_step"] == 5
    assert metrics["validation, second half"] == pytest.approx((0.03 + 4 * 0.03) / 5)


@pytest.mark.parametrize(("bound", "steps"), [(0.39, 7), (0.41, 8), (10.0, 10), (None, 10)])
def test_a_run_is_abandoned_as_soon_as_its_mean_can_only_lie_above_the_bound(
    monkeypatch, bound, steps
):
    losses_of(monkeypatch, *[1.0] * 11)
    outcome = execute(run(training={**TEN, "abandon_above": bound}))
    assert outcome.metrics["steps"] == steps
    assert ("accuracy" in outcome.metrics) == (
        steps == 10
    )  # nothing is tested that nobody will look at
    assert outcome.metrics["validation, second half"] == 1.0


def test_a_loss_that_is_not_finite_stops_with_its_step():
    model = torch.nn.Linear(1, 1)
    losses = iter([1.0, 1.0, float("nan")])
    with pytest.raises(FloatingPointError, match="at step 2"):
        train(model, lambda _: model.weight.sum() * 0 + next(losses), steps=5)


def test_a_score_that_is_no_number_is_a_failure(monkeypatch):
    monkeypatch.setattr(
        Order, "score", lambda self, output, target: {"accuracy": 0.5, "loss": float("nan")}
    )
    with pytest.raises(FloatingPointError, match="not finite: loss"):
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
    monkeypatch.setattr(
        Order, "batch", lambda self, *args: (time.sleep(0.1), plain(self, *args))[1]
    )
    assert execute(run()).cost["seconds_a_step"] < 0.1
