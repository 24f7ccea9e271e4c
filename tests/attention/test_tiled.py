"""A bias by blocks equals the materialized bias: outputs and gradients, at any sizes."""

from contextlib import contextmanager, nullcontext
from unittest.mock import patch

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from common import build, qkv
from locant.attention import attend, explicit
from locant.attention.backends.tiled import backward, blocking, forward, pruning
from locant.attention.backends.tiled.blocking import QueryBlock
from locant.attention.backends.tiled.by_blocks import take_by_blocks
from locant.attention.backends.tiled.computed_bias import ComputedBias
from locant.attention.backends.tiled.toeplitz_bias import ToeplitzBias
from locant.attention.inputs import prepare
from locant.attention.recomputing import examine_bias
from locant.encodings import _tables
from locant.encodings.base import Encoding, difference
from locant.shapes import Shape

OF_FLOAT32 = ("near", "absolute")  # their bias is float32, whatever the tokens are


class Near(Encoding):
    """One bias for all heads, learned, by real distances."""

    shift_invariant = True
    real_positions = True

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.price = torch.nn.Parameter(torch.tensor(0.3))

    def bias(self, q_pos, k_pos):
        return -self.price * (difference(q_pos, k_pos).abs() + 1).sqrt()


class Absolute(Near):
    """A bias that hangs on where the key is: no distance says it."""

    shift_invariant = False

    def bias(self, q_pos, k_pos):
        return self.price * difference(0 * q_pos, k_pos).float().sin()


def made(name, dtype, **options):
    if name in OF_FLOAT32:
        return {"near": Near, "absolute": Absolute}[name](Shape(32, 4, 64)).to(dtype)
    encoding = build(name, **options).to(dtype)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.normal_(generator=torch.Generator().manual_seed(1))
    return encoding


def both(encoding, q, k, v, **where):
    """Outputs and gradients in pairs: line by line, and by blocks."""
    q, k, v = (tensor.requires_grad_() for tensor in (q, k, v))
    g = torch.randn(q.shape, dtype=q.dtype, generator=torch.Generator().manual_seed(2))
    leaves = [q, k, v, *encoding.parameters()]
    results = []
    for out in (
        explicit(q, k, v, encoding=encoding, **where).out,
        attend(q, k, v, encoding=encoding, **where, backend="tiled"),
    ):
        results.append([out, *torch.autograd.grad(out, leaves, g)])
    return zip(*results, strict=True)


@contextmanager
def blocks_of(width):
    """Everything that is done at once is small, so that a few tokens are many blocks."""
    with (
        patch.multiple(_tables, MANY=1),
        patch.multiple(pruning, KEY_BLOCK=width, MIN_KEYS_TO_PRUNE=width),
        patch.multiple(forward, QUERIES_AT_ONCE=3 * width, QUERIES_UNPRUNED=4 * width),
        patch.multiple(blocking, KEYS_AT_ONCE=2 * width, HEADS_AT_ONCE=3),
        patch.multiple(backward, QUERIES_AT_ONCE=width, HEADS_AT_ONCE=3),
    ):
        yield


def positions_of(kind, rows, keys, draw):
    if kind == "even":
        return torch.arange(keys) * 3 + 5
    if kind == "even rows":
        return torch.arange(keys) + torch.randint(0, 50, (rows, 1), generator=draw)
    if kind == "whole":
        return torch.randint(0, 90, (rows, keys), generator=draw)
    if kind == "far":  # from most of the others, past every end of a table
        return torch.randint(1, 90, (keys,), generator=draw).cumsum(-1)
    return torch.rand(rows, keys, generator=draw).cumsum(-1)


def mask_of(kind, rows, queries, keys, draw):
    """What may be seen; some queries see nothing."""
    if kind == "padding":
        lengths = torch.randint(0, keys + 1, (rows, 1, 1, 1), generator=draw)
        return torch.arange(keys) < lengths
    if kind == "padding on the left":
        lengths = torch.randint(0, keys + 1, (rows, 1, 1, 1), generator=draw)
        return torch.arange(keys) >= lengths
    if kind == "packed":
        parts = torch.randint(0, 3, (max(queries, keys),), generator=draw).sort().values
        return parts[-queries:, None] == parts[:keys]
    heads = 4 if kind == "by head" else 1
    return torch.rand(rows, heads, queries, keys, generator=draw) < 0.3


