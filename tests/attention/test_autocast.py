"""Under autocast and in half precision every encoding works at every length, forward and
backward."""

import pytest
import torch

import locant
from common import build, some_every_day
from locant.attention import attend

LENGTHS = (64, 513, 1100)  # materialized, by distance, by blocks


@pytest.mark.parametrize(
    "name", some_every_day("alibi", "t5", "relative", "rotary", "shaw", "pope")
)
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_layer_under_autocast_stays_near_full_precision(name, length, dtype):
    encoding = build(name, length=length)
    layer = locant.Attention(encoding)
    x = torch.randn(1, length, 32, generator=torch.Generator().manual_seed(0))
    pos = locant.positions.consecutive(length)
    if encoding.axes > 1:
        pos = pos[:, None].expand(-1, encoding.axes)
    results = []
    for enabled in (False, True):
        layer.zero_grad()
        with torch.autocast("cpu", dtype=dtype, enabled=enabled):
            out = layer(x, pos, causal=True)
        (out.float().square().sum() / 32).backward()
        results.append([out.float(), *(p.grad for p in layer.parameters() if p.grad is not None)])
    for full, half in zip(*results, strict=True):
        assert half.isfinite().all()
        assert (half - full).abs().max() <= 0.05 * full.abs().max() + 1e-4


@pytest.mark.parametrize("name", ["alibi", "t5", "rotary", "shaw"])
def test_a_model_and_its_cache_work_under_autocast_past_every_threshold(name):
    length = 600
    model = locant.Transformer(build(name, length=length), layers=2, causal=True)
    x, pos = torch.randn(1, length, 32), locant.positions.consecutive(length)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        whole = model(x, pos)
        first, caches = model.step(x[:, :-3], pos[:-3])
        rest, _ = model.step(x[:, -3:], pos[-3:], caches)
    assert (torch.cat([first, rest], 1) - whole).abs().max() < 0.1


@pytest.mark.parametrize("name", ["alibi", "t5", "relative"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_takes_a_long_bias_by_blocks(name, dtype):
    length = 700
    pos = torch.arange(length)
    encoding = build(name)
    assert locant.plan(encoding.to(dtype), length, dtype=dtype).backend == "tiled"
    tensors = [torch.randn(1, 4, length, 8).to(dtype) for _ in range(3)]
    got = attend(*tensors, encoding=encoding, q_pos=pos, k_pos=pos, causal=True)
    exact = attend(
        *(t.double() for t in tensors),
        encoding=encoding.double(),
        q_pos=pos,
        k_pos=pos,
        causal=True,
    )
    assert got.dtype == dtype
    assert (got.double() - exact).abs().max() < 0.03
