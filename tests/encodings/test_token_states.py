"""Encodings that read the tokens: their formulas written a second way, and other libraries."""

import math

import pytest
import torch
from torch.testing import assert_close

import locant
from locant.attention import attend, explicit

DIM, HEADS, COUNT = 12, 3, 40
POS = torch.arange(COUNT)


def make64(name, **options):
    """An encoding in float64 whose learned numbers are all large enough to matter."""
    encoding = locant.make(name, dim=DIM, heads=HEADS, length=COUNT, **options).double()
    for number in encoding.parameters():
        torch.nn.init.normal_(number)
    return encoding


def tokens(count=COUNT, batch=2):
    draw = torch.Generator().manual_seed(1)
    return torch.randn(batch, count, DIM, generator=draw, dtype=torch.float64)


def heads(count=COUNT, batch=2):
    draw = torch.Generator().manual_seed(2)
    size = (3, batch, HEADS, count, DIM // HEADS)
    return torch.randn(size, generator=draw, dtype=torch.float64).unbind()


# ---------------------------------------------------------------- forgetting


def test_forgetting_sums_the_logarithms_of_the_gates_in_between():
    forgetting, x = make64("forgetting"), tokens(7)
    state = forgetting.sense(x, POS[:7])
    bias = forgetting.state_bias(POS[:7], POS[:7], state, state)
    weight, constant = forgetting.gate.detach(), forgetting.gate_bias.detach()
    for b in range(2):
        for h in range(HEADS):
            for m in range(7):
                for n in range(m + 1):
                    want = 0.0
                    for t in range(n + 1, m + 1):
                        gate = 1 / (1 + math.exp(-float(weight[h] @ x[b, t] + constant[h])))
                        want += math.log(gate)
                    assert bias[b, h, m, n].item() == pytest.approx(want, abs=1e-12)


def test_forgetting_is_the_data_dependent_alibi_of_x_transformers():
    from x_transformers.x_transformers import DataDependentAlibi

    ours, theirs = locant.make("forgetting", dim=DIM, heads=HEADS), DataDependentAlibi(DIM, HEADS)
    linear = theirs.to_forget_gates[0]
    ours.gate.data, ours.gate_bias.data = linear.weight.data, linear.bias.data
    x = tokens().float()
    state = ours.sense(x, POS)
    assert_close(ours.state_bias(POS, POS, state, state), theirs(x), rtol=1e-5, atol=1e-5)
    fresh = locant.make("forgetting", dim=DIM, heads=HEADS)
    linear = DataDependentAlibi(DIM, HEADS).to_forget_gates[0]
    assert fresh.gate_bias.tolist() == linear.bias.tolist()


def test_a_constant_gate_is_alibi():
    forgetting = locant.make("forgetting", dim=16, heads=4)
    alibi = locant.make("alibi", dim=16, heads=4)
    q, k, v = torch.randn(3, 2, 4, 9, 4).unbind()
    costs = [-math.log(math.expm1(slope)) for slope in alibi.slope.tolist()]  # log σ = −slope
    forgetting.gate_bias.data = torch.tensor(costs)
    pos, x = torch.arange(9), torch.randn(2, 9, 16)
    state = forgetting.sense(x, pos)
    given = {"q_pos": pos, "k_pos": pos, "causal": True}
    ours = attend(q, k, v, encoding=forgetting, q_state=state, k_state=state, **given)
    assert_close(ours, attend(q, k, v, encoding=alibi, **given), rtol=1e-5, atol=1e-5)


def test_queries_and_keys_carry_the_forgetting_in_two_more_features():
    forgetting, (q, k, v), x = make64("forgetting"), heads(), tokens()
    state = forgetting.sense(x, POS)
    of_q, of_k = forgetting.state_features(state, state)
    bias = forgetting.state_bias(POS, POS, state, state)
    assert_close(of_q @ of_k.mT, bias, rtol=1e-12, atol=1e-12)
    assert locant.plan(forgetting, 8192, causal=True).backend == "fused"
    given = {"q_pos": POS, "k_pos": POS, "causal": True, "encoding": forgetting}
    given |= {"q_state": state, "k_state": state}
    for scale in (None, 0.3, -0.2, 0.0):
        ours = attend(q, k, v, scale=scale, **given)
        assert_close(ours, explicit(q, k, v, scale=scale, **given).out, rtol=1e-9, atol=1e-9)


def test_features_are_not_for_half_precision_a_few_queries_or_a_mask():
    forgetting = locant.make("forgetting", dim=DIM, heads=HEADS)
    assert locant.plan(forgetting, 8192, causal=True, dtype=torch.bfloat16).backend == "tiled"
    with torch.no_grad():
        decoding = locant.plan(forgetting, 1, keys=8192, causal=True)
    assert decoding.why == "plain attention and a materialized bias or mask"
    mask = torch.ones(1, 1, 1, 2048, dtype=torch.bool)
    assert locant.plan(forgetting, 2048, causal=True, mask=mask).backend == "tiled"


def test_sums_do_not_drift_in_half_precision():
    forgetting = locant.make("forgetting", dim=DIM, heads=HEADS, start=2.0)
    x = torch.zeros(1, 4000, DIM)
    exact = forgetting.double().sense(x.double(), torch.arange(4000))
    half = forgetting.bfloat16().sense(x.bfloat16(), torch.arange(4000))
    assert half.dtype == torch.float32
    assert_close(half.double(), exact, rtol=1e-4, atol=1e-4)


# ---------------------------------------------------------------- inkling


def test_inkling_is_its_formula_at_uneven_positions_and_zero_past_its_extent():
    inkling, x = make64("inkling", basis=3, extent=4), tokens(5)
    pos = torch.tensor([[0, 1, 3, 4, 9], [7, 2, 3, 0, 1]])
    state = inkling.sense(x, pos)
    bias = inkling.state_bias(pos, pos, state, state)
    weight, profiles = inkling.weight.detach(), inkling.profiles.detach()
    for b in range(2):
        for h in range(HEADS):
            for i, m in enumerate(pos[b].tolist()):
                r = [float(weight[h, c] @ x[b, i]) for c in range(3)]
                for j, n in enumerate(pos[b].tolist()):
                    want = 0.0
                    if 0 <= m - n < 4:
                        want = sum(r[c] * profiles[c, m - n].item() for c in range(3))
                    assert bias[b, h, i, j].item() == pytest.approx(want, abs=1e-12)


def test_inkling_is_the_module_of_x_transformers():
    from x_transformers.x_transformers import RelativeProjPositionalBias

    theirs = RelativeProjPositionalBias(DIM, HEADS, num_distance_basis=5, max_dist=6)
    linear = theirs.to_distance_weights[0]
    torch.nn.init.zeros_(linear.bias)
    ours = locant.make("inkling", dim=DIM, heads=HEADS, basis=5, extent=6)
    ours.weight.data = linear.weight.data.view(HEADS, 5, DIM)
    ours.profiles.data = theirs.distance_bank.data
    x = tokens().float()
    state = ours.sense(x, POS)
    want = theirs(x)
    assert_close(ours.state_bias(POS, POS, state, state), want, rtol=1e-5, atol=1e-6)
    late = ours.state_bias(POS[30:], POS, state[..., 30:, :], state)
    assert_close(late, want[:, :, 30:], rtol=1e-5, atol=1e-6)


def test_inkling_is_the_module_of_transformers():
    inkling = pytest.importorskip(
        "transformers.models.inkling.modeling_inkling", reason="needs transformers ≥ 5.22"
    )
    theirs = inkling.InklingRelativeLogits(5, 6)
    ours = locant.make("inkling", dim=DIM, heads=HEADS, basis=5, extent=6)
    theirs.proj.data = ours.profiles.data
    state = ours.sense(tokens().float(), POS)
    want = theirs(state.transpose(1, 2), POS, POS)
    assert_close(ours.state_bias(POS, POS, state, state), want, rtol=1e-5, atol=1e-6)


def test_a_long_inkling_goes_by_blocks_and_refuses_real_positions():
    inkling = locant.make("inkling", dim=DIM, heads=HEADS)
    assert "memory grows with length" in locant.plan(inkling, 8192, causal=True).why
    with pytest.raises(ValueError, match="inkling looks positions up in a table"):
        locant.Attention(inkling)(tokens().float(), POS + 0.5)


# ---------------------------------------------------------------- deberta


@pytest.mark.parametrize(("buckets", "furthest"), [(256, 512), (32, 128), (8, 20)])
def test_every_distance_falls_into_the_bucket_of_deberta(buckets, furthest):
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

    deberta = locant.make("deberta", dim=4, buckets=buckets, max_distance=furthest)
    distance = torch.arange(-3000, 3001)
    theirs = make_log_bucket_position(distance, buckets, furthest).long()
    assert torch.equal(deberta.bucket(distance), theirs.clamp(-buckets, buckets - 1))


def test_deberta_has_the_scores_of_transformers():
    from transformers import DebertaV2Config
    from transformers.models.deberta_v2.modeling_deberta_v2 import DisentangledSelfAttention

    config = DebertaV2Config(
        hidden_size=DIM,
        num_attention_heads=HEADS,
        relative_attention=True,
        position_buckets=8,
        max_relative_positions=20,
        pos_att_type=["c2p", "p2c"],
        share_att_key=False,
    )
    theirs = DisentangledSelfAttention(config).eval().double()
    table = torch.randn(16, DIM, dtype=torch.float64)
    ours = make64("deberta", buckets=8, max_distance=20)
    ours.to_keys.data = theirs.pos_key_proj(table).detach().view(16, HEADS, -1)
    ours.to_queries.data = theirs.pos_query_proj(table).detach().view(16, HEADS, -1)
    q, k, v = heads()
    flat_q, flat_k = q.flatten(0, 1), k.flatten(0, 1)
    added = theirs.disentangled_attention_bias(flat_q, flat_k, None, table, 3)
    want = flat_q @ flat_k.mT / math.sqrt(3 * DIM // HEADS) + added
    got = explicit(q, k, v, encoding=ours, q_pos=POS, k_pos=POS).scores
    assert_close(got.flatten(0, 1), want, rtol=1e-4, atol=1e-6)  # theirs divides in float32


def test_deberta_is_its_formula_at_uneven_positions():
    deberta, (q, k, v) = make64("deberta", buckets=4, max_distance=9), heads(5)
    q_pos, k_pos = torch.tensor([[0, 1, 3, 4, 90], [7, 2, 3, 0, 1]]), torch.arange(5) * 3
    got = explicit(q, k, v, encoding=deberta, q_pos=q_pos, k_pos=k_pos).scores
    for b in range(2):
        for h in range(HEADS):
            for i, m in enumerate(q_pos[b].tolist()):
                for j, n in enumerate(k_pos.tolist()):
                    x = m - n
                    if abs(x) > 2:
                        far = 2 + math.ceil(math.log(abs(x) / 2) / math.log(8 / 2) - 1e-9)
                        x = max(-4, min(3, int(math.copysign(far, x))))
                    content = q[b, h, i] @ k[b, h, j]
                    more = q[b, h, i] @ deberta.to_keys[x + 4, h]
                    third = k[b, h, j] @ deberta.to_queries[x + 4, h]
                    want = (content + more + third) / math.sqrt(3 * DIM / HEADS)
                    assert_close(got[b, h, i, j], want, rtol=1e-11, atol=1e-11)


def test_without_a_largest_distance_every_distance_of_deberta_is_a_bucket():
    deberta = locant.make("deberta", dim=4, buckets=5, max_distance=None)
    found = deberta.bucket(torch.tensor([-9, -6, -5, -4, 0, 3, 4, 5, 9]))
    assert found.tolist() == [-5, -5, -5, -4, 0, 3, 4, 4, 4]
    with pytest.raises(ValueError, match="whole number of at least 2 for max_distance"):
        locant.make("deberta", dim=4, max_distance=1)


@pytest.mark.parametrize("extent", [1, 4, 30])
@pytest.mark.parametrize("shift", [0, 7])
def test_keys_past_inklings_extent_cost_nothing_and_get_nothing(extent, shift):
    """Keys out of order, and queries of which none, some or all see a key within the extent."""
    inkling, x = make64("inkling", basis=3, extent=extent), tokens(5)
    q_pos, k_pos = torch.tensor([40, 12, 9, 41, 10]) + shift, torch.tensor([9, 3, 40, 38, 12])
    state = inkling.sense(x, q_pos)
    for queries in (slice(0, 5), slice(1, 3), slice(0, 1)):
        got = inkling.state_bias(q_pos[queries], k_pos, state[..., queries, :], state)
        curve = state[..., queries, :] @ inkling.profiles
        for i, m in enumerate(q_pos[queries].tolist()):
            for j, n in enumerate(k_pos.tolist()):
                inside = 0 <= m - n < extent
                want = curve[..., i, m - n] if inside else torch.zeros(2, HEADS).double()
                assert_close(got[..., i, j], want)


def test_a_long_inkling_has_the_gradients_of_the_reference():
    torch.manual_seed(0)
    inkling = locant.make("inkling", dim=16, heads=2, extent=20)
    q, k, v = (torch.randn(1, 2, count, 8, requires_grad=True) for count in (1100, 1400, 1400))
    x, pos = torch.randn(1, 1400, 16), torch.arange(1400)
    grad, found = torch.randn(1, 2, 1100, 8), []
    for backend in ("tiled", "reference"):
        state = inkling.sense(x, pos)
        given = {"q_state": state[..., 300:, :], "k_state": state, "q_pos": pos[300:], "k_pos": pos}
        out = attend(q, k, v, encoding=inkling, causal=True, backend=backend, **given)
        leaves = [q, k, v, *inkling.parameters()]
        found.append([out, *torch.autograd.grad(out, leaves, grad)])
    for by_blocks, whole in zip(*found, strict=True):
        assert_close(by_blocks, whole, rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("options", [{"max_distance": 100}, {"buckets": 1022}])
def test_buckets_that_reach_past_the_largest_distance_are_refused(options):
    with pytest.raises(ValueError, match="deberta needs max_distance > buckets/2"):
        locant.make("deberta", dim=4, **options)
