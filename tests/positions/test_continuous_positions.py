"""Positions between whole numbers: centered grids, their jitter, and random floats."""

import math

import pytest
import torch
from torch.testing import assert_close

import locant
from locant import positions
from timm_layers import timm_layer


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("sizes", [(3, 5), (4, 4), (1, 7)])
def test_rotary_at_a_centered_grid_turns_as_dinov3_does_in_timm(sizes):
    timm = timm_layer("pos_embed_sincos")
    reference = timm.RotaryEmbeddingDinoV3(64).eval()
    q, k = torch.randn(2, 2, 4, math.prod(sizes), 64)
    table = reference.get_embed(list(sizes))
    theirs = tuple(timm.apply_rot_embed_cat(x, table, half=True) for x in (q, k))
    ours = locant.make("rotary", dim=256, heads=4, axes=2, base=100.0)
    periods = 1 / ours.frequencies()
    assert_close(
        periods[[0, 1, 8, 15]].tolist(), [1.0, 1.333521, 10.0, 74.989421], rtol=1e-6, atol=0
    )
    pos = 2 * math.pi * positions.centered_grid(*sizes)
    assert_close(ours.rotate(q, k, pos, pos), theirs, rtol=1e-5, atol=1e-5)


def test_a_centered_grid_covers_the_same_range_at_every_resolution():
    for sizes in ((2, 3), (16, 24), (3, 4, 5)):
        points = positions.centered_grid(*sizes)
        assert points.shape == (math.prod(sizes), len(sizes))
        want = [
            [2 * (p + 0.5) / n - 1 for p, n in zip(cell, sizes, strict=True)]
            for cell in positions.grid(*sizes).tolist()
        ]
        assert_close(points, torch.tensor(want))


def test_jitter_moves_and_stretches_each_axis_of_each_row_within_its_bounds():
    points = positions.centered_grid(3, 4).expand(200, 12, 2)
    new = positions.jittered(points, shift=0.3, jitter=2.0, rescale=1.5, generator=seeded())
    factor = (new[:, -1] - new[:, 0]) / (points[:, -1] - points[:, 0])  # (rows, axes)
    offset = (new[:, 0] / factor) - points[:, 0]
    assert_close(new, factor[:, None] * (points + offset[:, None]))  # one map a row
    assert offset.abs().max() <= 0.3 + 1e-6
    assert offset.abs().max() > 0.25
    assert (factor[:, 0] != factor[:, 1]).all()
    assert factor.min() >= 1 / 3 - 1e-6
    assert 2.0 < factor.max() <= 3.0 + 1e-6
    points = positions.centered_grid(4, 4).expand(5, 16, 2)
    only = positions.jittered(points, rescale=1.5, generator=seeded())
    assert_close(only[..., 0] / points[..., 0], only[..., 1] / points[..., 1])  # one for both


def test_random_floats_are_sorted_uniform_numbers_of_each_row():
    pos = torch.arange(9).expand(3000, 9)
    new = positions.random_floats(pos, 5.0, generator=seeded())
    assert new.dtype == torch.float64
    assert (new[:, 1:] > new[:, :-1]).all()
    assert (new >= 0).all()
    assert (new < 5).all()
    want = torch.arange(1, 10) / 10 * 5  # the mean of the i-th of n sorted uniform numbers
    assert_close(new.mean(0), want.double(), rtol=0, atol=0.06)
    padded = torch.tensor([[0, 0, 1, 2]])
    same = positions.random_floats(padded, generator=seeded())
    assert same[0, 0] == same[0, 1]  # a position that is there twice stays one


def test_even_floats_are_the_middles_of_equal_parts():
    assert positions.even_floats(torch.arange(2), 4, 8.0).tolist() == [1.0, 3.0]


@pytest.mark.parametrize("name", ["rotary", "alibi", "sinusoidal"])
def test_random_floats_work_with_an_encoding_of_real_positions(name):
    net = locant.Transformer(locant.make(name, dim=16, heads=2), layers=1).eval()
    pos = positions.random_floats(torch.arange(6).expand(2, 6), 64.0, generator=seeded())
    assert torch.isfinite(net(torch.randn(2, 6, 16), pos)).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: positions.centered_grid(3), "two sizes or more"),
        (lambda: positions.centered_grid(3, 0), "at least 1"),
        (lambda: positions.jittered(torch.zeros(3)), r"shape \(…,T,axes\). Got \(3,\)"),
        (lambda: positions.jittered(torch.zeros(3, 2), jitter=0.5), "jitter ≥ 1"),
        (lambda: positions.jittered(torch.zeros(3, 2), rescale=0.0), "rescale ≥ 1"),
        (lambda: positions.jittered(torch.zeros(3, 2), shift=-1.0), "shift ≥ 0"),
        (lambda: positions.random_floats(torch.arange(3), 0.0), "above 0 for limit"),
        (lambda: positions.random_floats(torch.zeros(3)), "whole-number positions"),
        (lambda: positions.even_floats(torch.arange(5), 4), "use count ≥ 5"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()
