"""Which backend serves a call, why, and how much of a bias is taken at once."""

import pytest
import torch

import locant
from common import build, qkv
from locant.attention import attend, dispatch
from locant.attention.backends.tiled import forward
from locant.attention.backends.tiled.by_blocks import take_by_blocks
from locant.attention.calls import describe_call
from locant.attention.dispatch import MIN_PAIRS, MIN_PAIRS_MATERIALIZED, NAMES
from locant.attention.inputs import prepare
from locant.attention.masks import materialize
from locant.attention.recomputing import examine_bias

LONG, LONG_MATERIALIZED = int(MIN_PAIRS**0.5), int(MIN_PAIRS_MATERIALIZED**0.5)


def test_a_long_bias_under_a_mask_is_taken_by_blocks_and_hidden_queries_give_nothing():
    length = LONG_MATERIALIZED
    pos, q = torch.arange(length), torch.zeros(1, 4, length, 8, requires_grad=True)
    nothing = torch.zeros(1, 1, 1, length, dtype=torch.bool)
    assert locant.plan(build("t5"), length, causal=True, mask=nothing).backend == "tiled"
    assert not attend(q, q, q + 1, encoding=build("t5"), q_pos=pos, k_pos=pos, mask=nothing).any()
    inputs = prepare(build("t5"), pos, pos, like=q, causal=True, mask=nothing)
    added = materialize(inputs, q.dtype).attn_bias
    assert added.isfinite().any(-1).all()  # no softmax over nothing


@pytest.mark.parametrize("masked", [False, True])
def test_values_of_another_width_and_empty_tensors_are_served_by_another_backend(masked):
    length = LONG_MATERIALIZED
    pos = torch.arange(length)
    mask = torch.ones(1, 1, 1, length, dtype=torch.bool) if masked else None
    q, k, v = qkv(batch=1, queries=length)
    out = attend(q, k, v[..., :5], encoding=build("t5"), q_pos=pos, k_pos=pos, mask=mask)
    want = attend(q, k, v, encoding=build("t5"), q_pos=pos, k_pos=pos, mask=mask)[..., :5]
    torch.testing.assert_close(out, want, atol=1e-5, rtol=1e-4)
    nobody = torch.randn(0, 4, length, 8)
    where = {"encoding": build("t5"), "q_pos": pos, "k_pos": pos}
    assert attend(nobody, nobody, nobody, **where, mask=mask).shape == nobody.shape
    with pytest.raises(ValueError, match="no queries or keys"):
        attend(nobody, nobody, nobody, **where, backend="tiled")


def test_a_padded_batch_is_taken_many_queries_at_a_time():
    length, batch = LONG_MATERIALIZED, 64
    pos, q = torch.arange(length), torch.zeros(batch, 4, length, 8)
    mask = torch.ones(batch, 1, 1, length, dtype=torch.bool)
    inputs = prepare(build("t5"), pos, pos, like=q, mask=mask)
    inputs.facts = examine_bias(inputs)
    bias = take_by_blocks(inputs, torch.float32).bias
    assert bias.matrices == 4 * batch
    at_once = forward.queries_at_once(q, length, bias, forward.QUERIES_AT_ONCE)
    assert at_once >= 8
    assert at_once * bias.matrices * length <= max(q.numel(), forward.MAX_BIAS_ELEMENTS)


def test_a_long_bias_is_taken_by_blocks():
    mask = torch.ones(LONG, dtype=torch.bool)
    assert locant.plan(build("t5"), LONG).backend == "tiled"
    assert locant.plan(build("t5"), LONG - 1).backend == "blocked"
    assert locant.plan(build("t5"), LONG, dropout=0.1).backend == "reference"
    assert locant.plan(build("rotary"), LONG).backend == "fused"
    assert locant.plan(build("t5"), LONG, mask=mask).backend == "blocked"  # not yet worth it


def test_a_torch_without_the_kernels_is_served_by_the_next_backend(monkeypatch):
    monkeypatch.setattr(forward, "KERNEL", "_no_such_operator")
    assert locant.plan(build("t5"), LONG).backend == "blocked"
    tensors, pos = qkv(queries=50), torch.arange(50)
    with pytest.raises(
        ValueError, match=r"backend='tiled' cannot serve T5 here: this torch lacks the kernel"
    ):
        attend(*tensors, encoding=build("t5"), q_pos=pos, k_pos=pos, causal=True, backend="tiled")


