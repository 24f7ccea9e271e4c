"""Gradients do not change with length, whatever leaf they go to: positions, other networks, biases
that draw."""

import pytest
import torch
from torch import nn

import locant
from common import build, qkv
from locant.attention import attend, explicit
from locant.encodings.base import Encoding, difference
from locant.shapes import Shape

SHAPE = Shape(32, 4, 64)
LENGTHS = (60, 600, 1100)


class Given(Encoding):
    """A bias whose slopes come from elsewhere: a hypernetwork, another module, a plain tensor."""

    shift_invariant = True
    real_positions = True

    def bias(self, q_pos, k_pos):
        return -self.slope.exp()[:, None, None] * difference(q_pos, k_pos).abs() / 64


class Drawing(Given):
    """A bias with dropout in it."""

    def __init__(self, shape):
        super().__init__(shape)
        self.slope = nn.Parameter(torch.zeros(shape.heads))

    def bias(self, q_pos, k_pos):
        return nn.functional.dropout(super().bias(q_pos, k_pos), 0.5)


class Window(Encoding):
    """Only keys up to two steps behind are seen, and of those at odd positions none."""

    def bias(self, q_pos, k_pos):
        delta = difference(q_pos, k_pos)
        near = (delta >= 0) & (delta <= 2) & (q_pos[..., :, None] % 2 == 0)
        return torch.zeros(near.shape).masked_fill(~near, -torch.inf)


def gradients(compute, leaves):
    out = compute()
    weights = torch.arange(out.numel(), dtype=out.dtype).view_as(out).cos()
    return [out, *torch.autograd.grad((out * weights).sum(), leaves)]


def compare(encoding, tensors, leaves, where, atol=1e-9):
    want = gradients(lambda: explicit(*tensors, encoding=encoding, **where).out, leaves)
    got = gradients(lambda: attend(*tensors, encoding=encoding, **where), leaves)
    torch.testing.assert_close(got, want, atol=atol, rtol=1e-7)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("uneven", [False, True])
def test_positions_may_require_a_gradient(length, uneven):
    pos = torch.arange(length, dtype=torch.float64)
    pos = (pos**1.1 if uneven else pos).requires_grad_()
    tensors = qkv(batch=1, queries=length, dtype=torch.float64)
    compare(build("alibi"), tensors, [pos], {"q_pos": pos, "k_pos": pos, "causal": True}, atol=1e-5)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_a_bias_may_be_made_by_another_network(length, uneven, inside):
    hyper = nn.Linear(3, 4, dtype=torch.float64)
    encoding = Given(SHAPE)
    if inside:
        encoding.hyper = hyper  # its parameters are the encoding's, but the slopes are made before
    encoding.slope = hyper(torch.ones(3, dtype=torch.float64))
    pos = torch.arange(length) ** (2 if uneven else 1)
    tensors = [t.requires_grad_() for t in qkv(batch=1, queries=length, dtype=torch.float64)]
    leaves = [*tensors, *hyper.parameters()]
    results = []
    for compute in (explicit, attend):
        encoding.slope = hyper(torch.ones(3, dtype=torch.float64))
        given = {"encoding": encoding, "q_pos": pos, "k_pos": pos, "causal": True}
        out = compute(*tensors, **given)
        out = out.out if compute is explicit else out
        results.append([out, *torch.autograd.grad(out.square().sum(), leaves)])
    torch.testing.assert_close(*results, atol=1e-8, rtol=1e-6)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("uneven", [False, True])
def test_a_bias_that_draws_is_drawn_once(length, uneven):
    encoding = Drawing(SHAPE).double()
    pos = torch.arange(length) ** (2 if uneven else 1)
    tensors = [t.requires_grad_() for t in qkv(batch=1, queries=length, dtype=torch.float64)]
    leaves = [*tensors, encoding.slope]
    results = []
    for compute in (lambda **w: explicit(*tensors, **w).out, lambda **w: attend(*tensors, **w)):
        torch.manual_seed(5)
        out = compute(encoding=encoding, q_pos=pos, k_pos=pos, causal=True)
        results.append([out, *torch.autograd.grad(out.square().sum(), leaves)])
    torch.testing.assert_close(*results, atol=1e-8, rtol=1e-6)