def laid(kind, tensor):
    """The same numbers, in memory in another order."""
    if kind == "columns":
        return tensor.mT.contiguous().mT
    if kind == "every second":
        return torch.stack([tensor, tensor + 1], -1).flatten(-2)[..., ::2]
    return tensor.transpose(1, 2).contiguous().transpose(1, 2) if kind == "by token" else tensor


@pytest.mark.parametrize("name", ["t5", "relative", "alibi", "near", "absolute"])
@settings(max_examples=15, deadline=None)
@given(
    rows=st.integers(1, 3),
    queries=st.integers(1, 150),
    extra=st.integers(-20, 60),
    groups=st.sampled_from([1, 2, 4]),
    causal=st.booleans(),
    kind=st.sampled_from(["even", "even rows", "whole", "far", "real"]),
    seen=st.sampled_from(
        ["all", "all", "padding", "padding on the left", "packed", "any", "by head"]
    ),
    memory=st.sampled_from(["plain", "plain", "by token", "columns", "every second"]),
    double=st.booleans(),
    small=st.booleans(),
    seed=st.integers(0, 2**20),
)
def test_rows_of_a_bias_equal_the_whole_of_it(
    name, rows, queries, extra, groups, causal, kind, seen, memory, double, small, seed
):
    if kind == "real" and name in ("t5", "relative"):
        kind = "whole"
    keys = max(queries if causal else 1, queries + extra)
    dtype = torch.float64 if double else torch.float32
    draw = torch.Generator().manual_seed(seed)
    k_pos = positions_of(kind, rows, max(keys, queries), draw)
    q_pos, k_pos = k_pos[..., -queries:], k_pos[..., :keys] if keys < queries else k_pos
    tensors = qkv(batch=rows, queries=queries, keys=keys, groups=groups, dtype=dtype, seed=seed)
    tensors = [laid(memory, tensor) for tensor in tensors]
    bound = 1e-12 if double and name not in OF_FLOAT32 else 1e-5
    mask = None if seen == "all" else mask_of(seen, rows, queries, keys, draw)
    steep = float((difference(q_pos, k_pos).abs() + 1).sqrt().max()) if name == "near" else 1.0
    with blocks_of(8) if small else nullcontext():
        pairs = list(
            both(made(name, dtype), *tensors, q_pos=q_pos, k_pos=k_pos, causal=causal, mask=mask)
        )
    for number, (want, got) in enumerate(pairs):
        # what is learnt gets the sum of many terms that cancel: rounding grows with the root of how
        # many there are, and with how steeply the bias hangs on what is learnt
        terms = (
            rows * 4 * queries * keys / want.numel() if number >= len(("out", "q", "k", "v")) else 1
        )
        size = want.abs().max().clamp(min=max(1.0, terms**0.5 / 10 * (steep if terms > 1 else 1)))
        assert torch.isfinite(got).all()
        assert (got - want).abs().max() <= bound * size


@pytest.mark.parametrize("name", ["t5", "near"])
@pytest.mark.parametrize("causal", [False, True])
def test_lengths_past_every_block_are_equal_too(name, causal):
    length = forward.QUERIES_AT_ONCE + backward.QUERIES_AT_ONCE + 7
    pos = torch.arange(length)
    for want, got in both(
        made(name, torch.float32),
        *qkv(batch=1, queries=length),
        q_pos=pos,
        k_pos=pos,
        causal=causal,
    ):
        torch.testing.assert_close(got, want, atol=2e-5 * float(want.detach().abs().max()), rtol=0)


