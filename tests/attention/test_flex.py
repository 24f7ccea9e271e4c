"""A bias by distance through flex_attention equals the reference, and is taken on a GPU alone."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import locant
from common import build, qkv
from locant.attention import attend, explicit
from locant.attention.backends.flex import BLOCK, causal_blocks
from locant.attention.dispatch import BACKENDS
from locant.attention.request import Request

GPUS = ["cuda"] if torch.cuda.is_available() else []
pytestmark = pytest.mark.filterwarnings("ignore:flex_attention called without")


@pytest.mark.parametrize("name", ["t5", "relative", "alibi"])
@settings(max_examples=8, deadline=None)
@given(
    queries=st.integers(1, 150),
    extra=st.integers(0, 140),
    groups=st.sampled_from([1, 4]),
    causal=st.booleans(),
    seed=st.integers(0, 2**20),
)
def test_flex_equals_the_reference(name, queries, extra, groups, causal, seed):
    keys = max(2, queries + extra)
    pos = torch.arange(keys) * 3 + 7
    where = {
        "encoding": build(name, seed=seed),
        "q_pos": pos[-queries:],
        "k_pos": pos,
        "causal": causal,
    }
    tensors = qkv(queries=queries, keys=keys, groups=groups, seed=seed)
    with torch.no_grad():
        got, want = attend(*tensors, **where, backend="flex"), explicit(*tensors, **where).out
    torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("device", GPUS)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", ["t5", "alibi"])
def test_a_gpu_takes_flex_by_itself_with_exact_gradients(name, causal, device):
    pos, encoding = torch.arange(700, device=device), locant.make(name, dim=128, heads=4).to(device)
    leaves = [torch.randn(2, 4, 700, 32, device=device, requires_grad=True) for _ in range(3)]
    where = {"encoding": encoding, "q_pos": pos, "k_pos": pos, "causal": causal}
    assert locant.plan(encoding, 700, causal=causal, device=device).backend == "flex"
    learned = [*leaves, *encoding.parameters()]
    results = []
    for backend in ("auto", "reference"):
        out = attend(*leaves, **where, backend=backend)
        results.append([out, *torch.autograd.grad(out.square().sum(), learned)])
    for got, want in zip(*results, strict=True):
        torch.testing.assert_close(got, want, atol=1e-3, rtol=1e-2)


@pytest.mark.parametrize(
    ("queries", "keys"), [(1, 1), (1, 300), (128, 128), (129, 300), (300, 300)]
)
def test_blocks_that_are_left_out_hold_nothing_that_is_seen(queries, keys):
    seen = torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)
    rows, columns = (-(-size // BLOCK) for size in (queries, keys))
    whole = torch.zeros(rows * BLOCK, columns * BLOCK, dtype=torch.bool)
    whole[:queries, :keys] = seen
    want = whole.view(rows, BLOCK, columns, BLOCK).any(3).any(1)
    blocks = causal_blocks(queries, keys, torch.device("cpu"))
    assert torch.equal(blocks.to_dense()[0, 0].bool(), want)


def test_what_flex_cannot_serve_is_told():
    pos, (q, k, v) = torch.arange(20), qkv(queries=20)
    where = {"encoding": build("t5"), "q_pos": pos, "k_pos": pos, "backend": "flex"}
    with pytest.raises(ValueError, match="no gradients on a CPU"):
        attend(q, k, v, **where)
    with torch.no_grad():
        with pytest.raises(ValueError, match="bias by distance at evenly spaced positions"):
            attend(q, k, v, **(where | {"q_pos": pos**2, "k_pos": pos**2}))
        with pytest.raises(ValueError, match="knows no mask"):
            attend(q, k, v, **where, mask=torch.ones(20, 20, dtype=torch.bool))
        with pytest.raises(ValueError, match="no dropout"):
            attend(q, k, v, **where, dropout=0.1)


@pytest.mark.parametrize(
    ("device", "dtype", "width", "served"),
    [
        ("cuda", torch.float32, 64, True),
        ("cuda", torch.bfloat16, 16, True),
        ("cuda", torch.float64, 64, False),
        ("cuda", torch.float32, 8, False),
        ("cuda", torch.float32, 48, False),
        ("cpu", torch.float32, 64, False),
    ],
)
def test_the_kernel_is_taken_for_the_queries_that_it_knows(device, dtype, width, served):
    widths = {"head_width": width, "key_width": width, "value_width": width}
    sizes = {"batch": 1, "heads": 4, "kv_heads": 4, "queries": 700, "keys": 700, **widths}
    request = Request(encoding="T5", **sizes, dtype=dtype, device=device, bias="toeplitz")
    flex = BACKENDS[0]
    assert flex.name == "flex"
    assert not flex.refuses(request)
    assert (not flex.unsuited(request)) is served
