"""Tasks: nothing leaks, and ceilings rest on what is drawn."""

from __future__ import annotations

import pytest
import torch

from locant.encodings.registry import make
from locant.lab.tasks._ceilings import bucket
from locant.lab.tasks.base import make_task, task_names


def test_no_two_markers_leak_the_answer_of_order():
    """Count-matched: tokens without their positions say nothing about the label."""
    rows = make_task("order", length=8, symbols=5).sample(4000, torch.Generator().manual_seed(0))
    counts = torch.nn.functional.one_hot(rows.inputs, 5).sum(1)
    assert (counts[:, :2] == 1).all()
    assert abs(rows.target.double().mean() - 0.5) < 0.03


def test_tasks_refuse_options_they_do_not_know():
    assert {"lag", "order"} < set(task_names())
    with pytest.raises(ValueError, match="Did you mean 'length'"):
        make_task("order", lenght=3)
    with pytest.raises(ValueError, match="at least 2"):
        make_task("order", length=1)


@pytest.mark.parametrize("name", ["slot", "decoy", "order", "parity", "gap"])
def test_the_enumerated_arrangements_are_what_is_drawn(name):
    """Ceilings rest on them: the same classes with the same odds, and exactly chance without
    positions."""
    task = make_task(name)
    listed = list(task.arrangements())
    assert sum(one.probability for one in listed) == pytest.approx(1)
    odds = [
        sum(one.probability for one in listed if one.label == label)
        for label in range(task.outputs)
    ]
    assert odds == pytest.approx([task.chance] * task.outputs)
    assert task.ceilings()["without positions"] == task.chance
    known = {(one.markers, one.label) for one in listed}
    rows = task.sample(200, torch.Generator().manual_seed(0))
    tokens = {token for markers, _ in known for token, _ in markers}
    for row, label in zip(rows.inputs.tolist(), rows.target.tolist(), strict=True):
        found = [(token, pos) for pos, token in enumerate(row) if token in tokens]
        assert (tuple(sorted(found)), label) in known


def test_the_buckets_of_a_ceiling_are_those_of_t5():
    relative = torch.arange(-40, 41)
    encoding = make("t5", dim=8, heads=2, length=64)
    theirs = encoding.bucket(relative)
    ours = [bucket(int(distance)) for distance in relative]
    assert (
        len(set(zip(ours, theirs.tolist(), strict=True)))
        == len(set(ours))
        == len(set(theirs.tolist()))
    )
