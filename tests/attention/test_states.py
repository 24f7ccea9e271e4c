"""States of tokens (`sense`) and temperatures reach every backend, cached or not, padded or
packed."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

import locant
from locant.attention.functional import explicit
from locant.encodings.base import Encoding
from locant.shapes import Shape

DIM, HEADS = 16, 2


class Gated(Encoding):
    """score + c_i − c_j, where c is the running sum of log σ(w·x): a cache must go on with it."""

    causal_only = True

    def __init__(self, shape):
        super().__init__(shape)
        self.gate = nn.Linear(shape.dim, shape.heads)

    def sense(self, x, pos, past=None):
        steps = nn.functional.logsigmoid(self.gate(x).float()).mT[..., None]  # (B, H, T, 1)
        total = steps.cumsum(-2)
        return total if past is None else past[..., -1:, :] + total

    def state_bias(self, q_pos, k_pos, q_state, k_state):
        return q_state - k_state.mT  # (B, H, Q, K)


class Warm(Encoding):
    """Queries are multiplied by 1 + p/10."""

    def temperature(self, q_pos):
        return 1 + q_pos / 10


def gated(seed=0):
    torch.manual_seed(seed)
    return Gated(Shape(DIM, HEADS, 64))


def by_hand(q, k, v, c):
    """Causal attention with c_i − c_j added, written out in float64."""
    scores = q.double() @ k.double().mT / math.sqrt(q.shape[-1]) + c - c.mT
    order = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    return scores.masked_fill(~order, -math.inf).softmax(-1) @ v.double()


def heads_of(count, batch=2, seed=1):
    draw = torch.Generator().manual_seed(seed)
    sizes = (3, batch, HEADS, count, DIM // HEADS)
    return [one.requires_grad_() for one in torch.randn(sizes, generator=draw).unbind()]


@pytest.mark.parametrize("count", [7, 600, 1100])
def test_outputs_and_gradients_are_those_of_the_formula_at_any_length(count):
    encoding, pos = gated(), torch.arange(count)
    x = torch.randn(2, count, DIM, requires_grad=True)
    tensors = [*heads_of(count), x, *encoding.parameters()]
    q, k, v = tensors[:3]
    state = encoding.sense(x, pos)
    given = {"q_pos": pos, "k_pos": pos, "q_state": state, "k_state": state}
    out = locant.attend(q, k, v, encoding=encoding, causal=True, **given)
    expected = by_hand(q, k, v, encoding.sense(x, pos).double())
    torch.testing.assert_close(out.double(), expected, rtol=2e-4, atol=2e-5)
    weight = torch.randn(out.shape, generator=torch.Generator().manual_seed(2))
    found = torch.autograd.grad((out * weight).sum(), tensors)
    wanted = torch.autograd.grad((expected * weight).sum(), tensors)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=2e-3, atol=2e-3 * other.abs().max().item())


def test_second_derivatives_are_those_of_the_formula_where_blocks_are_taken():
    count = 1030
    encoding, pos = gated(), torch.arange(count)
    x = torch.randn(1, count, DIM, requires_grad=True)
    q, k, v = heads_of(count, batch=1)

    def second(attention):
        """Differentiate the size of the gradient of x by the gate's weight and by q."""
        state = encoding.sense(x, pos)
        (first,) = torch.autograd.grad(attention(state)[..., 5:, :].sum(), x, create_graph=True)
        return torch.autograd.grad(first.square().sum(), [encoding.gate.weight, q])

    def ours(state):
        given = {"q_pos": pos, "k_pos": pos, "q_state": state, "k_state": state}
        return locant.attend(q, k, v, encoding=encoding, causal=True, **given)

    found, wanted = second(ours), second(lambda state: by_hand(q, k, v, state.double()))
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=5e-3, atol=5e-3 * other.abs().max().item())


class Twice(Gated):
    """Its gate acts through `sense`, and once more on the bias itself."""

    def state_bias(self, q_pos, k_pos, q_state, k_state):
        return (q_state - k_state.mT) * self.gate.weight[:, 0, None, None]


def test_a_parameter_that_acts_twice_gets_both_gradients_at_any_length():
    torch.manual_seed(6)
    encoding = Twice(Shape(DIM, HEADS, 64))
    assert locant.plan(encoding, 1100, causal=True).backend != "tiled"
    q, k, v = heads_of(1100, batch=1)
    x, pos = torch.randn(1, 1100, DIM), torch.arange(1100)
    state = encoding.sense(x, pos)
    given = {"q_pos": pos, "k_pos": pos, "q_state": state, "k_state": state}
    given |= {"encoding": encoding, "causal": True}
    (found,) = torch.autograd.grad(locant.attend(q, k, v, **given).sum(), encoding.gate.weight)
    state = encoding.sense(x, pos)
    given |= {"q_state": state, "k_state": state}
    (wanted,) = torch.autograd.grad(explicit(q, k, v, **given).out.sum(), encoding.gate.weight)
    torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-3 * wanted.abs().max().item())


def test_a_long_one_goes_by_blocks_and_its_memory_is_not_quadratic():
    plan = locant.plan(gated(), 4096, causal=True)
    assert plan.backend == "tiled"
    assert "a block of queries at a time" in plan.why


