"""The plain transformer: what is shared, what is per layer, and what can be seen of it."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import locant
from common import EVERY, build
from locant.encodings.base import Encoding


def test_what_depends_on_positions_alone_is_computed_once_for_all_layers(monkeypatch):
    counts = {"bias": 0, "precompute": 0}

    class Counting(Encoding):
        def precompute(self, q_pos, k_pos, dtype):
            counts["precompute"] += 1
            return q_pos

        def rotate(self, q, k, q_pos, k_pos, precomputed=None):
            assert precomputed is not None
            return q, k

        def bias(self, q_pos, k_pos):
            counts["bias"] += 1
            return torch.zeros(1, 1, len(q_pos), len(k_pos))

    model = locant.Transformer(Counting(locant.Shape(32, 4)), layers=5)
    model(torch.randn(2, 7, 32), locant.positions.consecutive(7))
    assert counts == {"bias": 1, "precompute": 1}


def test_every_nth_layer_may_have_no_positions():
    rotary, none = build("rotary"), build("none")
    model = locant.Transformer([rotary, rotary, rotary, none]).eval()
    x, pos = torch.randn(1, 6, 32), locant.positions.consecutive(6)
    seen = model.forward_with_weights(x, pos)
    assert len(seen.weights) == 4
    shuffled = torch.tensor([3, 1, 5, 0, 2, 4])
    alone = locant.Transformer([none, none, none, none]).eval()
    alone.load_state_dict(model.state_dict())
    torch.testing.assert_close(
        alone(x, pos)[:, shuffled], alone(x[:, shuffled], pos), atol=1e-5, rtol=1e-4
    )
    assert (model(x, pos)[:, shuffled] - model(x[:, shuffled], pos)).abs().max() > 1e-3


def test_a_list_lets_each_layer_embed_at_its_own_input():
    one = build("sinusoidal")
    shared = locant.Transformer(one, layers=2).eval()
    each = locant.Transformer([one, one]).eval()
    each.load_state_dict(shared.state_dict())
    x, pos = torch.randn(1, 6, 32), locant.positions.consecutive(6)
    assert (shared(x, pos) - each(x, pos)).abs().max() > 1e-3
    assert len(each.encodings) == 1  # the same object is stored once


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_looking_at_the_weights_changes_no_output(name, norm):
    model = locant.Transformer(build(name), layers=2, norm=norm, causal=True).eval()
    x, pos = torch.randn(2, 140, 32), locant.positions.consecutive(35).repeat(4)
    out, weights = model.forward_with_weights(x, pos)
    torch.testing.assert_close(out, model(x, pos), atol=1e-5, rtol=1e-4)
    assert [tuple(w.shape) for w in weights] == [(2, 4, 140, 140)] * 2
    torch.testing.assert_close(weights[0].sum(-1), torch.ones(2, 4, 140))


def test_norms_stand_where_they_are_asked_for():
    x, pos = torch.randn(2, 5, 32) * 9, locant.positions.consecutive(5)
    for norm in ("pre", "post"):  # both end in a norm: mean 0, variance 1
        out = locant.Transformer(build("none"), layers=2, norm=norm)(x, pos)
        torch.testing.assert_close(out.mean(-1), torch.zeros(2, 5), atol=1e-5, rtol=0)
        torch.testing.assert_close(out.var(-1, unbiased=False), torch.ones(2, 5), atol=1e-3, rtol=0)
    pre = locant.Transformer(build("none"), layers=1, norm="pre")
    post = locant.Transformer(build("none"), layers=1, norm="post")
    assert not torch.allclose(pre(x, pos), post(x, pos))


def test_published_parameter_counts_are_met():
    """The classifier of 128 × 3 layers × 8 heads: 598,019 numbers; with tables 602,115 at length
    32, 600,075, 631,299."""
    want = {
        "none": 598_019,
        "sinusoidal": 598_019,
        "learned": 602_115,
        "relative": 600_075,
        "continuous": 631_299,
    }
    for name, count in want.items():
        options = {"depth": 2} if name == "continuous" else {}
        encoding = locant.make(name, dim=128, heads=8, length=32, **options)
        body = locant.Transformer(
            encoding, layers=3, ffn=512, embed=nn.Embedding(20, 128), head=nn.Linear(128, 3)
        )
        assert sum(p.numel() for p in body.parameters()) == count, name


def test_concatenated_waves_stand_beside_the_input():
    encoding = locant.make("sinusoidal", dim=32, heads=4, join="concat")
    x, pos = torch.randn(2, 6, 32), locant.positions.consecutive(6)
    wide = encoding.embed(x, pos)
    assert torch.equal(wide[..., :32], x)
    assert torch.equal(wide[0, :, 32:], encoding.vectors(pos).float())
    assert locant.Transformer(encoding, layers=1)(x, pos).shape == (2, 6, 32)
    assert locant.Attention(encoding)(x, pos).shape == (2, 6, 32)


def test_dropout_acts_in_training_alone():
    model = locant.Transformer(build("rotary"), layers=1, dropout=0.5)
    x, pos = torch.randn(1, 5, 32), locant.positions.consecutive(5)
    assert not torch.equal(model(x, pos), model(x, pos))
    model.eval()
    assert torch.equal(model(x, pos), model(x, pos))


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_grouped_heads_have_fewer_key_weights(groups):
    layer = locant.Attention(build("rotary"), kv_heads=groups)
    assert layer.core.qkv.out_features == 32 + 2 * groups * 8
    assert layer(torch.randn(2, 5, 32), locant.positions.consecutive(5)).shape == (2, 5, 32)


@pytest.mark.parametrize("name", EVERY)
def test_a_step_with_left_padding_equals_the_row_alone(name):
    if not build(name).cacheable_keys:
        return  # its angles depend on the longest row
    model = locant.Transformer(build(name), layers=2, causal=True).eval()
    x = torch.randn(2, 6, 32)
    real = torch.tensor([[False, False, True, True, True, True], [True] * 6])
    pos = locant.positions.from_mask(real)
    caches, outs = None, []
    for part in (slice(0, 4), slice(4, 5), slice(5, 6)):
        out, caches = model.step(
            x[:, part], pos[:, part], caches, mask=real[:, None, None, : part.stop]
        )
        outs.append(out)
    alone = model(x[:1, 2:], locant.positions.consecutive(4))
    torch.testing.assert_close(torch.cat(outs, 1)[:1, 2:], alone, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize(
    "name", [n for n in locant.names() if build(n).tells_order and build(n).tells_direction]
)
def test_a_tiny_encoder_learns_which_marker_comes_first(name):
    """Count-matched: every row has one A and one B, so only order decides."""
    assert _accuracy(name) > 0.9


@pytest.mark.parametrize("name", ["none", "alibi"])
def test_without_order_or_direction_it_stays_at_chance(name):
    assert 0.4 < _accuracy(name) < 0.6


def _accuracy(name: str) -> float:
    torch.manual_seed(0)
    encoding = build(name, dim=32, heads=4, length=12)
    model = locant.Transformer(
        encoding, layers=2, ffn=64, embed=nn.Embedding(6, 32), head=nn.Linear(32, 2)
    )
    optimiser = torch.optim.AdamW(model.parameters(), lr=4e-3)
    pos = locant.positions.consecutive(12)

    def batch(size):
        tokens = torch.randint(2, 6, (size, 12))
        spots = torch.rand(size, 12).argsort(-1)[:, :2]
        tokens.scatter_(1, spots, torch.tensor([[0, 1]]).expand(size, 2))
        return tokens, (spots[:, 0] < spots[:, 1]).long()

    for _ in range(250):
        tokens, label = batch(64)
        loss = nn.functional.cross_entropy(model(tokens, pos).mean(1), label)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    tokens, label = batch(1000)
    with torch.no_grad():
        return (model(tokens, pos).mean(1).argmax(-1) == label).float().mean().item()


def test_the_earlier_name_of_forward_with_weights_still_works_and_names_the_new_one():
    encoding = locant.make("alibi", dim=32, heads=4)
    x, pos = torch.randn(1, 5, 32), torch.arange(5)
    for module in (locant.Attention(encoding), locant.Transformer(encoding, layers=2)):
        with pytest.warns(DeprecationWarning, match="is now .*forward_with_weights"):
            out, _ = module.look(x, pos)
        assert torch.equal(out, module.forward_with_weights(x, pos)[0])
