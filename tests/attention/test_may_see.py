"""`rescore` and `mix` are told which keys a query may see, whatever hides the others."""

import pytest
import torch

import locant
from locant.attention.backends import reference
from locant.encodings.base import Encoding, difference
from locant.shapes import Shape

B, H, Q, K, D = 2, 2, 4, 6, 8
NEVER = torch.tensor([[[[False, True, True, True, True, True]]], [[[True] * 6]]])  # (B, 1, 1, K)
ORDER = torch.ones(Q, K, dtype=torch.bool).tril(K - Q)


class Spy(Encoding):
    """Keeps what the hooks are told."""

    def __init__(self, shape, far=None):
        super().__init__(shape)
        self.far, self.told = far, []

    def bias(self, q_pos, k_pos):
        if self.far is None:
            return None
        zeros = torch.zeros(1, 1, q_pos.shape[-1], k_pos.shape[-1])
        return zeros.masked_fill(difference(q_pos, k_pos) > self.far, -torch.inf)

    def rescore(self, scores, q, k, q_pos, k_pos, may_see=None):
        self.told.append(may_see)
        return scores

    def mix(self, weights, v, q_pos, k_pos, may_see=None):
        self.told.append(may_see)
        return weights @ v


def told(far=None, queries=Q, **given):
    """What both hooks are told about queries that are the last of six tokens: (B, H, Q, K)."""
    spy = Spy(Shape(H * D, H), far)
    q, k, v = torch.randn(B, H, queries, D), torch.randn(B, H, K, D), torch.randn(B, H, K, D)
    pos = torch.arange(K)
    locant.attend(q, k, v, encoding=spy, q_pos=pos[K - queries :], k_pos=pos, **given)
    by_rescore, by_mix = spy.told
    assert by_rescore is by_mix
    return by_mix if by_mix is None else by_mix.expand(B, H, queries, K)


def test_nothing_is_said_where_every_key_may_be_seen():
    assert told() is None
    assert told(queries=1, causal=True) is None


@pytest.mark.parametrize("queries", [2, Q, K])
def test_a_causal_order_hides_later_keys(queries):
    order = torch.ones(queries, K, dtype=torch.bool).tril(K - queries)
    assert torch.equal(told(queries=queries, causal=True), order.expand(B, H, -1, -1))


def test_a_mask_and_an_order_hide_together():
    assert torch.equal(told(mask=NEVER), NEVER.expand(B, H, Q, K))
    assert torch.equal(told(mask=NEVER, causal=True), (NEVER & ORDER).expand(B, H, Q, K))


def test_a_bias_of_minus_infinity_hides():
    near = difference(torch.arange(2, 6), torch.arange(6)) <= 1
    assert torch.equal(told(far=1, causal=True), (near & ORDER).expand(B, H, Q, K))


def test_a_query_that_sees_nothing_is_told_so():
    mask = ORDER.clone()
    mask[1] = False
    assert torch.equal(told(mask=mask), mask.expand(B, H, Q, K))
    assert not told(far=-1, mask=mask)[:, :, 1].any()


def test_blocks_of_queries_are_told_of_their_own_keys(monkeypatch):
    monkeypatch.setattr(reference, "MAX_SCORES", 1)
    monkeypatch.setattr(reference, "SCORES_AT_ONCE", 2 * B * H * K)
    spy = Spy(Shape(H * D, H))
    q, k, v = torch.randn(B, H, Q, D), torch.randn(B, H, K, D), torch.randn(B, H, K, D)
    pos = torch.arange(K)
    given = {"encoding": spy, "q_pos": pos[2:], "k_pos": pos, "causal": True, "mask": NEVER}
    with torch.no_grad():
        locant.attend(q, k, v, **given)
    late, early = spy.told[0], spy.told[2]
    assert torch.equal(late, NEVER & ORDER[2:])
    assert torch.equal(early, NEVER[..., :4] & ORDER[:2, :4])


@pytest.mark.parametrize("name", ["cope", "erpe"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_blocks_of_queries_give_what_one_piece_gives(name, dtype, monkeypatch):
    torch.manual_seed(0)
    encoding = locant.make(name, dim=H * D, heads=H, length=20)
    for number in encoding.parameters():
        torch.nn.init.normal_(number)
    q, k, v = (torch.randn(B, H, count, D, requires_grad=True) for count in (16, 20, 20))
    pos, mask = torch.arange(20), torch.rand(B, 1, 1, 20) > 0.2
    given = {"q_pos": pos[4:], "k_pos": pos, "causal": True, "mask": mask, "encoding": encoding}
    found = []
    for limit in (reference.MAX_SCORES, 1):
        monkeypatch.setattr(reference, "MAX_SCORES", limit)
        monkeypatch.setattr(reference, "SCORES_AT_ONCE", 3 * B * H * 20)
        out = locant.attend(*(t.to(dtype) for t in (q, k, v)), **given)
        grads = torch.autograd.grad(out.square().sum(), [q, k, v, *encoding.parameters()])
        found.append([out, *grads])
    near = {"atol": 1e-5, "rtol": 1e-4} if dtype == torch.float32 else {"atol": 0.1, "rtol": 0.1}
    for whole, blocks in zip(*found, strict=True):
        torch.testing.assert_close(blocks, whole, **near)


@pytest.mark.parametrize("hook", ["rescore", "mix"])
def test_a_hook_that_cannot_be_told_is_refused_when_its_class_is_made(hook):
    def short(self, scores, q, k, q_pos):
        return scores

    with pytest.raises(ValueError, match=rf"Old\.{hook} has no argument may_see"):
        type("Old", (Encoding,), {hook: short})
    type("Any", (Encoding,), {hook: lambda self, first, *more: first})


def test_a_float_mask_of_torch_hides_from_the_count_too():
    from locant.nn import EncoderLayer

    torch.manual_seed(0)
    cope = locant.make("cope", dim=16, heads=2)
    layer = EncoderLayer(16, 2, 32, dropout=0.0, batch_first=True, encoding=cope).eval()
    for number in layer.parameters():
        torch.nn.init.normal_(number)
    x = torch.randn(2, 5, 16)
    added = torch.full((5, 5), 0.7).masked_fill(torch.ones(5, 5).triu(1) > 0, -torch.inf)
    out, alike = layer(x, src_mask=added), layer(x, src_mask=added < 0)  # 0.7 for all changes none
    torch.testing.assert_close(out, alike, atol=1e-4, rtol=1e-4)