def test_a_plan_says_which_backend_and_why():
    assert locant.plan(build("shaw"), 100).backend == "reference"
    assert locant.plan(build("t5"), 5000).why.startswith("its bias depends on distance")
    uneven = torch.arange(5000.0) ** 1.5
    assert locant.plan(build("alibi"), 5000, pos=uneven).why.startswith(
        "its bias is computed a block of queries"
    )
    masked = locant.plan(build("t5"), 5000, mask=torch.ones(5000, dtype=torch.bool))
    assert (
        masked.why
        == "bias and mask are taken a block of queries at a time, so that memory grows with length"
    )
    assert locant.plan(build("t5"), 100, dropout=0.1).backend == "reference"
    assert locant.plan(build("t5"), 5000, dtype=torch.bfloat16).backend == "tiled"


@pytest.mark.parametrize("name", ["none", "rotary", "t5", "alibi", "shaw", "pope"])
@pytest.mark.parametrize("queries", [1, 3, 60])
@pytest.mark.parametrize("keys", [60, 700])
@pytest.mark.parametrize("kv_heads", [1, 4])
@pytest.mark.parametrize("masked", [False, True])
def test_a_plan_is_what_attend_does(name, queries, keys, kv_heads, masked, monkeypatch):
    """Prefill, decoding, caches, grouped heads and masks: the backend that runs is the one that was
    told."""
    encoding, taken = build(name), []
    watched = []
    for backend in dispatch.BACKENDS:

        def run(*tensors, own=backend.run, name=backend.name, **options):
            taken.append(name)
            return own(*tensors, **options)

        watched.append(backend._replace(run=run))
    monkeypatch.setattr(dispatch, "BACKENDS", tuple(watched))
    pos = torch.arange(keys)
    mask = torch.ones(2, 1, 1, keys, dtype=torch.bool) if masked else None
    if masked:
        mask[0, ..., :9] = False
    tensors = qkv(batch=2, queries=queries, keys=keys, groups=kv_heads)
    where = {"q_pos": pos[-queries:], "k_pos": pos, "causal": True, "mask": mask}
    attend(*tensors, encoding=encoding, **where)
    told = locant.plan(
        encoding, queries, keys=keys, batch=2, kv_heads=kv_heads, causal=True, mask=mask
    )
    assert taken == [told.backend]


def test_the_earlier_name_of_a_backend_still_serves_and_warns():
    pos, tensors = torch.arange(11), qkv()
    where = {"encoding": build("t5"), "q_pos": pos, "k_pos": pos}
    with pytest.warns(DeprecationWarning, match="backend="):
        old = attend(*tensors, **where, path="explicit")
    assert torch.equal(old, attend(*tensors, **where, backend="reference"))


def test_every_refusal_names_one_condition():
    pos, tensors = torch.arange(20), qkv(queries=20)
    inputs = prepare(build("t5"), pos, pos, like=tensors[0])
    request = describe_call(*tensors, inputs, None, examine=True)
    changes = [
        {"needs_scores": True},
        {"dropout": "torch"},
        {"device": "meta"},
        {"eager": False},
        {"queries": 0},
        {"bias": "none", "added": 0},
        {"one_piece": "its bias draws random numbers"},
        {"causal": True, "queries": 30},
        {"value_width": 5},
    ]
    tiled = dispatch.BACKENDS[NAMES.index("tiled")]
    assert not tiled.refuses(request)
    reasons = [tiled.refuses(request._replace(**change)) for change in changes]
    assert all(reasons)
    assert len(set(reasons)) == len(reasons)


def test_plan_refuses_what_attend_would_refuse():
    encoding = locant.make("t5", dim=64, heads=4)
    with pytest.raises(ValueError, match="4 query heads cannot share kv_heads=3"):
        locant.plan(encoding, 10, kv_heads=3)
    with pytest.raises(ValueError, match="floating-point dtype"):
        locant.plan(encoding, 10, dtype=torch.int64)


def test_a_scale_that_is_no_finite_number_is_refused_and_so_are_two_names_for_a_backend():
    q = torch.randn(1, 2, 3, 4)
    for scale in (float("nan"), float("inf"), "x"):
        with pytest.raises(ValueError, match="finite number for scale"):
            locant.attend(q, q, q, scale=scale)
    with (
        pytest.warns(DeprecationWarning, match="is now"),
        pytest.raises(ValueError, match="leave path out"),
    ):
        locant.attend(q, q, q, path="explicit", backend="fused")
