"""Packed sequences known by their lengths: a dense mask's numbers, without its memory."""

from __future__ import annotations

import pytest
import torch

import locant
from common import build, qkv
from locant.attention import attend, explicit, inputs
from locant.encodings.base import Encoding
from locant.positions import SegmentMask, packed
from locant.shapes import Shape

LENGTHS = [40, 7, 120, 1, 90]
WHERE = {"rtol": 1e-4, "atol": 2e-5}


@pytest.fixture(autouse=True)
def apart(monkeypatch):
    """Cut sequences apart even where they are few and short."""
    monkeypatch.setattr(inputs, "PAIRS_A_CALL", 1)


def with_gradients(out, leaves):
    weight = torch.randn(out.shape, generator=torch.Generator().manual_seed(9))
    found = torch.autograd.grad((out * weight).sum(), leaves, allow_unused=True)
    return [out, *(grad for grad in found if grad is not None)]


def compare(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=2e-4 * other.abs().max().item())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", ["none", "rotary", "t5", "alibi", "shaw", "pope"])
def test_lengths_give_what_a_dense_mask_gives_forward_and_backward(name, causal):
    packing, encoding = packed(LENGTHS), build(name)
    tensors = [one.requires_grad_() for one in qkv(queries=sum(LENGTHS), groups=2)]
    leaves = [*tensors, *encoding.parameters()]
    given = {"encoding": encoding, "q_pos": packing.positions, "k_pos": packing.positions}
    given["causal"] = causal
    found = with_gradients(attend(*tensors, **given, mask=packing.segments), leaves)
    wanted = with_gradients(explicit(*tensors, **given, mask=packing.mask).out, leaves)
    compare(found, wanted)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", ["rotary", "t5", "alibi"])
def test_long_sequences_are_those_of_each_alone(name, causal):
    lengths, encoding = [1100, 530, 620], build(name)
    packing = packed(lengths)
    q, k, v = qkv(batch=1, queries=sum(lengths))
    given = {"encoding": encoding, "causal": causal}
    pos = packing.positions
    out = attend(q, k, v, q_pos=pos, k_pos=pos, **given, mask=packing.segments)
    first = 0
    for length in lengths:
        some, own = slice(first, first + length), torch.arange(length)
        alone = attend(*(t[..., some, :] for t in (q, k, v)), q_pos=own, k_pos=own, **given)
        assert torch.equal(out[..., some, :], alone)
        first += length


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", ["rotary", "t5"])
def test_padding_hides_keys_of_packed_sequences(name, causal):
    packing, length = packed(LENGTHS), sum(LENGTHS)
    padding = torch.ones(2, 1, 1, length, dtype=torch.bool)
    padding[0, ..., 40:47] = False  # one whole sequence: its queries see nothing
    padding[1, ..., :5] = False
    pairs = torch.rand(length, length, generator=torch.Generator().manual_seed(4)) > 0.2
    given = {"encoding": build(name), "q_pos": packing.positions, "k_pos": packing.positions}
    given["causal"] = causal
    for other in (padding, pairs):
        out = attend(*qkv(queries=length), **given, mask=packing.segments & other)
        wanted = attend(*qkv(queries=length), **given, mask=packing.mask & other)
        torch.testing.assert_close(out, wanted, **WHERE)
    both = packing.segments & padding & pairs
    out = attend(*qkv(queries=length), **given, mask=both)
    wanted = attend(*qkv(queries=length), **given, mask=packing.mask & padding & pairs)
    torch.testing.assert_close(out, wanted, **WHERE)


@pytest.mark.parametrize("queries", [1, 91, 150])
@pytest.mark.parametrize("groups", [1, 4])
def test_the_last_queries_over_a_cache_see_their_own_sequence(queries, groups):
    packing, keys = packed(LENGTHS), sum(LENGTHS)
    tensors, pos = qkv(queries=queries, keys=keys, groups=groups), packing.positions
    given = {"encoding": build("t5"), "q_pos": pos[-queries:], "k_pos": pos, "causal": True}
    out = attend(*tensors, **given, mask=packing.segments)
    wanted = attend(*tensors, **given, mask=packing.mask[-queries:])
    torch.testing.assert_close(out, wanted, **WHERE)
    seen = explicit(*tensors, **given, mask=packing.segments)
    torch.testing.assert_close(seen.out, wanted, **WHERE)


