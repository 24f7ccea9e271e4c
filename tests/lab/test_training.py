"""One run: paired, matched, deterministic, and nothing chosen on test data."""

from __future__ import annotations

import pytest
import torch

from locant.catalog import names
from locant.tasks.base import make_task, task_names
from locant.tasks.order import Order
from locant.training.build import Scaled, build
from locant.training.config import RunConfig
from locant.training.evaluate import Places, execute
from locant.training.loop import train


def run(encoding="rotary", **more):
    model = {"dim": 16, "heads": 2, "layers": 1, "ffn": 16}
    training = {"steps": 12, "batch": 4, "validate_every": 6, "validation": 16, "test": 32, "warm_up": 4}
    fields = {"task": "order", "task_options": {"length": 8, "symbols": 5}, "name": encoding, "encoding": encoding}
    return RunConfig(**{**fields, "seed": 3, "model": model, "training": training, **more})


@pytest.mark.parametrize("name", names())
def test_every_encoding_of_a_seed_starts_from_the_same_shared_weights(name):
    task = make_task("order", length=8, symbols=5)
    one, other = build(run(name), task).state_dict(), build(run("none"), task).state_dict()
    shared = [key for key in other if not key.startswith("body.encodings")]
    assert shared
    assert all(torch.equal(one[key], other[key]) for key in shared)


@pytest.mark.parametrize("name", ["sinusoidal", "learned", "hybrid", "continuous", "fourier"])
def test_what_is_added_to_the_input_has_the_size_of_a_token(name):
    model = build(run(name), make_task("order", length=8, symbols=5))
    encoding = model.body.encodings[0]
    assert isinstance(encoding, Scaled)
    added = encoding.embed(torch.zeros(1, 8, 16), torch.arange(8))
    assert added.square().mean().sqrt().item() == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("name", ["rotary", "alibi", "t5", "shaw", "none"])
def test_what_does_not_add_to_the_input_is_left_alone(name):
    assert not isinstance(build(run(name), make_task("order", length=8, symbols=5)).body.encodings[0], Scaled)


def test_the_same_settings_give_the_same_bits():
    first, second = execute(run()), execute(run())
    assert first.metrics == second.metrics
    assert first.history == second.history
    assert execute(run(seed=4)).metrics != first.metrics


def test_a_scrambled_control_meets_the_same_data_in_the_same_order(monkeypatch):
    met = {}
    for sampler in ("", "scramble"):
        rows = met.setdefault(sampler, [])
        plain = Order.sample

        def spy(self, count, generator, rows=rows, plain=plain):
            batch = plain(self, count, generator)
            rows.append(batch.inputs)
            return batch

        monkeypatch.setattr(Order, "sample", spy)
        execute(run("sinusoidal", sampler=sampler))
        monkeypatch.setattr(Order, "sample", plain)
    assert len(met[""]) == len(met["scramble"])
    assert all(torch.equal(a, b) for a, b in zip(met[""], met["scramble"], strict=True))


def test_scrambled_positions_are_the_same_ones_in_another_order_for_every_row():
    pos = Places(run(sampler="scramble"), "train")(torch.zeros(50, 8))
    assert torch.equal(pos.sort(-1).values, torch.arange(8).expand(50, 8))
    assert len(pos.unique(dim=0)) > 40


def test_the_best_step_is_chosen_by_validation_alone():
    outcome = execute(run())
    best = max(entry["accuracy"] for entry in outcome.history)
    assert outcome.metrics["validation"] == best
    assert outcome.metrics["best_step"] in [entry["step"] for entry in outcome.history]


def test_a_digest_names_what_determines_a_run_and_nothing_else():
    assert run().digest() == run(name="another name for the row").digest()
    changes = [{"seed": 4}, {"encoding": "alibi"}, {"sampler": "scramble"}, {"match_scale": False}]
    changes += [{"options": {"base": 100.0}}, {"task_options": {"length": 9, "symbols": 5}}]
    assert len({run(**change).digest() for change in changes} | {run().digest()}) == len(changes) + 1
    assert run().code() == run().code() != run("alibi").code()


def test_no_two_markers_leak_the_answer_of_order():
    """Count-matched: tokens without their places say nothing about the label."""
    rows = make_task("order", length=8, symbols=5).sample(4000, torch.Generator().manual_seed(0))
    counts = torch.nn.functional.one_hot(rows.inputs, 5).sum(1)
    assert (counts[:, :2] == 1).all()
    assert abs(rows.target.double().mean() - 0.5) < 0.03


def test_tasks_refuse_options_they_do_not_know():
    assert task_names() == ["lag", "order"]
    with pytest.raises(ValueError, match="Did you mean 'length'"):
        make_task("order", lenght=3)
    with pytest.raises(ValueError, match="at least 2"):
        make_task("order", length=1)


def test_a_loss_that_is_not_finite_stops_with_its_step():
    model = torch.nn.Linear(1, 1)
    losses = iter([1.0, 1.0, float("nan")])
    with pytest.raises(FloatingPointError, match="at step 2"):
        train(model, lambda _: model.weight.sum() * 0 + next(losses), steps=5)