@pytest.mark.parametrize("length", [30, 600])
@pytest.mark.parametrize("name", ["t5", "alibi"])
def test_second_derivatives_do_not_change_with_length(length, name):
    encoding, pos = build(name).double(), torch.arange(length)
    leaves = [t.requires_grad_() for t in qkv(batch=1, queries=length, dtype=torch.float64)]
    leaves += list(encoding.parameters())
    if name == "alibi" and length < 512:
        pytest.skip("torch's own kernel serves it, which says that it has no second derivative")
    results = []
    for compute in (
        lambda **w: explicit(*leaves[:3], **w).out,
        lambda **w: attend(*leaves[:3], **w),
    ):
        out = compute(encoding=encoding, q_pos=pos, k_pos=pos, causal=True)
        first = torch.autograd.grad(out.sum(), leaves, create_graph=True, allow_unused=True)
        total = sum(one.square().sum() for one in first if one is not None)
        results.append(torch.autograd.grad(total, leaves, allow_unused=True))
    torch.testing.assert_close(*results, atol=1e-8, rtol=1e-6)


@pytest.mark.parametrize("length", [20, 600, 1100])
@pytest.mark.parametrize("backend", ["auto", "reference", "blocked", "fused", "tiled"])
def test_minus_infinity_from_a_bias_hides_a_key_and_a_query_that_sees_none_gives_zero(
    length, backend
):
    encoding, pos = Window(SHAPE), torch.arange(length)
    tensors = [t.requires_grad_() for t in qkv(batch=1, queries=length)]
    out = attend(*tensors, encoding=encoding, q_pos=pos, k_pos=pos, backend=backend)
    assert (out[:, :, 1::2] == 0).all()
    assert (out[:, :, ::2] != 0).all()
    out.sum().backward()
    assert all(t.grad.isfinite().all() for t in tensors)
    seen = explicit(*tensors, encoding=encoding, q_pos=pos, k_pos=pos)
    torch.testing.assert_close(out, seen.out, atol=1e-5, rtol=1e-4)
    assert seen.weights.isfinite().all()


def test_a_window_that_hides_everything_is_served_with_dropout_under_vmap_and_looked_at():
    encoding, pos = Window(SHAPE), torch.arange(20)
    tensors = qkv(batch=3, queries=20)
    assert attend(*tensors, encoding=encoding, q_pos=pos, k_pos=pos, dropout=0.5).isfinite().all()
    one = lambda *t: attend(*(x[None] for x in t), encoding=encoding, q_pos=pos, k_pos=pos)[0]  # noqa: E731
    mapped = torch.func.vmap(one)(*tensors)
    torch.testing.assert_close(mapped, attend(*tensors, encoding=encoding, q_pos=pos, k_pos=pos))
    _, weights = locant.Attention(encoding).forward_with_weights(torch.randn(2, 20, 32), pos)
    assert weights.isfinite().all()


def test_a_mask_of_zeros_and_minus_infinity_is_not_told_to_be_inverted():
    pos, tensors = torch.arange(11), qkv()
    mask = torch.zeros(11, 11).masked_fill(torch.ones(11, 11).triu(1).bool(), -torch.inf)
    with pytest.raises(ValueError, match="mask == 0"):
        attend(*tensors, encoding=build("rotary"), q_pos=pos, k_pos=pos, mask=mask)


def test_heads_and_tokens_that_are_swapped_are_told():
    with pytest.raises(ValueError, match=r"swapped.*\n.*transpose\(1, 2\)"):
        attend(
            *(t.transpose(1, 2) for t in qkv()),
            encoding=build("rotary"),
            q_pos=torch.arange(4),
            k_pos=torch.arange(4),
        )


def test_eight_bit_floats_are_refused():
    tensors = [t.to(torch.float8_e4m3fn) for t in qkv()]
    with pytest.raises(ValueError, match="float8_e4m3fn: cast"):
        attend(*tensors, encoding=build("rotary"), q_pos=torch.arange(11), k_pos=torch.arange(11))
