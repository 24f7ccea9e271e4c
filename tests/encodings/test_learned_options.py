"""Slopes of alibi that are given or learned, and learned vectors of a grid at another
resolution."""

import pytest
import torch
from torch.testing import assert_close
from transformers import ViTConfig
from transformers.models.vit.modeling_vit import ViTEmbeddings

import locant
from timm_layers import timm_layer

PATCH = 4
POINTS = locant.positions.grid(3, 5)


def grid_of(h, w, dim=8):
    encoding = locant.make("learned", dim=dim, grid=[h, w])
    torch.nn.init.normal_(encoding.table)
    return encoding


def vectors(encoding, h, w):
    """What an encoding adds at every point of a grid, row by row: (h·w, D)."""
    pos = locant.positions.grid(h, w)
    return encoding.embed(torch.zeros(1, len(pos), encoding.shape.dim), pos)[0]


def test_every_point_of_a_grid_has_the_row_of_its_table():
    encoding = grid_of(3, 5)
    assert torch.equal(vectors(encoding, 3, 5), encoding.table)
    rows = torch.tensor([[[0, 1], [2, 4]], [[1, 0], [1, 3]]])  # (B, T, 2)
    got = encoding.embed(torch.zeros(2, 2, 8), rows)
    assert torch.equal(got, encoding.table[torch.tensor([[1, 14], [5, 8]])])
    assert (encoding.axes, encoding.shape.length) == (2, 3)
    assert sum(number.numel() for number in encoding.parameters()) == 15 * 8
    assert locant.make(**encoding.config()).table.shape == (15, 8)


@pytest.mark.parametrize("sizes", [(6, 6), (9, 5), (4, 4), (3, 7)])
def test_a_resampled_grid_has_the_vectors_of_transformers(sizes):
    config = ViTConfig(image_size=6 * PATCH, patch_size=PATCH, hidden_size=8)
    theirs, ours = ViTEmbeddings(config), grid_of(6, 6)
    theirs.position_embeddings.data = torch.cat([torch.zeros(1, 8), ours.table.data])[None]
    h, w = sizes
    image = torch.zeros(1, 1 + h * w, 8)
    want = theirs.interpolate_pos_encoding(image, h * PATCH, w * PATCH)[0, 1:]
    assert_close(vectors(ours.resample(sizes), h, w), want)


@pytest.mark.parametrize("sizes", [(9, 5), (4, 4), (2, 3)])
def test_an_antialiased_grid_has_the_vectors_of_timm(sizes):
    ours = grid_of(6, 4)
    want = timm_layer("pos_embed").resample_abs_pos_embed(
        ours.table[None], list(sizes), [6, 4], num_prefix_tokens=0
    )
    got = ours.resample(sizes, method="antialiased")
    assert_close(vectors(got, *sizes), want[0])
    assert (got.grid, got.axes) == (sizes, 2)


def test_a_resampled_grid_keeps_dtype_and_what_is_trained():
    encoding = grid_of(4, 4).bfloat16().eval()
    encoding.table.requires_grad_(False)
    other = encoding.resample([6, 6])
    assert other.table.dtype == torch.bfloat16
    assert not other.table.requires_grad
    assert not other.training


ONE = torch.zeros(1, 1, 8)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: grid_of(3, 5).embed(ONE, torch.tensor([[3, 0]])), r"\[3, 0\] was"),
        (lambda: grid_of(3, 5).embed(ONE, torch.tensor([[0, -1]])), r"\[0, -1\]"),
        (lambda: grid_of(3, 5).embed(ONE, torch.ones(1, 2)), "whole numbers"),
        (lambda: grid_of(3, 5).resample([3]), r"two whole numbers, \[h, w\], for resample"),
        (lambda: grid_of(3, 5).resample([3, 0]), "at least 1"),
        (lambda: grid_of(3, 5).resample([3, 3], method="cubic"), "Did you mean 'bicubic'"),
        (lambda: locant.make("learned", dim=8).resample([3, 3]), r"Make it with grid=\[h, w\]"),
        (lambda: locant.make("learned", dim=8, grid=[3, 3, 3]), r"for grid\. Got \[3, 3, 3\]"),
        (lambda: locant.make("alibi", dim=8, heads=2, slopes=[1.0]), "each of 2 heads"),
        (lambda: locant.make("alibi", dim=8, heads=2, slopes=[0.0, 0]), "not all of them 0"),
        (lambda: locant.make("alibi", dim=8, heads=2, slopes=[1.0, -1]), "≥ 0"),
        (lambda: locant.make("alibi", dim=8, heads=2, slopes="learnt"), "Did you mean 'learned'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("sides", ["symmetric", "causal", "two-sided"])
def test_slopes_that_are_given_or_learned_are_what_a_step_costs(sides):
    pos, price = torch.tensor([0.0, 1.5, 7.0]).double(), [0.3, 0.0, 2.0]
    given = locant.make("alibi", dim=6, heads=3, sides=sides, slopes=price).double()
    learned = locant.make("alibi", dim=6, heads=3, sides=sides, slopes="learned").double()
    learned.log_slope.data = torch.tensor(price, dtype=torch.float64).log()
    ahead = {"symmetric": price, "causal": [-p for p in price], "two-sided": price[::-1]}[sides]
    want = [
        [[-(m - n) * p if m > n else -(n - m) * a for n in pos.tolist()] for m in pos.tolist()]
        for p, a in zip(price, ahead, strict=True)
    ]
    for encoding in (given, learned):
        assert_close(encoding.bias(pos, pos)[0].detach(), torch.tensor(want).double())


def test_learned_slopes_begin_as_the_paper_has_them_and_follow_a_gradient():
    learned, fixed = (locant.make("alibi", dim=6, heads=6, slopes=s) for s in ("learned", "paper"))
    assert_close(learned.slope, fixed.slope)
    learned.bias(torch.arange(5), torch.arange(5)).sum().backward()
    assert (learned.log_slope.grad < 0).all()  # more slope, less score


def test_a_learned_slope_is_served_by_the_backend_of_distances():
    plan = locant.plan(locant.make("alibi", dim=64, heads=4, slopes="learned"), 8192, causal=True)
    assert "memory grows with length" in plan.why


def test_a_grid_fails_nothing():
    encoding = locant.make("learned", dim=16, heads=2, grid=[16, 17])
    judged = ("given", "distinct", "beyond", "gradients", "cost", "precision", "rows", "pure")
    assert locant.certify(encoding, only=list(judged)).fails == []
