"""Stacked layers: the measures say what they claim on models made to show it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from locant.lab.depth import DepthRun, Stack, measure, measure_layers, planned_runs
from locant.lab.tasks.base import generator, make_task


@pytest.fixture
def task():
    return make_task("slot", length=32)


def stack(task, run):
    torch.manual_seed(0)
    return Stack(run, task.symbols, task.outputs)


def test_a_probe_reads_positions_only_where_they_are(task):
    rows = task.sample(60, generator("depth test"))
    known = measure_layers(stack(task, DepthRun("sinusoidal", 2)), rows)
    blind = measure_layers(stack(task, DepthRun("none", 2)), rows)
    assert known["probe"][0] > 0.9
    assert max(blind["probe"]) < 0.1
    assert [len(known[name]) for name in ("probe", "similarity", "entropy", "gradient")] == [
        3,
        3,
        2,
        2,
    ]


def test_layers_without_residuals_forget_and_make_tokens_alike(task):
    rows = task.sample(60, generator("depth test"))
    whole = measure_layers(stack(task, DepthRun("sinusoidal", 6)), rows)
    bare = measure_layers(stack(task, DepthRun("sinusoidal", 6, residual=False)), rows)
    assert bare["similarity"][-1] > 0.95 > whole["similarity"][-1]
    assert bare["probe"][-1] < whole["probe"][-1]


def test_the_same_seed_gives_all_stacks_the_same_weights(task):
    plain = stack(task, DepthRun("none", 3)).state_dict()
    bare = stack(task, DepthRun("none", 3, residual=False)).state_dict()
    assert plain.keys() == bare.keys()
    assert all(torch.equal(plain[name], bare[name]) for name in plain)


def test_positions_in_every_layer_are_added_again(task):
    rows = task.sample(20, generator("depth test"))
    once = stack(task, DepthRun("sinusoidal", 2))
    each = stack(task, DepthRun("sinusoidal", 2, "every layer"))
    each.load_state_dict(once.state_dict(), strict=False)
    first, again = once.outputs_by_layer(rows.inputs), each.outputs_by_layer(rows.inputs)
    assert torch.equal(first[1], again[1])
    assert not torch.allclose(first[2], again[2])


def test_a_run_is_measured_before_and_after(task):
    run = DepthRun("rotary", 2, seed=1, steps=3)
    found = measure(run)
    assert found["encoding"] == "rotary"
    assert set(found["before"]) == set(found["after"])
    assert found["before"]["probe"] != found["after"]["probe"]
    assert measure(run) == found
    assert measure(replace(run, seed=2))["before"] != found["before"]


def test_the_plan_has_every_depth_of_every_stack():
    runs = planned_runs(2)
    assert len(runs) == len(set(runs)) == 2 * 13 * 4
    assert {run.layers for run in runs} == {2, 4, 8, 12}
    assert "rotary, no residuals, no norms" in {run.name for run in runs}
