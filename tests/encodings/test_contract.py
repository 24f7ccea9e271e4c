"""What every encoding promises, held against every encoding that promises it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import locant
from common import EVERY, build, claimants, deniers, qkv
from locant.attention import explicit
from locant.certification.probe import states


def model(encoding, *, causal=False, layers=2):
    torch.manual_seed(3)
    return locant.Transformer(encoding, layers=layers, causal=causal).eval()


def scores(encoding, q, k, q_pos, k_pos):
    """The scores of queries and keys; an encoding that reads the tokens gets the same each time."""
    given = states(encoding, k_pos, len(k))
    if given:
        given["q_state"] = given["q_state"][..., torch.isin(k_pos, q_pos), :]
    v = torch.zeros_like(k)
    return explicit(q, k, v, encoding=encoding, q_pos=q_pos, k_pos=k_pos, **given).scores


@pytest.mark.parametrize("name", claimants("tells_order"))
def test_shuffled_tokens_give_other_outputs(name):
    net, x, shuffle = model(build(name)), torch.randn(2, 9, 32), torch.randperm(9)
    pos = locant.positions.consecutive(9)
    assert (net(x, pos)[:, shuffle] - net(x[:, shuffle], pos)).abs().max() > 1e-3


@pytest.mark.parametrize("name", deniers("tells_order"))
def test_without_positions_shuffled_tokens_give_shuffled_outputs(name):
    net, x, shuffle = model(build(name)), torch.randn(2, 9, 32), torch.randperm(9)
    pos = locant.positions.consecutive(9)
    assert (net(x, pos)[:, shuffle] - net(x[:, shuffle], pos)).abs().max() < 1e-5


@pytest.mark.parametrize("name", claimants("goes_by_positions"))
def test_tokens_that_carry_their_positions_with_them_may_stand_anywhere(name):
    net, x, shuffle = model(build(name)), torch.randn(2, 9, 32), torch.randperm(9)
    pos = locant.positions.consecutive(9)
    torch.testing.assert_close(
        net(x, pos)[:, shuffle], net(x[:, shuffle], pos[shuffle]), atol=1e-5, rtol=1e-4
    )


@pytest.mark.parametrize("name", deniers("goes_by_positions"))
def test_what_goes_by_order_gives_the_same_at_any_positions(name):
    net, x = model(build(name), causal=True), torch.randn(2, 9, 32)
    others = torch.tensor([5, 0, 3, 9, 1, 30, 2, 8, 8])
    torch.testing.assert_close(net(x, others), net(x, locant.positions.consecutive(9)))


@pytest.mark.parametrize("name", claimants("shift_invariant"))
@settings(max_examples=10, deadline=None)
@given(shift=st.integers(1, 10**6), seed=st.integers(0, 2**20))
def test_moving_the_whole_sequence_changes_no_score(name, shift, seed):
    encoding, (q, k, _) = build(name, seed=seed), qkv(seed=seed)
    pos = locant.positions.consecutive(11)
    shift = shift if encoding.extrapolates else shift % 53 + 1  # up to the end of its length, 64
    before, after = (
        scores(encoding, q, k, pos, pos),
        scores(encoding, q, k, pos + shift, pos + shift),
    )
    torch.testing.assert_close(after, before, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("name", deniers("shift_invariant"))
def test_an_encoding_that_does_not_claim_shift_invariance_has_none(name):
    net, x, pos = model(build(name)), torch.randn(2, 9, 32), locant.positions.consecutive(9)
    shift = 700 if build(name).extrapolates else 7
    assert (net(x, pos) - net(x, pos + shift)).abs().max() > 1e-4


@pytest.mark.parametrize("name", claimants("extrapolates"))
def test_there_is_a_finite_value_far_past_the_length(name):
    net, pos = model(build(name)), torch.tensor([0, 63, 64, 700, 10**6])
    assert torch.isfinite(net(torch.randn(1, 5, 32), pos)).all()


@pytest.mark.parametrize("name", deniers("extrapolates"))
def test_a_table_says_where_it_ends(name):
    ends = r"positions 0\.\.63, but position 64|distances up to 63, but .* 64 away"
    with pytest.raises(ValueError, match=ends):
        model(build(name))(torch.randn(1, 2, 32), torch.tensor([0, 64]))


@pytest.mark.parametrize("name", claimants("real_positions"))
def test_regular_time_stamps_are_the_same_as_indices(name):
    net, x = model(build(name)), torch.randn(1, 6, 32)
    stamps = np.datetime64("2024-02-28T23:58") + np.arange(6) * np.timedelta64(1, "m")
    times = locant.positions.timestamps(stamps)
    torch.testing.assert_close(net(x, times), net(x, locant.positions.consecutive(6)))


@pytest.mark.parametrize("name", claimants("real_positions"))
def test_nothing_jumps_between_whole_numbers(name):
    net, x = model(build(name)), torch.randn(1, 5, 32)
    base = torch.tensor([0.0, 1.0, 2.0, 5.0, 9.0], dtype=torch.float64)
    outs = [
        net(x, base + step * torch.tensor([0.0, 0.0, 1.0, 0.0, 0.0]))
        for step in torch.linspace(0, 1, 101)
    ]
    steps = torch.stack([(b - a).abs().max() for a, b in pairwise(outs)])
    whole = (outs[-1] - outs[0]).abs().max()
    assert steps.max() < 0.2 * whole + 1e-6


@pytest.mark.parametrize("name", claimants("prefers_near"))
def test_a_farther_key_never_gets_more(name):
    encoding, zeros = build(name), torch.zeros(1, 4, 101, 8)
    around = torch.arange(101)
    bias = scores(encoding, zeros[:, :, :1], zeros, around[50:51], around)[0, :, 0]  # (H, 101)
    assert (bias[:, 1:51] >= bias[:, :50]).all()
    assert encoding.causal_only or (bias[:, 51:] <= bias[:, 50:-1]).all()


@pytest.mark.parametrize(
    "name", [n for n in claimants("tells_direction") if not build(n).causal_only]
)
def test_a_mirrored_sequence_gives_other_outputs(name):
    net, x, pos = model(build(name)), torch.randn(1, 9, 32), locant.positions.consecutive(9)
    assert (net(x, pos).flip(1) - net(x.flip(1), pos)).abs().max() > 1e-4


@pytest.mark.parametrize("name", deniers("tells_direction"))
def test_what_cannot_tell_sides_mirrors_its_outputs(name):
    net, x, pos = model(build(name)), torch.randn(1, 9, 32), locant.positions.consecutive(9)
    torch.testing.assert_close(net(x, pos).flip(1), net(x.flip(1), pos), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("rows", ["one for all", "one each"])
def test_a_cache_gives_what_a_full_pass_gives(name, rows):
    # frequencies that follow the length in use differ between a short and a long pass by design:
    # compare the last
    net, x = model(build(name), causal=True), torch.randn(2, 12, 32)
    pos = locant.positions.consecutive(12)
    pos = pos if rows == "one for all" else torch.stack([pos, pos + 3])
    full, caches, outs = net(x, pos), None, []
    for part in (slice(0, 5), slice(5, 6), slice(6, 11), slice(11, 12)):
        out, caches = net.step(x[:, part], pos[..., part], caches)
        outs.append(out)
    got = torch.cat(outs, 1)
    if not build(name).cacheable_keys:
        first_layer = locant.Attention(build(name)).eval()
        full, caches = first_layer(x, pos, causal=True), None
        for part in (slice(0, 11), slice(11, 12)):
            got, caches = first_layer.step(x[:, part], pos[..., part], caches)
        full = full[:, 11:]
    torch.testing.assert_close(got, full, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("name", [n for n in EVERY if build(n).cacheable_keys])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_changes_nothing(name, causal, side):
    net, x, pad = model(build(name), causal=causal), torch.randn(1, 6, 32), torch.randn(1, 3, 32)
    alone = net(x, locant.positions.consecutive(6))
    padded = torch.cat([pad, x] if side == "left" else [x, pad], 1)
    real = torch.tensor([[False] * 3 + [True] * 6 if side == "left" else [True] * 6 + [False] * 3])
    out = net(padded, locant.positions.from_mask(real), mask=real[:, None, None, :])
    assert torch.isfinite(out).all()
    torch.testing.assert_close(out[real], alone[0], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", [n for n in EVERY if build(n).cacheable_keys])
@pytest.mark.parametrize("causal", [False, True])
def test_packed_sequences_do_not_touch(name, causal):
    net, parts = model(build(name), causal=causal), [torch.randn(1, n, 32) for n in (4, 1, 6)]
    pack = locant.positions.packed([4, 1, 6])
    out = net(torch.cat(parts, 1), pack.positions, mask=pack.mask)
    alone = torch.cat([net(part, locant.positions.consecutive(part.shape[1])) for part in parts], 1)
    torch.testing.assert_close(out, alone, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", EVERY)
def test_causal_attention_learns_nothing_from_the_future(name):
    net, x, pos = (
        model(build(name), causal=True),
        torch.randn(1, 9, 32),
        locant.positions.consecutive(9),
    )
    changed = torch.cat([x[:, :5], torch.randn(1, 4, 32)], 1)
    torch.testing.assert_close(net(changed, pos)[:, :5], net(x, pos)[:, :5], atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("name", EVERY)
def test_every_parameter_gets_a_gradient_that_finite_differences_confirm(name):
    encoding = build(name).double()
    pos, x = locant.positions.consecutive(4), torch.randn(1, 4, 32, dtype=torch.float64)
    net = locant.Attention(encoding).double().eval()
    named = list(encoding.parameters())

    def run(*_):
        return net(x, pos)

    assert not named or torch.autograd.gradcheck(run, named, atol=1e-5, fast_mode=True)
    net(x, pos).square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().max() > 0 for p in named)


@pytest.mark.parametrize("name", EVERY)
def test_nothing_changes_in_forward(name):
    net, x = model(build(name)), torch.randn(1, 9, 32)
    before = {key: value.clone() for key, value in net.state_dict().items()}
    first = net(x, locant.positions.consecutive(9))
    net(torch.randn(1, 40, 32), locant.positions.consecutive(40))
    assert torch.equal(first, net(x, locant.positions.consecutive(9)))
    assert before.keys() == net.state_dict().keys()
    assert all(torch.equal(before[key], value) for key, value in net.state_dict().items())


@pytest.mark.parametrize(
    "name",
    [
        "sinusoidal",
        "fourier",
        "rotary",
        "rotary interleaved",
        "rotary sections",
        "rotary bases",
        "none",
    ],
)
@pytest.mark.parametrize("sizes", [(3, 4), (2, 3, 2)])
def test_grids_work_in_two_and_three_dimensions(name, sizes):
    axes, count = len(sizes), int(np.prod(sizes))
    options = {"pairing": "interleaved"} if "interleaved" in name else {}
    if "sections" in name:
        options = {"sections": [6 - (axes - 1) * 2] + [2] * (axes - 1)}
    if "bases" in name:
        options = {"base": [10_000.0, 100.0, 10.0][:axes]}
    encoding = locant.make(name.split()[0], dim=48, heads=4, axes=axes, **options)
    net, x, pos = (
        locant.Transformer(encoding, layers=1).eval(),
        torch.randn(2, count, 48),
        locant.positions.grid(*sizes),
    )
    moved = pos + torch.tensor([5, 2, 1][:axes])
    same_scores = (net(x, pos) - net(x, moved)).abs().max() < 1e-4
    assert same_scores == encoding.shift_invariant
    shuffle = torch.randperm(count)
    torch.testing.assert_close(
        net(x, pos)[:, shuffle], net(x[:, shuffle], pos[shuffle]), atol=1e-5, rtol=1e-4
    )


def test_each_axis_of_a_grid_matters():
    for name in ("sinusoidal", "fourier", "rotary"):
        net = locant.Transformer(locant.make(name, dim=48, heads=4, axes=3), layers=1).eval()
        x, pos = torch.randn(1, 12, 48), locant.positions.grid(2, 3, 2)
        for axis in range(3):
            other = pos.clone()
            other[:, axis] = other[:, axis].flip(0)
            assert (net(x, pos) - net(x, other)).abs().max() > 1e-4, (name, axis)
