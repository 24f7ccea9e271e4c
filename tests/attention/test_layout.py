"""(B,T,H,d) by an explicit word: the same numbers, in the caller's order."""

from __future__ import annotations

import pytest
import torch

import locant
from common import build, qkv
from locant.attention import attend, explicit


def by_token(*tensors):
    return [tensor.transpose(1, 2).contiguous() for tensor in tensors]


def given(name, queries, keys):
    encoding = build(name)
    pos = torch.arange(keys)
    options = {"encoding": encoding, "q_pos": pos[-queries:], "k_pos": pos, "causal": True}
    x = torch.randn(2, keys, encoding.shape.dim, generator=torch.Generator().manual_seed(3))
    state = encoding.sense(x, pos)
    if state is not None:
        options |= {"q_state": state[..., -queries:, :], "k_state": state}
    return options


@pytest.mark.parametrize("name", locant.names())
@pytest.mark.parametrize(("queries", "keys"), [(11, 11), (1, 9), (5, 9)])
def test_either_layout_gives_the_same_numbers(name, queries, keys):
    options, tensors = given(name, queries, keys), qkv(queries=queries, keys=keys, groups=2)
    out = attend(*by_token(*tensors), **options, layout="BTHd")
    assert out.shape == (2, queries, 4, 8)
    wanted = explicit(*tensors, **options)
    torch.testing.assert_close(out.transpose(1, 2), wanted.out, atol=1e-5, rtol=1e-4)
    found = explicit(*by_token(*tensors), **options, layout="BTHd")
    torch.testing.assert_close(found.out.transpose(1, 2), wanted.out, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found.weights, wanted.weights)  # (B, H, Q, K) in either
    torch.testing.assert_close(found.scores, wanted.scores)


@pytest.mark.parametrize("backend", ["fused", "blocked", "tiled", "reference"])
def test_every_backend_takes_it_with_gradients(backend):
    options = given("alibi", 40, 40)
    leaves = [tensor.requires_grad_() for tensor in qkv(queries=40)]
    mask = torch.rand(2, 1, 40, 40, generator=torch.Generator().manual_seed(5)) < 0.8
    out = attend(*by_token(*leaves), **options, mask=mask, layout="BTHd", backend=backend)
    found = torch.autograd.grad(out.square().sum(), leaves)
    wanted = attend(*leaves, **options, mask=mask, backend="reference")
    torch.testing.assert_close(out.transpose(1, 2), wanted, atol=1e-5, rtol=1e-4)
    for got, want in zip(found, torch.autograd.grad(wanted.square().sum(), leaves), strict=True):
        torch.testing.assert_close(got, want, atol=1e-4, rtol=1e-3)


def test_as_many_heads_as_tokens_are_no_riddle():
    options, tensors = given("rotary", 4, 4), qkv(queries=4)
    out = attend(*by_token(*tensors), **options, layout="BTHd")
    torch.testing.assert_close(out.transpose(1, 2), attend(*tensors, **options))


@pytest.mark.parametrize("function", [attend, explicit])
def test_a_layout_that_is_none_or_does_not_fit_is_refused(function):
    options, tensors = given("rotary", 11, 11), qkv()
    with pytest.raises(ValueError, match=r"layout='BSHD'\..*\n.*Allowed: BHTd, BTHd"):
        function(*tensors, **options, layout="BSHD")
    with pytest.raises(ValueError, match=r"'BTHd' is .* \(2, 4, 11, 8\) and 4 heads.*\n.*out\."):
        function(*tensors, **options, layout="BTHd")
    with pytest.raises(ValueError, match="layout='BTHd'"):  # the remedy
        function(*by_token(*tensors), **options)
    with pytest.raises(ValueError, match="q must be a tensor"):
        function(None, *tensors[1:], **options, layout="BTHd")
    with pytest.raises(ValueError, match=r"\(batch, heads, tokens, width\). Got \(2, 4, 11\)"):
        function(tensors[0][..., 0], *tensors[1:], **options, layout="BTHd")
