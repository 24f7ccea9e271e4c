"""Tables that are looked up by distance: where all pairs lie past one end, one number serves and
none is written."""

import pytest
import torch

from common import build
from locant.encodings._tables import bias_from_rows
from locant.encodings.base import difference
from locant.encodings.relative import Relative


def looked_up(encoding, q_pos, k_pos):
    delta = difference(q_pos, k_pos)
    if isinstance(encoding, Relative):
        far = encoding.max_distance
        return bias_from_rows(encoding.table, delta.clamp(-far, far) + far)
    return bias_from_rows(encoding.table, encoding.bucket(-delta))


@pytest.mark.parametrize("name", ["relative", "t5"])
@pytest.mark.parametrize("inside", [-50, 0, 1, 2, 500])
@pytest.mark.parametrize("ahead", [False, True])
def test_past_one_end_of_a_table_nothing_is_written_down(name, inside, ahead, monkeypatch):
    monkeypatch.setattr("locant.encodings._tables.MANY", 1)
    encoding, k_pos = build(name), torch.arange(1000, 2001, 5)
    far = encoding.max_distance if name == "relative" else encoding.edges[-1]
    q_pos = torch.arange(20) + (1000 - far + inside - 19 if ahead else 2000 + far - inside)
    bias = encoding.bias(q_pos, k_pos)
    assert bias.shape == (1, 4, 20, 201)
    assert (bias.stride()[-2:] == (0, 0)) == (inside <= 0)
    assert torch.equal(bias, looked_up(encoding, q_pos, k_pos))


@pytest.mark.parametrize("name", ["relative", "t5"])
def test_rows_of_a_batch_that_lie_past_an_end_are_as_many_as_before(name, monkeypatch):
    monkeypatch.setattr("locant.encodings._tables.MANY", 1)
    encoding, far = build(name), torch.tensor([[5000], [9000]]) + torch.arange(20)
    assert encoding.bias(far, torch.arange(50)).shape == (2, 4, 20, 50)
    assert encoding.bias(torch.arange(50), far).shape == (2, 4, 50, 20)
    assert encoding.bias(far[:1], far[:, :0]).shape == (2, 4, 20, 0)
    assert encoding.bias(torch.tensor([250], dtype=torch.uint8), far.int()).shape == (2, 4, 1, 20)


@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.int16, torch.uint16, torch.int32, torch.uint32]
)
@pytest.mark.parametrize("name", ["relative", "t5"])
def test_positions_may_be_any_whole_numbers(name, dtype, monkeypatch):
    monkeypatch.setattr("locant.encodings._tables.MANY", 1)
    encoding, pos = build(name), torch.arange(100)
    assert torch.equal(encoding.bias(pos.to(dtype), pos.to(dtype)), encoding.bias(pos, pos))


@pytest.mark.parametrize("name", ["relative", "t5"])
def test_few_queries_after_many_keys_are_looked_up_rightly(name):
    encoding, k_pos = (
        build(name),
        torch.randint(1, 4, (5000,), generator=torch.Generator().manual_seed(0)).cumsum(0),
    )
    for keys in (k_pos, torch.stack([k_pos, k_pos + 9])):
        bias = encoding.bias(keys[..., -3:], keys)
        assert torch.equal(bias, looked_up(encoding, keys[..., -3:], keys))
