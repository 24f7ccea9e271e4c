"""Half pairs turned in blocks give what the formula gives, both ways, wherever the numbers lie."""

from __future__ import annotations

import pytest
import torch

import locant
from locant.encodings._rope import half_pairs
from locant.encodings.rotary import turn_half


@pytest.fixture
def tiny_blocks(monkeypatch):
    monkeypatch.setattr(half_pairs, "MIN_ELEMENTS", 0)
    monkeypatch.setattr(half_pairs, "BLOCK_ELEMENTS", 50)
    monkeypatch.setattr(half_pairs, "TABLE_ELEMENTS", 24)


def table(batch=None, length=7, width=8, dtype=torch.float64):
    encoding = locant.make("rotary", dim=2 * width, heads=2)
    pos = (
        torch.arange(length) if batch is None else torch.arange(batch * length).view(batch, length)
    )
    return encoding.precompute(pos, pos, dtype)[0]


def formula(x, table):
    """The definition, written once more: each pair (c, c + d/2) by its own angle."""
    half = x.shape[-1] // 2
    cosine, sine = table[0][..., :half], table[1][..., half:]
    one, two = x[..., :half], x[..., half:]
    return torch.cat([one * cosine - two * sine, two * cosine + one * sine], -1)


def inputs(kind, dtype=torch.float64):
    x = torch.randn(3, 7, 3, 2, 8, dtype=dtype)
    return {
        "as it comes": torch.randn(3, 2, 7, 8, dtype=dtype),
        "out of one projection": x[:, :, 1].transpose(1, 2),
        "every other": torch.randn(3, 2, 7, 16, dtype=dtype)[..., ::2],
    }[kind]


@pytest.mark.parametrize("kind", ["as it comes", "out of one projection", "every other"])
@pytest.mark.parametrize("batch", [None, 3])
def test_blocks_give_the_formula_and_its_gradient(tiny_blocks, kind, batch):
    x, turn = inputs(kind).requires_grad_(), table(batch)
    assert half_pairs.serves(x, turn)
    out, expected, g = (
        turn_half(x, turn),
        formula(x, turn),
        torch.randn(3, 2, 7, 8, dtype=torch.float64),
    )
    assert (out - expected).abs().max() < 1e-14
    ours, theirs = (torch.autograd.grad(y, x, g)[0] for y in (out, expected))
    assert (ours - theirs).abs().max() < 1e-14


@pytest.mark.parametrize("rows", [(), (1,), (3,)], ids=["for all", "one row", "each row"])
def test_a_table_for_every_head_turns_each_head_by_its_own(tiny_blocks, rows):
    x = torch.randn(3, 2, 7, 8, dtype=torch.float64)
    angle = torch.randn(*rows, 2, 7, 4, dtype=torch.float64)  # (…, H, T, pairs)
    cosine, sine = angle.cos(), angle.sin()
    turn = torch.stack([torch.cat([cosine, cosine], -1), torch.cat([-sine, sine], -1)])
    assert half_pairs.serves(x, turn) == (rows == (3,))
    assert (turn_half(x, turn) - formula(x, turn)).abs().max() < 1e-14


def test_blocks_have_every_kind_of_derivative(tiny_blocks):
    x, turn = torch.randn(1, 2, 7, 8, dtype=torch.float64, requires_grad=True), table()
    assert torch.autograd.gradcheck(
        lambda x: turn_half(x, turn), x, check_forward_ad=True, check_batched_grad=True
    )
    assert torch.autograd.gradgradcheck(lambda x: turn_half(x, turn).square(), x)


def test_what_is_not_finite_stays_in_its_own_token(tiny_blocks):
    x = torch.randn(3, 2, 7, 8)
    x[1, 0, 3, 2] = torch.nan
    out = turn_half(x, table(dtype=torch.float32))
    bad = torch.zeros(3, 2, 7, dtype=torch.bool)
    bad[1, 0, 3] = True
    assert torch.equal(~out.isfinite().all(-1), bad)


def test_few_numbers_other_types_and_transforms_take_the_plain_way(monkeypatch):
    turn = table(dtype=torch.float32)
    assert not half_pairs.serves(torch.randn(3, 2, 7, 8), turn)
    monkeypatch.setattr(half_pairs, "MIN_ELEMENTS", 0)
    assert not half_pairs.serves(torch.randn(3, 2, 7, 8).double(), turn)
    assert not half_pairs.serves(torch.randn(3, 2, 7, 8, device="meta"), turn)
    x = torch.randn(4, 3, 2, 7, 8)
    mapped = torch.func.vmap(lambda x: turn_half(x, turn))(x)
    torch.testing.assert_close(mapped, torch.stack([turn_half(one, turn) for one in x]))
    held = x[0].requires_grad_()  # not itself what is differentiated
    slope = torch.func.grad(lambda weight: (turn_half(held, turn) * weight).sum())(torch.ones(8))
    torch.testing.assert_close(slope, turn_half(held, turn).sum((0, 1, 2)))


def test_a_derivative_by_positions_goes_through_the_plain_way(tiny_blocks):
    encoding, x = (
        locant.make("rotary", dim=16, heads=2),
        torch.randn(1, 2, 7, 8, dtype=torch.float64),
    )
    pos = torch.arange(7.0, dtype=torch.float64)
    rotate = lambda pos: encoding.rotate(x, x, pos, pos)[0]  # noqa: E731
    assert torch.autograd.gradcheck(rotate, pos.requires_grad_(), check_forward_ad=True)
