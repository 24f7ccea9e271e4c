"""A bias as a score_mod of torch's flex_attention equals the reference, or is refused."""

from __future__ import annotations

import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import locant
from common import EVERY, build, qkv
from locant.attention import explicit
from locant.encodings.base import Encoding, overrides
from locant.shapes import Shape

pytestmark = pytest.mark.filterwarnings("ignore:flex_attention called without")
WIDTH, QUERIES, KEYS = 8, 20, 24
POSITIONS = {
    "consecutive": (torch.arange(4, 24), torch.arange(KEYS)),
    "in steps": (torch.arange(4, 24) * 50 + 7, torch.arange(KEYS) * 50),
    "gaps": (torch.arange(20) ** 2, torch.arange(KEYS) * 7 % 24),
    "packed": (
        locant.positions.packed([8, 12]).positions,
        locant.positions.packed([9, 15]).positions,
    ),
    "rows": (
        torch.stack([torch.arange(20), torch.arange(20) + 5]),
        torch.stack([torch.arange(KEYS) * 2, torch.arange(KEYS)]),
    ),
}


def refusal(encoding):
    """What the formula needs beyond a score, a head and a distance."""
    content = any(overrides(encoding, hook) for hook in ("rescore", "mix", "sense"))
    return content or (overrides(encoding, "bias") and not encoding.shift_invariant)


SERVED = [name for name in EVERY if not refusal(build(name))]
REFUSED = [name for name in EVERY if refusal(build(name))]


def through_flex(encoding, q, k, v, q_pos, k_pos, **more):
    """Attention as the docstring says: rotated queries and keys, and the scale from before."""
    q, k = encoding.rotate(q, k, q_pos, k_pos)
    temperature = encoding.temperature(q_pos)
    if temperature is not None:
        q = q * temperature[..., None, :, None].to(q.dtype)
    mod = encoding.score_mod(q_pos, k_pos)
    v, width = torch.nn.functional.pad(v, (0, q.shape[-1] - WIDTH)), v.shape[-1]
    out = flex_attention(q, k, v, score_mod=mod, scale=WIDTH**-0.5, **more)
    return out[..., :width]


@pytest.mark.parametrize("where", POSITIONS)
@pytest.mark.parametrize("name", SERVED)
def test_attention_through_a_score_mod_equals_the_reference(name, where):
    encoding, (q_pos, k_pos) = build(name, length=1200), POSITIONS[where]
    q, k, v = qkv(queries=QUERIES, keys=KEYS, width=WIDTH)
    with torch.no_grad():
        got = through_flex(encoding, q, k, v, q_pos, k_pos)
        want = explicit(q, k, v, encoding=encoding, q_pos=q_pos, k_pos=k_pos).out
    torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-4)


def test_every_bias_by_distance_serves_and_what_adds_nothing_has_none():
    pos = torch.arange(5)
    for name in SERVED:
        encoding = build(name)
        assert (encoding.score_mod(pos, pos) is None) != overrides(encoding, "bias")
    assert {"alibi", "t5", "relative", "kerple", "dynamic", "swin", "sandwich"} <= set(SERVED)


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_more_than_a_distance_is_refused_with_the_reason(name):
    pos = torch.arange(5)
    with pytest.raises(ValueError, match=r"cannot be a score_mod: it.*\n.*locant.attend"):
        build(name).score_mod(pos, pos)
    assert {"shaw", "fire"} <= set(REFUSED)


@pytest.mark.parametrize("name", ["swin", "log_cpb"])
def test_a_bias_on_a_grid_is_looked_up_by_both_offsets(name):
    torch.manual_seed(0)
    encoding = locant.make(name, dim=32, heads=4, axes=2)
    for parameter in encoding.parameters():
        parameter.data = torch.randn_like(parameter)
    pos = locant.positions.grid(4, 5)
    q, k, v = qkv(queries=20, width=WIDTH)
    with torch.no_grad():
        got = through_flex(encoding, q, k, v, pos, pos)
        want = explicit(q, k, v, encoding=encoding, q_pos=pos, k_pos=pos).out
    torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-4)


def test_real_positions_serve_where_they_are_evenly_spaced_and_are_refused_elsewhere():
    encoding, pos = build("alibi"), torch.arange(QUERIES) * 0.25 + 3
    q, k, v = qkv(queries=QUERIES, width=WIDTH)
    got = through_flex(encoding, q, k, v, pos, pos)
    want = explicit(q, k, v, encoding=encoding, q_pos=pos, k_pos=pos).out
    torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-4)
    with pytest.raises(ValueError, match="whole or evenly spaced positions"):
        encoding.score_mod(pos**2, pos**2)


def test_order_is_left_to_the_block_mask():
    encoding, (q_pos, k_pos) = build("t5"), POSITIONS["consecutive"]
    q, k, v = qkv(queries=QUERIES, keys=KEYS, width=WIDTH)
    seen = create_block_mask(
        lambda b, h, i, j: j <= i + KEYS - QUERIES, None, None, QUERIES, KEYS, device="cpu"
    )
    with torch.no_grad():
        got = through_flex(encoding, q, k, v, q_pos, k_pos, block_mask=seen)
        want = explicit(q, k, v, encoding=encoding, q_pos=q_pos, k_pos=k_pos, causal=True).out
    torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-4)


def test_a_gradient_reaches_what_the_bias_is_computed_from():
    encoding, pos = build("t5"), torch.arange(4)
    mod, here = encoding.score_mod(pos, pos), torch.tensor(2)
    zero = torch.tensor(0)
    mod(torch.zeros(()), zero, zero, here, zero).backward()
    row = int(encoding.bucket(torch.tensor(-2)))
    assert encoding.table.grad[row, 0] == 1
    assert encoding.table.grad.abs().sum() == 1


class ByFeature(Encoding):
    """A bias by distance of which the subclass says nothing about shifts."""

    def bias(self, q_pos, k_pos):
        return -(q_pos[:, None] - k_pos[None, :]).abs().float()[None, None]


def test_a_bias_that_does_not_claim_to_go_by_distance_is_refused():
    with pytest.raises(ValueError, match="more than the distance"):
        ByFeature(Shape(8, 1, 4)).score_mod(torch.arange(3), torch.arange(3))


@pytest.mark.parametrize(
    ("q_pos", "k_pos", "words"),
    [
        (torch.tensor([0, 5, 10**9]), torch.arange(3), "more than a table should hold"),
        (torch.arange(0), torch.tensor([0, 2, 3]), "at least one query"),
        ([0, 1], torch.arange(2), "must be tensors"),
    ],
)
def test_positions_that_no_table_can_hold_are_refused(q_pos, k_pos, words):
    with pytest.raises(ValueError, match=words):
        build("alibi").score_mod(q_pos, k_pos)