@pytest.mark.parametrize("causal", [False, True])
def test_padding_past_every_block_is_equal_too(causal):
    length = forward.QUERIES_AT_ONCE + backward.QUERIES_AT_ONCE + 7
    pos, real = torch.arange(length), torch.arange(length) < torch.tensor([[length], [length // 3]])
    where = {"q_pos": pos, "k_pos": pos, "causal": causal, "mask": real[:, None, None, :]}
    for want, got in both(made("t5", torch.float32), *qkv(batch=2, queries=length), **where):
        torch.testing.assert_close(got, want, atol=2e-5 * float(want.detach().abs().max()), rtol=0)


@pytest.mark.parametrize("backend", ["tiled", "blocked"])
@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("uneven", [False, True])
def test_gradients_of_gradients_are_exact(backend, power, uneven):
    pos = torch.arange(30) ** (2 if uneven else 1)
    encoding = made("t5", torch.float64)
    leaves = [tensor.requires_grad_() for tensor in qkv(queries=30, dtype=torch.float64)]
    leaves.append(encoding.table)
    results = []
    for name in ("reference", backend):
        out = attend(
            *leaves[:3], encoding=encoding, q_pos=pos, k_pos=pos, causal=True, backend=name
        )
        first = torch.autograd.grad(out.pow(power).sum(), leaves, create_graph=True)
        results.append(torch.autograd.grad(sum(one.square().sum() for one in first), leaves))
    torch.testing.assert_close(*results, atol=1e-10, rtol=1e-8)


@pytest.mark.parametrize("what", ["table", "mask", "positions"])
def test_what_changed_before_the_backward_pass_is_refused_and_not_wrong(what):
    pos, mask = torch.arange(30) ** 2, torch.ones(1, 1, 1, 30, dtype=torch.bool)
    encoding, (q, k, v) = build("relative"), qkv(queries=30)
    out = attend(
        q.requires_grad_(),
        k,
        v,
        encoding=encoding,
        q_pos=pos,
        k_pos=pos,
        mask=mask,
        backend="tiled",
    )
    with torch.no_grad():
        {"table": encoding.table, "mask": mask, "positions": pos}[what].zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_positions_made_in_inference_mode_serve():
    with torch.inference_mode():
        pos = torch.arange(30) ** 2
    q, k, v = qkv(queries=30)
    attend(
        q.requires_grad_(), k, v, encoding=build("relative"), q_pos=pos, k_pos=pos, backend="tiled"
    ).sum().backward()
    assert q.grad.isfinite().all()


@pytest.mark.parametrize("step", [1.0, 1.5])
@pytest.mark.parametrize("tensor", ["q", "k", "v"])
def test_what_is_no_number_is_not_lost_where_keys_are_left_out(tensor, step):
    length = pruning.MIN_KEYS_TO_PRUNE + 900
    pos = torch.arange(length) ** step  # with 1.5 the distances grow, and the bias is materialized
    q, k, v = qkv(batch=1, queries=length)
    {"q": q, "k": k, "v": v}[tensor][:, :, 3] = torch.nan
    where = {"encoding": build("alibi"), "q_pos": pos, "k_pos": pos}
    got, want = attend(q, k, v, **where, backend="tiled"), explicit(q, k, v, **where).out
    assert torch.equal(got.isnan(), want.isnan())


@pytest.mark.parametrize("steep", [1.0, 100.0])
def test_a_steep_bias_is_exact_beyond_what_it_reaches(steep):
    length = pruning.MIN_KEYS_TO_PRUNE + 300
    pos = torch.arange(length) * steep
    for causal in (False, True):
        for want, got in both(
            build("alibi"), *qkv(batch=2, queries=length), q_pos=pos, k_pos=pos, causal=causal
        ):
            torch.testing.assert_close(
                got, want, atol=2e-5 * float(want.detach().abs().max()), rtol=0
            )


def test_what_heads_give_to_a_bias_that_they_share_is_summed():
    pos, encoding = torch.arange(3.0), Near(Shape(8, 2, 3))
    bias, block = ComputedBias(encoding, 1, pos, pos, False), QueryBlock(0, 3, 3)
    found = torch.zeros(())
    gathered = bias.gradient(block, bias.block(block), [found])  # of (1, 1, 3, 3)
    for head in (0, 1):
        gathered.add(0, slice(head, head + 1), 0, torch.ones(1, 3, 3))
    gathered.finish()
    (want,) = torch.autograd.grad(bias.block(block).sum() * 2, [encoding.price])
    assert torch.equal(found, want)


def test_a_bias_by_distance_is_one_line():
    pos = torch.arange(40)

    def by_blocks(encoding, pos):
        inputs = prepare(encoding, pos, pos, like=torch.zeros(1))
        inputs.facts = examine_bias(inputs)
        return take_by_blocks(inputs, torch.float32).bias

    even = by_blocks(build("t5"), pos)
    assert isinstance(even, ToeplitzBias)
    assert even.line.shape == (1, 4, 79)
    assert isinstance(by_blocks(build("t5"), pos**2), ComputedBias)
    assert isinstance(by_blocks(Absolute(Shape(32, 4, 64)), pos), ComputedBias)
