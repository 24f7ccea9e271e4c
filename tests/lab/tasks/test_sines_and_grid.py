"""Sines and grid: what is drawn is what is defined, and the baselines know what they should."""

from __future__ import annotations

import math

import pytest
import torch

from locant.lab.binding import check_study
from locant.lab.study_files import read_studies, read_study
from locant.lab.tasks.base import generator, make_task


def test_hidden_values_are_a_sum_of_sines_at_the_times_told():
    task = make_task("sines", periods=[10.0], phase="fixed", jitter=1.0, noise=0.0)
    rows = task.sample(50, generator("test of sines"))
    wave = (2 * math.pi * rows.times / 10).sin()
    clean, hidden = rows.target.unbind(-1)
    amplitude = (clean * wave).sum(1) / wave.square().sum(1)
    assert ((amplitude > 0.5) & (amplitude < 2)).all()
    assert torch.allclose(clean, amplitude[:, None] * wave, atol=1e-5)
    assert (rows.inputs[..., 1] == hidden).all()
    assert (rows.inputs[..., 0][hidden > 0] == 0).all()
    assert torch.allclose(rows.inputs[..., 0][hidden == 0], clean[hidden == 0])
    assert 0.2 < float(hidden.mean()) < 0.3
    assert (rows.times.diff() > 0).all()
    assert float((rows.times - torch.arange(64)).abs().max()) <= 0.5


def test_phases_are_the_same_in_all_rows_or_drawn():
    fixed = make_task("sines", periods=[8.0], phase="fixed", length=16)
    clean = fixed.sample(50, generator("phases")).target[..., 0]
    assert (clean[:, 2] > 0.4).all()  # a quarter of a period after the start
    drawn = make_task("sines", periods=[8.0], phase="random", length=16)
    clean = drawn.sample(400, generator("phases")).target[..., 0]
    assert 0.4 < float((clean[:, 2] > 0).double().mean()) < 0.6


def test_the_fit_with_times_beats_the_fit_by_count_only_where_times_stray():
    scores = {}
    for jitter in (0.0, 1.0):
        task = make_task("sines", jitter=jitter)
        for name in task.baselines:
            scores[name, jitter] = task.baseline(name, 200, 0)["variance explained"]
    assert scores["fit with known periods", 0.0] == scores["the same fit by count", 0.0]
    assert scores["fit with known periods", 1.0] > 0.98
    assert scores["the same fit by count", 1.0] < scores["fit with known periods", 1.0] - 0.01
    assert scores["interpolation", 0.0] < 0.97

    def mean(inputs, padding_mask, times=None):
        return torch.zeros(*inputs.shape[:2], 1)

    assert abs(make_task("sines").test(mean, 500, 0).scores["variance explained"]) < 0.02


def test_interpolation_draws_straight_lines():
    from locant.lab.tasks.sines import _interpolated

    values = torch.tensor([[0.0, 1.0, 0.0, 0.0, 4.0, 0.0]])
    visible = torch.tensor([[0.0, 1.0, 0.0, 0.0, 1.0, 0.0]])
    assert _interpolated(values, visible, values)[0].tolist() == [1.0, 1.0, 2.0, 3.0, 4.0, 4.0]


def test_the_class_of_a_grid_is_the_side_along_both_axes():
    task = make_task("grid", side=5)
    rows = task.sample(300, generator("test of grids"))
    for row, label in zip(rows.inputs.tolist(), rows.target.tolist(), strict=True):
        a, b = row.index(0), row.index(1)
        assert row.count(0) == row.count(1) == 1
        assert a // 5 != b // 5
        assert a % 5 != b % 5
        assert label == 2 * (a // 5 > b // 5) + (a % 5 > b % 5)
    assert rows.times[0].tolist() == [[line, column] for line in range(5) for column in range(5)]


def test_the_ceilings_of_a_grid_rest_on_what_is_drawn():
    task = make_task("grid", side=4)
    listed = list(task.arrangements())
    assert sum(one.probability for one in listed) == pytest.approx(1)
    known = {(one.markers, one.label) for one in listed}
    rows = task.sample(200, generator("test of grids"))
    for row, label in zip(rows.inputs.tolist(), rows.target.tolist(), strict=True):
        assert (((0, row.index(0)), (1, row.index(1))), label) in known
    assert task.ceilings()["without positions"] == task.chance == 0.25
    assert task.ceilings()["by distances, ends unseen"] < 1


def test_a_finer_grid_is_asked_the_same_with_its_own_coordinates():
    task = make_task("grid", side=3, finer=[5])
    seen = []

    def predict(inputs, padding_mask, times=None):
        seen.append(times)
        side = round(inputs.shape[1] ** 0.5)
        a, b = (inputs == 0).long().argmax(1), (inputs == 1).long().argmax(1)
        below, right = (a // side > b // side).long(), (a % side > b % side).long()
        return torch.nn.functional.one_hot(2 * below + right, 4).double()

    scores = task.test(predict, 100, 0).scores
    assert scores["accuracy"] == scores["accuracy at 25"] == 1.0
    assert seen[1].shape[1:] == (25, 2)
    assert int(seen[1].max()) == 4
    assert (task.length, task.longer, task.max_length) == (9, (25,), 25)


@pytest.mark.parametrize("name", ["base", "hybrid", "join", "phase", "irregular", "grid"])
def test_every_entrant_of_the_small_studies_can_be_built(name):
    check_study(read_study(name))


def test_designs_change_what_they_say():
    jitters = read_studies("irregular", design="jitters")
    assert [study.task_options["jitter"] for study in jitters] == [0.0, 0.5, 1.0]
    phases = read_studies("phase", design="phases")
    assert [study.task_options["phase"] for study in phases] == ["fixed", "random"]
    bases = read_studies("base", design="lengths")
    assert [study.task_options["length"] for study in bases] == [64, 128]
