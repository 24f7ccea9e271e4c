"""The quicker kinds of dropout drop what torch's would."""

from __future__ import annotations

import pytest
import torch

from locant.nn.dropout import POOL, BitDropout, PooledDropout


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_dropout_by_bits_drops_each_number_by_itself(share):
    drop = BitDropout(share)
    torch.manual_seed(0)
    kept = drop(torch.ones(1000, 1001)) > 0
    assert abs((~kept).double().mean().item() - share) < 0.002
    both = (
        (~kept[:, 1:] & ~kept[:, :-1]).double().mean().item()
    )  # neighbours, which come from one word
    assert abs(both - share**2) < 0.002
    assert not torch.equal(kept, drop(torch.ones(1000, 1001)) > 0)
    x = torch.ones(7, requires_grad=True)
    out = drop(x)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())
    assert torch.equal(drop.eval()(x), x)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_dropout_by_bits_takes_any_float_and_any_size(dtype):
    factor = torch.tensor(1 / (1 - round(0.3 * 2**16) / 2**16), dtype=dtype)
    out = BitDropout(0.3)(torch.ones(999, dtype=dtype))
    assert out.dtype == dtype
    assert torch.equal(out.unique(), torch.stack([torch.zeros_like(factor), factor]))
    assert BitDropout(0.3)(torch.ones(2, 0, 3, dtype=dtype)).shape == (2, 0, 3)
    assert not BitDropout(1 - 1e-9)(torch.ones(50, dtype=dtype)).isnan().any()


def test_pooled_dropout_drops_the_same_share_and_nothing_in_evaluation():
    drop = PooledDropout(0.3)
    kept = drop(torch.ones(300, 300))
    assert abs((kept == 0).double().mean().item() - 0.3) < 0.01
    assert not torch.equal(kept, drop(torch.ones(300, 300)))
    assert torch.equal(drop.eval()(kept), kept)
    large = PooledDropout(0.5)(torch.ones(POOL + 5))  # more than a pool holds
    assert abs(large.mean().item() - 1) < 0.01