def test_a_cache_goes_on_with_the_states_in_steps_of_any_size():
    encoding = gated()
    torch.manual_seed(3)
    model = locant.Transformer(encoding, layers=2, causal=True).eval()
    x, pos = torch.randn(2, 9, DIM), torch.arange(9)
    caches, parts = None, []
    for first, last in ((0, 4), (4, 5), (5, 9)):
        out, caches = model.step(x[:, first:last], pos[first:last], caches)
        parts.append(out)
    torch.testing.assert_close(torch.cat(parts, 1), model(x, pos), rtol=1e-5, atol=1e-5)
    assert caches[0].state.shape == (2, HEADS, 9, 1)


def test_shared_key_heads_decode_as_they_prefill():
    torch.manual_seed(4)
    layer = locant.Attention(gated(), kv_heads=1).eval()
    x, pos = torch.randn(2, 6, DIM), torch.arange(6)
    _, cache = layer.step(x[:, :5], pos[:5])
    last, _ = layer.step(x[:, 5:], pos[5:], cache)
    torch.testing.assert_close(last, layer(x, pos, causal=True)[:, 5:], rtol=1e-5, atol=1e-5)


def test_left_padding_and_packing_change_nothing():
    torch.manual_seed(5)
    model = locant.Transformer(gated(), layers=2, causal=True).eval()
    row, other = torch.randn(1, 5, DIM), torch.randn(1, 4, DIM)
    alone = model(row, torch.arange(5))
    there = torch.tensor([[False, False, False, True, True, True, True, True]])
    padded = torch.cat([torch.randn(1, 3, DIM), row], 1)
    pos = locant.positions.from_mask(there)
    out = model(padded, pos, mask=there[:, None, None, :])[:, 3:]
    torch.testing.assert_close(out, alone, rtol=1e-5, atol=1e-5)
    packing = locant.positions.packed([4, 5])
    both = model(torch.cat([other, row], 1), packing.positions, mask=packing.mask)
    torch.testing.assert_close(both[:, 4:], alone, rtol=1e-5, atol=1e-5)


def test_every_backend_that_can_serve_agrees_with_the_reference():
    encoding, pos = gated(), torch.arange(40)
    q, k, v = heads_of(40)
    state = encoding.sense(torch.randn(2, 40, DIM), pos)
    given = {"encoding": encoding, "q_pos": pos, "k_pos": pos, "causal": True}
    given |= {"q_state": state, "k_state": state}
    expected = explicit(q, k, v, **given).out
    for backend in ("tiled", "blocked", "fused", "reference"):
        out = locant.attend(q, k, v, backend=backend, **given)
        torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-5)


def test_dropout_in_blocks_hands_on_the_states(monkeypatch):
    from locant.attention.backends import reference

    encoding, pos = gated(), torch.arange(40)
    q, k, v = heads_of(40)
    state = encoding.sense(torch.randn(2, 40, DIM), pos)
    given = {"encoding": encoding, "q_pos": pos, "k_pos": pos, "causal": True}
    given |= {"q_state": state, "k_state": state, "backend": "reference"}
    expected = locant.attend(q, k, v, **given)
    monkeypatch.setattr(reference, "MAX_SCORES", 500)
    torch.testing.assert_close(locant.attend(q, k, v, **given), expected)


def test_an_encoding_without_states_pays_nothing(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("states were made for an encoding that has none")

    monkeypatch.setattr("locant.attention.layer.replace", refuse)
    model = locant.Transformer(locant.make("rotary", dim=DIM, heads=HEADS), layers=2, causal=True)
    _, caches = model.step(torch.randn(1, 3, DIM), torch.arange(3))
    assert caches[0].state is None


def test_temperatures_multiply_the_queries():
    q, k, v = heads_of(6)
    pos, encoding = torch.arange(6), Warm(Shape(DIM, HEADS, 64))
    out = locant.attend(q, k, v, encoding=encoding, q_pos=pos, k_pos=pos)
    torch.testing.assert_close(out, locant.attend(q * (1 + pos / 10)[:, None], k, v))
    rows = torch.stack([pos, pos + 3])
    out = locant.attend(q, k, v, encoding=encoding, q_pos=rows, k_pos=rows)
    torch.testing.assert_close(out, locant.attend(q * (1 + rows / 10)[:, None, :, None], k, v))


@pytest.mark.parametrize(
    ("given", "fragment"),
    [
        ({}, "Gated needs the states of the tokens"),
        ({"q_state": torch.zeros(2, 2, 5, 1)}, "given together"),
        (
            {"q_state": torch.zeros(2, 2, 4, 1), "k_state": torch.zeros(2, 2, 5, 1)},
            "q_state has the shape (2, 2, 4, 1)",
        ),
        (
            {"q_state": torch.zeros(2, 2, 5, 1), "k_state": torch.zeros(2, 3, 5, 1)},
            "Allowed: (2, 1 or 2, 5, any width)",
        ),
        ({"q_state": "no", "k_state": torch.zeros(2, 2, 5, 1)}, "q_state must be a tensor"),
    ],
)
def test_states_that_do_not_fit_are_refused_with_a_sentence(given, fragment):
    q, k, v = heads_of(5)
    pos = torch.arange(5)
    with pytest.raises(ValueError) as problem:
        locant.attend(q, k, v, encoding=gated(), q_pos=pos, k_pos=pos, **given)
    assert fragment in str(problem.value)


def test_states_for_an_encoding_without_them_are_refused():
    q, k, v = heads_of(5)
    state = torch.zeros(2, 1, 5, 1)
    with pytest.raises(ValueError, match="has no states"):
        locant.attend(q, k, v, q_state=state, k_state=state)
