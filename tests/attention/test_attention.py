"""Every backend of attention equals the reference, forward and backward, whatever the shapes and
masks."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import locant
from common import EVERY, build, qkv, states_of
from locant.attention import attend, explicit
from locant.attention.calls import repeat_key_heads
from locant.encodings.base import overrides, senses

FUSABLE = [
    n for n in EVERY if not overrides(build(n), "rescore") and not overrides(build(n), "mix")
]

QUICK = [(backend, n) for n in FUSABLE for backend in ("fused", "blocked")]
BY_BLOCKS = [n for n in FUSABLE if overrides(build(n), "bias") or overrides(build(n), "state_bias")]
QUICK += [("tiled", n) for n in BY_BLOCKS]


def run(backend, encoding, tensors, **settings):
    """Output and gradients of one backend."""
    leaves = [t.clone().requires_grad_() for t in tensors] + list(encoding.parameters())
    q, k, _ = tensors
    states = states_of(encoding, q.shape[2], k.shape[2], len(q), q.dtype)
    out = attend(*leaves[:3], encoding=encoding, backend=backend, **settings, **states)
    grads = torch.autograd.grad(
        (out * torch.arange(out.numel()).view_as(out).cos()).sum(), leaves, allow_unused=True
    )
    return out, [torch.zeros(()) if g is None else g for g in grads]


@pytest.mark.parametrize(("backend", "name"), QUICK)
@settings(max_examples=5, deadline=None)
@given(
    queries=st.integers(1, 40),
    extra=st.integers(0, 9),
    groups=st.sampled_from([1, 2, 4]),
    causal=st.booleans(),
    masked=st.sampled_from(["no", "padding", "any"]),
    seed=st.integers(0, 2**20),
)
def test_quick_backends_equal_the_reference(
    backend, name, queries, extra, groups, causal, masked, seed
):
    encoding, keys = build(name, seed=seed).double(), queries + extra
    tensors = qkv(queries=queries, keys=keys, groups=groups, dtype=torch.float64, seed=seed)
    draw = torch.Generator().manual_seed(seed)
    mask = {
        "no": None,
        "padding": torch.rand(2, 1, 1, keys, generator=draw) > 0.3,
        "any": torch.rand(2, 4, queries, keys, generator=draw) > 0.5,
    }[masked]
    pos = torch.randint(0, 60, (2, keys), generator=draw)
    settings = {"q_pos": pos[:, extra:], "k_pos": pos, "causal": causal, "mask": mask}
    want, want_grads = run("reference", encoding, tensors, **settings)
    got, got_grads = run(backend, encoding, tensors, **settings)
    assert torch.isfinite(want).all()
    torch.testing.assert_close(got, want, atol=1e-11, rtol=1e-9)
    for ours, theirs in zip(got_grads, want_grads, strict=True):
        assert torch.isfinite(theirs).all()
        torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=1e-8)


@pytest.mark.parametrize("name", EVERY)
def test_one_query_head_by_head_gives_the_last_row_and_the_same_gradients(name, monkeypatch):
    encoding, pos = build(name).double(), torch.arange(9)
    q, k, v = qkv(queries=9, groups=2, dtype=torch.float64)
    rows, _ = run("reference", encoding, (q, k, v), q_pos=pos, k_pos=pos, causal=True)
    last = {"q_pos": pos[-1:], "k_pos": pos, "causal": True}
    together, want = run("reference", encoding, (q[:, :, -1:], k, v), **last)
    monkeypatch.setattr("locant.attention.backends.reference.GEMV_MIN_KEY_ELEMENTS", 0)
    monkeypatch.setattr("locant.attention.backends.reference.BATCHED_GEMV", False)
    apart, got = run("reference", encoding, (q[:, :, -1:], k, v), **last)
    torch.testing.assert_close(apart, rows[:, :, -1:], atol=1e-12, rtol=1e-10)
    torch.testing.assert_close([apart, *got], [together, *want], atol=1e-12, rtol=1e-10)


@pytest.mark.parametrize("behind", ["all", "some"])
@pytest.mark.parametrize("by_row", [False, True])
def test_keys_far_behind_need_not_be_looked_up_by_shaw(behind, by_row, monkeypatch):
    encoding, keys = build("shaw").double(), 300
    pos = torch.arange(keys)
    k_pos = pos if behind == "all" else pos.roll(7)  # then the last seven come first
    q_pos, k_pos = (one.expand(2, -1) if by_row else one for one in (pos[-2:], k_pos))
    tensors = qkv(queries=2, keys=keys, dtype=torch.float64)
    want, want_grads = run("reference", encoding, tensors, q_pos=q_pos, k_pos=k_pos, causal=True)
    monkeypatch.setattr("locant.encodings.shaw.MANY", 10)
    assert bool(encoding._near(q_pos, k_pos)[0]) == (behind == "all")
    got, grads = run("reference", encoding, tensors, q_pos=q_pos, k_pos=k_pos, causal=True)
    torch.testing.assert_close([got, *grads], [want, *want_grads], atol=1e-12, rtol=1e-10)


def test_one_query_of_no_rows_has_no_output(monkeypatch):
    monkeypatch.setattr("locant.attention.backends.reference.GEMV_MIN_KEY_ELEMENTS", 0)
    monkeypatch.setattr("locant.attention.backends.reference.BATCHED_GEMV", False)
    q, k, v = qkv(batch=0, queries=1, keys=9)
    last = {"q_pos": torch.tensor([8]), "k_pos": torch.arange(9), "causal": True}
    assert attend(q, k, v, encoding=build("shaw"), **last).shape == q.shape


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("masked", ["no", "padding", "heads", "some see nothing"])
def test_one_query_over_shared_keys_equals_the_reference(name, masked):
    encoding, keys, pos = build(name).double(), 13, torch.arange(13).expand(2, 13)
    tensors = qkv(queries=1, keys=keys, groups=2, dtype=torch.float64)
    draw = torch.Generator().manual_seed(0)
    mask = {
        "no": None,
        "padding": torch.rand(2, 1, 1, keys, generator=draw) > 0.3,
        "heads": torch.rand(2, 4, 1, keys, generator=draw) > 0.5,
        "some see nothing": torch.tensor([True, False, True, False])[None, :, None, None].expand(
            2, 4, 1, keys
        ),
    }[masked]
    settings = {"q_pos": pos[:, -1:], "k_pos": pos, "causal": True, "mask": mask}
    want, want_grads = run("reference", encoding, tensors, **settings)
    got, got_grads = run("auto", encoding, tensors, **settings)
    torch.testing.assert_close([got, *got_grads], [want, *want_grads], atol=1e-11, rtol=1e-9)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("causal", [False, True])
def test_the_reference_is_attention_as_it_is_written(name, causal):
    encoding, (q, k, v) = build(name), qkv()
    pos = locant.positions.consecutive(11)
    states = states_of(encoding, 11, 11)
    got = explicit(q, k, v, encoding=encoding, q_pos=pos, k_pos=pos, causal=causal, **states)
    turned_q, turned_k = encoding.rotate(q, k, pos, pos)
    scores = turned_q @ turned_k.transpose(-1, -2) * 8**-0.5
    may_see = torch.ones(11, 11).tril().bool() if causal else None
    scores = encoding.rescore(scores, turned_q * 8**-0.5, turned_k, pos, pos, may_see)
    bias = encoding.bias(pos, pos)
    scores = scores if bias is None else scores + bias
    if states:
        scores = scores + encoding.state_bias(pos, pos, **states)
    if causal:
        scores = scores.masked_fill(~may_see, float("-inf"))
    weights = scores.softmax(-1)
    torch.testing.assert_close(got.scores, scores, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(got.weights, weights, atol=1e-5, rtol=1e-5)
    out = encoding.mix(weights, v, pos, pos, may_see)
    torch.testing.assert_close(got.out, out, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("length", [20, 300])
def test_the_backend_that_is_picked_is_exact_in_float32(name, length):
    encoding, tensors = build(name, length=300), qkv(queries=length)
    pos = locant.positions.consecutive(length)
    given = {"q_pos": pos, "k_pos": pos, "causal": encoding.causal_only}
    got, got_grads = run("auto", encoding, tensors, **given)
    want, want_grads = run("reference", encoding, tensors, **given)
    rounding = 5e-5 if senses(encoding) else 1e-5  # running sums of some hundreds are rounded too
    torch.testing.assert_close(got, want, atol=rounding, rtol=1e-5)
    for ours, theirs in zip(got_grads, want_grads, strict=True):
        size = max(1.0, theirs.abs().max().item()) if senses(encoding) else 1.0
        torch.testing.assert_close(ours, theirs, atol=2e-4 * size, rtol=1e-4)


@pytest.mark.parametrize(
    ("name", "length", "backend"),
    [
        ("none", 64, "fused"),
        ("t5", 64, "blocked"),
        ("none", 512, "fused"),
        ("rotary", 512, "fused"),
        ("alibi", 256, "fused"),
        ("alibi", 512, "tiled"),
        ("t5", 512, "tiled"),
        ("relative", 256, "blocked"),
        ("relative", 512, "tiled"),
        ("shaw", 512, "reference"),
        ("pope", 512, "blocked"),
    ],
)
def test_the_quickest_backend_is_picked(name, length, backend):
    assert locant.plan(build(name, length=length), length).backend == backend


def test_without_gradients_a_learned_bias_goes_to_the_fused_kernel():
    with torch.no_grad():
        assert locant.plan(build("t5"), 300).backend == "fused"


@pytest.mark.parametrize("backend", ["reference", "fused", "auto"])
@pytest.mark.parametrize("name", ["none", "rotary", "alibi", "t5"])
def test_a_query_that_sees_nothing_gives_zero_and_finite_gradients(backend, name):
    mask = torch.ones(2, 1, 11, 11, dtype=torch.bool)
    mask[0, :, 3] = False
    pos = locant.positions.consecutive(11)
    out, grads = run(backend, build(name), qkv(), q_pos=pos, k_pos=pos, mask=mask)
    assert (out[0, :, 3] == 0).all()
    assert (out[0, :, 4] != 0).all()
    assert all(torch.isfinite(g).all() for g in grads)


def test_the_last_query_is_aligned_with_the_last_key():
    q, k, v = qkv(queries=2, keys=6)
    pos = locant.positions.consecutive(6)
    enc = build("rotary")
    weights = explicit(q, k, v, encoding=enc, q_pos=pos[4:], k_pos=pos, causal=True).weights
    assert (weights[:, :, 0, 5] == 0).all()
    assert (weights[:, :, 0, :5] > 0).all()
    assert (weights[:, :, 1] > 0).all()


def test_causal_goes_by_order_not_by_the_positions_values():
    q, k, v = qkv(queries=4)
    pos = torch.tensor([9, 3, 7, 1])
    weights = explicit(q, k, v, encoding=build("alibi"), q_pos=pos, k_pos=pos, causal=True).weights
    assert torch.equal(weights > 0, torch.ones(4, 4).tril().bool().expand(2, 4, 4, 4))


def test_grouped_keys_serve_neighbouring_heads():
    q, k, v = qkv(groups=2)
    shared_k, shared_v = repeat_key_heads(q, k, v)
    assert torch.equal(shared_k[:, 0], k[:, 0])
    assert torch.equal(shared_k[:, 1], k[:, 0])
    assert torch.equal(shared_v[:, 2], v[:, 1])


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_stays_near_full_precision(name, dtype):
    pos = locant.positions.consecutive(11) + 40
    tensors = qkv()
    precise, rounded = build(name).double(), build(name).to(dtype)
    exact = attend(
        *[t.to(dtype).double() for t in tensors],
        encoding=precise,
        q_pos=pos,
        k_pos=pos,
        **states_of(precise, 11, 11, dtype=torch.float64),
    )
    half = attend(
        *[t.to(dtype) for t in tensors],
        encoding=rounded,
        q_pos=pos,
        k_pos=pos,
        **states_of(rounded, 11, 11, dtype=dtype),
    )
    assert half.dtype == dtype
    assert (half.double() - exact).abs().max() < 0.06


@pytest.mark.parametrize("name", ["rotary", "rotary interleaved", "pope", "sinusoidal"])
def test_angles_stay_exact_far_out_whatever_the_modules_dtype(name):
    far = locant.positions.consecutive(4) + 10**6
    one = torch.ones(1, 4, 4, 8)
    x = torch.zeros(1, 4, 32)
    double, half = build(name).double(), build(name).double().bfloat16()
    if name == "sinusoidal":
        exact, got = double.embed(x.double(), far), half.embed(x, far)
    else:
        with torch.no_grad():
            for parameter in double.parameters():
                parameter.zero_()
            for parameter in half.parameters():
                parameter.zero_()
        exact, got = (
            double.rotate(one.double(), one.double(), far, far)[0],
            half.rotate(one, one, far, far)[0],
        )
    assert (got.double() - exact).abs().max() < 1e-6


def test_dropout_drops_weights_only_when_asked():
    pos = locant.positions.consecutive(11)
    settings = {"encoding": build("rotary"), "q_pos": pos, "k_pos": pos}
    plain = attend(*qkv(), **settings)
    assert torch.equal(plain, attend(*qkv(), **settings))
    assert not torch.equal(plain, attend(*qkv(), **settings, dropout=0.5))


def test_t5_without_the_square_root_is_a_scale_of_one():
    q, k, v = qkv()
    pos = locant.positions.consecutive(11)
    one = explicit(q, k, v, encoding=build("t5"), q_pos=pos, k_pos=pos, scale=1.0).scores
    torch.testing.assert_close(one, q @ k.mT + build("t5").bias(pos, pos))


@pytest.mark.parametrize("name", ["none", "rotary", "t5", "alibi", "shaw"])
@pytest.mark.parametrize(
    "shape", [(12,), (1, 12), (5, 12), (4, 1, 12), (4, 5, 12), (1, 4, 5, 12), (2, 1, 1, 12)]
)
@pytest.mark.parametrize("queries", [1, 5])
def test_a_mask_may_have_fewer_dimensions(name, shape, queries):
    shape = tuple(queries if size == 5 else size for size in shape)
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(0)) < 0.7
    tensors = qkv(queries=queries, keys=12, groups=2, dtype=torch.float64)
    pos = torch.arange(12)
    where = {"encoding": build(name).double(), "q_pos": pos[-queries:], "k_pos": pos}
    want = explicit(*tensors, **where, mask=mask.expand(2, 4, queries, 12)).out
    torch.testing.assert_close(attend(*tensors, **where, mask=mask), want)


@pytest.mark.parametrize("scale", [0.3, -0.3, 0.0])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("backend", "name"),
    [
        *((backend, "none") for backend in ("auto", "fused", "blocked", "reference")),
        *((backend, "alibi") for backend in ("fused", "blocked", "tiled", "reference")),
    ],
)
@pytest.mark.parametrize(("dtype", "bound"), [(torch.float64, 1e-12), (torch.bfloat16, 0.03)])
def test_a_scale_of_any_sign_multiplies_the_scores(backend, name, causal, scale, dtype, bound):
    q, k, v = (one.double() for one in qkv(queries=12, keys=12, dtype=dtype))
    encoding, pos = build(name).double(), torch.arange(12)
    scores = scale * q @ k.mT  # torch's own causal kernel gives NaN here where scale ≤ 0
    if name == "alibi":
        scores = scores + encoding.bias(pos, pos)
    if causal:
        scores = scores.masked_fill(pos > pos[:, None], -torch.inf)
    expected = scores.softmax(-1) @ v
    where = {"q_pos": pos, "k_pos": pos, "causal": causal, "scale": scale}
    given = [one.to(dtype).requires_grad_() for one in (q, k, v)]
    out = attend(*given, encoding=encoding, backend=backend, **where)
    torch.testing.assert_close(out.double(), expected, rtol=0, atol=bound)
    torch.testing.assert_close(
        explicit(*given, encoding=encoding, **where).out.double(), expected, rtol=0, atol=bound
    )
    assert all(grad.isfinite().all() for grad in torch.autograd.grad(out.sum(), given))