def test_layers_and_models_take_lengths():
    packing, x = packed(LENGTHS), torch.randn(2, sum(LENGTHS), 32)
    pos = packing.positions
    torch.manual_seed(0)
    layer = locant.Attention(build("rotary"), kv_heads=2).eval()
    model = locant.Transformer(build("t5"), layers=2, causal=True).eval()
    torch.testing.assert_close(
        layer(x, pos, mask=packing.segments), layer(x, pos, mask=packing.mask), **WHERE
    )
    wanted = model(x, pos, mask=packing.mask)
    torch.testing.assert_close(model(x, pos, mask=packing.segments), wanted, **WHERE)
    out, weights = model.forward_with_weights(x, pos, mask=packing.segments)
    torch.testing.assert_close(out, wanted, **WHERE)
    assert not weights[0].masked_select(~packing.mask).any()
    _, caches = model.step(x[:, :100], pos[:100], mask=SegmentMask((40, 7, 53)))
    last, _ = model.step(x[:, 100:], pos[100:], caches, mask=packing.segments)
    torch.testing.assert_close(last, wanted[:, 100:], **WHERE)


class Gate(Encoding):
    """A bias from the state of every token."""

    def __init__(self, shape):
        super().__init__(shape)
        self.gate = torch.nn.Linear(shape.dim, shape.heads)

    def sense(self, x, pos, past=None):
        return self.gate(x).mT[..., None]  # (B, H, T, 1)

    def state_bias(self, q_pos, k_pos, q_state, k_state):
        return q_state * k_state.mT


@pytest.mark.parametrize("causal", [False, True])
def test_states_go_with_their_sequences(causal):
    packing, x = packed(LENGTHS), torch.randn(2, sum(LENGTHS), 32)
    layer = locant.Attention(Gate(Shape(32, 4, 64)))
    leaves = list(layer.parameters())
    results = []
    for mask in (packing.segments, packing.mask):
        out = layer(x, packing.positions, causal=causal, mask=mask)
        results.append(with_gradients(out, leaves))
    compare(*results)


def test_few_short_sequences_go_through_one_mask(monkeypatch):
    monkeypatch.undo()
    short = SegmentMask((3, 4))
    pos = torch.arange(7)
    assert not inputs.prepare(build("t5"), pos, pos, like=torch.zeros(1), mask=short).parts
    wanted = attend(*qkv(queries=7), mask=short.dense())
    assert torch.equal(attend(*qkv(queries=7), mask=short), wanted)


def test_a_plan_tells_that_each_sequence_is_computed_by_itself():
    plan = locant.plan(build("t5"), 1700, causal=True, mask=SegmentMask((1100, 600)))
    assert plan.backend == "tiled"
    assert plan.why.startswith("each packed sequence by itself: its bias depends on distance")


def test_a_traced_graph_takes_lengths():
    packing, encoding = packed(LENGTHS), build("rotary")
    pos, tensors = packing.positions, qkv(queries=sum(LENGTHS))

    def call(q, k, v):
        given = {"q_pos": pos, "k_pos": pos, "mask": packing.segments}
        return attend(q, k, v, encoding=encoding, **given)

    compiled = torch.compile(call, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(*tensors), call(*tensors), **WHERE)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SegmentMask(()), "at least one length"),
        (lambda: SegmentMask((3, 0)), "a length"),
        (lambda: SegmentMask(7), "list of lengths"),
        (lambda: attend(*qkv(queries=7), mask=SegmentMask((3, 5))), "have 8 tokens in all, but"),
        (lambda: attend(*qkv(queries=9, keys=8), mask=SegmentMask((3, 5))), "last of the keys"),
        (lambda: explicit(*qkv(queries=9, keys=8), mask=SegmentMask((3, 5))), "has no 9 queries"),
        (
            lambda: attend(*qkv(queries=8), mask=SegmentMask((3, 5)) & torch.ones(7).bool()),
            "does not fit",
        ),
        (lambda: attend(*qkv(queries=8), mask=[3, 5]), "or a SegmentMask"),
    ],
)
def test_lengths_that_do_not_fit_are_refused_with_a_sentence(make, words):
    with pytest.raises(ValueError, match=words):
        make()
