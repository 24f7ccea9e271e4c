"""Which path serves a bias, why, and how much of it is taken at once."""

import pytest
import torch

import locant
from common import build, qkv
from locant.attention import attend, choose
from locant.paths import tiled as kernels
from locant.placing import LONG, LONG_WRITTEN, place, written


def long_places(least=LONG):
    length = int(least**0.5)
    pos = locant.positions.consecutive(length)
    return pos, torch.zeros(1, 4, length, 8, requires_grad=True)


def test_a_long_bias_under_a_mask_is_taken_by_rows_and_blind_queries_give_nothing():
    pos, q = long_places(LONG_WRITTEN)
    nothing = torch.zeros(1, 1, 1, len(pos), dtype=torch.bool)
    placed = place(build("t5"), pos, pos, like=q, causal=True, mask=nothing)
    assert choose(placed, q, q).path == "tiled"
    assert not attend(q, q, q + 1, encoding=build("t5"), q_pos=pos, k_pos=pos, mask=nothing).any()
    assert written(placed).add.isfinite().any(-1).all()  # no softmax over nothing, whichever path comes after


@pytest.mark.parametrize("masked", [False, True])
def test_values_of_another_width_and_empty_tensors_are_served_by_another_path(masked):
    length = int(LONG_WRITTEN**0.5)
    pos, mask = torch.arange(length), torch.ones(1, 1, 1, length, dtype=torch.bool) if masked else None
    q, k, v = qkv(batch=1, queries=length)
    out = attend(q, k, v[..., :5], encoding=build("t5"), q_pos=pos, k_pos=pos, mask=mask)
    want = attend(q, k, v, encoding=build("t5"), q_pos=pos, k_pos=pos, mask=mask)[..., :5]
    torch.testing.assert_close(out, want, atol=1e-5, rtol=1e-4)
    nobody = torch.randn(0, 4, length, 8)
    assert attend(nobody, nobody, nobody, encoding=build("t5"), q_pos=pos, k_pos=pos, mask=mask).shape == nobody.shape
    with pytest.raises(ValueError, match="some queries and keys"):
        attend(nobody, nobody, nobody, encoding=build("t5"), q_pos=pos, k_pos=pos, path="tiled")


def test_a_padded_batch_is_taken_many_rows_at_a_time():
    length, batch = int(LONG_WRITTEN**0.5), 64
    pos, q = torch.arange(length), torch.zeros(batch, 4, length, 8)
    mask = torch.ones(batch, 1, 1, length, dtype=torch.bool)
    tiles = place(build("t5"), pos, pos, like=q, mask=mask).tiles
    assert tiles.matrices == 4 * batch
    assert kernels._at_once(q, length, tiles, kernels.FORWARD) >= 8
    assert kernels._at_once(q, length, tiles, kernels.FORWARD) * tiles.matrices * length <= max(
        q.numel(), kernels.WRITTEN
    )


def test_a_long_bias_is_taken_by_rows():
    pos, q = long_places()
    assert choose(place(build("t5"), pos, pos, like=q), q, q).path == "tiled"
    assert choose(place(build("t5"), pos[:-1], pos[:-1], like=q), q, q).path == "blocked"
    assert choose(place(build("t5"), pos, pos, like=q), q, q, torch.nn.Dropout(0.1)).path == "explicit"
    assert choose(place(build("rotary"), pos, pos, like=q), q, q).path == "fused"
    mask = torch.ones(len(pos), dtype=torch.bool)
    assert choose(place(build("t5"), pos, pos, like=q, mask=mask), q, q).path == "blocked"  # not yet worth it
    assert locant.plan(build("t5"), len(pos)).path == "tiled"
    assert locant.plan(build("t5"), len(pos), mask=mask).path == "blocked"


def test_a_torch_without_the_kernels_is_served_by_the_next_path(monkeypatch):
    monkeypatch.setattr(kernels, "KERNEL", "_no_such_operator")
    pos, q = long_places()
    assert choose(place(build("t5"), pos, pos, like=q), q, q).path == "blocked"
    tensors = qkv(queries=50)
    with pytest.raises(ValueError, match="path='tiled' cannot serve T5"):
        attend(*tensors, encoding=build("t5"), q_pos=pos[:50], k_pos=pos[:50], causal=True, path="tiled")


def test_a_plan_says_which_path_and_why():
    assert locant.plan(build("shaw"), 100).path == "explicit"
    assert (
        locant.plan(build("t5"), 5000).why == "its bias is shown to the kernel by distance, so memory grows with length"
    )
    uneven = torch.arange(5000.0) ** 1.5
    assert locant.plan(build("alibi"), 5000, pos=uneven).why.startswith("its bias is computed a few rows at a time")
    masked = locant.plan(build("t5"), 5000, mask=torch.ones(1, dtype=torch.bool))
    assert masked.why == "its bias is written a few rows at a time, under a mask, so memory grows with length"
    assert locant.plan(build("t5"), 100, dropout=0.1).path == "explicit"
    assert locant.plan(build("t5"), 5000, dtype=torch.bfloat16).path == "fused"
