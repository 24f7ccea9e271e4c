"""A cache with room: steps equal the whole pass, copy nothing, and change nothing that anybody
holds."""

from __future__ import annotations

import copy
import gc

import pytest
import torch

import locant
from locant.attention.kv_cache import _BUFFERS, MIN_SPARE_TOKENS, Cache

DIM, HEADS, T = 32, 4, 12
MODES = {
    "no_grad": torch.no_grad,
    "inference": torch.inference_mode,
    "gradients": torch.enable_grad,
}


def layer(name="rotary", **options):
    torch.manual_seed(0)
    return locant.Attention(
        locant.make(name, dim=DIM, heads=HEADS, length=T + 200), **options
    ).eval()


def tokens(count=T, rows=2):
    return torch.randn(rows, count, DIM, generator=torch.Generator().manual_seed(1)), torch.arange(
        count
    )


def go_on(made, x, pos, cache, *sizes):
    """Steps of these sizes: all outputs in one, and every cache."""
    outs, caches, first = [], [], 0 if cache is None else cache.k.shape[-2]
    for size in sizes:
        out, cache = made.step(x[:, first : first + size], pos[first : first + size], cache)
        outs.append(out)
        caches.append(cache)
        first += size
    return torch.cat(outs, 1), caches


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", locant.names())
@pytest.mark.parametrize("kv_heads", [HEADS, 2])
def test_steps_equal_the_whole_pass(name, mode, kv_heads):
    made, (x, pos) = layer(name, kv_heads=kv_heads), tokens()
    with MODES[mode]():
        whole = made(x, pos, causal=True)
        out, _ = go_on(made, x, pos, None, 4, 1, 1, 3, 1, 1, 1)
    torch.testing.assert_close(out, whole, atol=1e-5, rtol=1e-5)


def test_a_step_copies_nothing_until_its_room_is_full():
    made, (x, pos) = layer(), tokens(2 * MIN_SPARE_TOKENS)
    with torch.no_grad():
        _, caches = go_on(made, x, pos, None, 2, *[1] * (MIN_SPARE_TOKENS + 2))
    homes = [(cache.k.data_ptr(), cache.v.data_ptr()) for cache in caches[1:]]
    assert len(set(homes[: MIN_SPARE_TOKENS + 1])) == 1
    assert homes[-1] != homes[0]


def test_what_a_cache_shows_never_changes():
    made, (x, pos) = layer(), tokens()
    with torch.no_grad():
        _, caches = go_on(made, x, pos, None, 4, 1)
        shown = [part.clone() for part in caches[-1][:3]]
        go_on(made, x, pos, caches[-1], 1, 1)
        go_on(made, -x, pos, caches[-1], 1, 1)
    assert all(
        torch.equal(part, before) for part, before in zip(caches[-1][:3], shown, strict=True)
    )


def test_two_ways_on_from_one_cache_know_nothing_of_each_other():
    made, (x, pos) = layer(), tokens()
    other = torch.cat([x[:, :5], -x[:, 5:]], 1)
    with torch.no_grad():
        _, caches = go_on(made, x, pos, None, 4, 1)
        first, mine = go_on(made, x, pos, caches[-1], 1, 1)
        second, theirs = go_on(made, other, pos, caches[-1], 1, 1)
        more, _ = go_on(made, x, pos, mine[-1], 1)
        whole, another = made(x, pos, causal=True), made(other, pos, causal=True)
    torch.testing.assert_close(torch.cat([first, more], 1), whole[:, 5:8], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(second, another[:, 5:7], atol=1e-5, rtol=1e-5)
    assert theirs[-1].k.data_ptr() != mine[-1].k.data_ptr()


@pytest.mark.parametrize("change", ["keys", "rows", "copy", "by hand"])
def test_a_cache_that_was_changed_by_hand_goes_on_from_what_it_shows(change):
    made, (x, pos) = layer(), tokens()
    with torch.no_grad():
        _, caches = go_on(made, x, pos, None, 4, 1)
        last = caches[-1]
        changed = {
            "keys": last._replace(k=-last.k),
            "rows": last._replace(k=last.k.flip(0), v=last.v.flip(0)),
            "copy": copy.deepcopy(last),
            "by hand": Cache(last.k, last.v, last.pos),
        }[change]
        plain = Cache(changed.k.clone(), changed.v.clone(), changed.pos)
        got, _ = go_on(made, x, pos, changed, 1, 1)
        wanted, _ = go_on(made, x, pos, plain, 1, 1)
    assert torch.equal(got, wanted)


def test_gradients_reach_the_first_token_through_steps():
    made, (x, pos) = layer(), tokens()
    x.requires_grad_()
    (whole,) = torch.autograd.grad(made(x, pos, causal=True)[:, -1].sum(), x)
    out, _ = go_on(made, x, pos, None, 4, 1, 1, 3, 1, 1, 1)
    (stepped,) = torch.autograd.grad(out[:, -1].sum(), x)
    torch.testing.assert_close(stepped, whole, atol=1e-5, rtol=1e-5)
    assert stepped[:, 0].abs().max() > 0


@pytest.mark.parametrize(
    ("first", "then"),
    [("inference", "no_grad"), ("no_grad", "gradients"), ("no_grad", "inference")],
)
def test_a_cache_goes_on_in_another_mode(first, then):
    made, (x, pos) = layer(), tokens()
    with MODES[first]():
        before, caches = go_on(made, x, pos, None, 4, 1, 1)
    with MODES[then]():
        after, _ = go_on(made, x.clone(), pos, caches[-1], 1, 1)
        whole = made(x, pos, causal=True)
    torch.testing.assert_close(
        torch.cat([before, after], 1).detach(), whole[:, :8].detach(), atol=1e-5, rtol=1e-5
    )


def test_a_buffer_lives_as_long_as_a_cache_that_is_in_it():
    made, (x, pos) = layer(), tokens()
    gc.collect()  # what earlier tests left
    before = len(_BUFFERS)
    with torch.no_grad():
        _, caches = go_on(made, x, pos, None, 4, 1, 1)
    assert len(_BUFFERS) == before + 2
    del caches
    gc.collect()
    assert len(_BUFFERS) == before


def test_a_step_can_be_compiled():
    made, (x, pos) = layer(), tokens()
    step = torch.compile(
        lambda x, pos, cache: made.step(x, pos, cache), backend="eager", fullgraph=True
    )
    with torch.no_grad():
        _, cache = made.step(x[:, :4], pos[:4])
        want, _ = made.step(x[:, 4:5], pos[4:5], cache)
        got, after = step(x[:, 4:5], pos[4:5], cache)
        more, _ = made.step(x[:, 5:6], pos[5:6], after)
        whole = made(x, pos, causal=True)
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(more, whole[:, 5:6], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", ["shaw", "pope"])
def test_steps_give_gradients_where_only_the_encoding_learns(name):
    made = layer(name).requires_grad_(False)
    made.encoding.requires_grad_(True)
    x, pos = tokens()
    outs, _ = go_on(made, x, pos, None, 3, *[1] * (T - 3))
    leaves, weights = (
        list(made.encoding.parameters()),
        torch.arange(outs.numel()).view_as(outs).cos(),
    )
    got = torch.autograd.grad((outs * weights).sum(), leaves)
    want = torch.autograd.grad((made(x, pos, causal=True) * weights).sum(), leaves)
    torch.testing.assert_close(got, want, atol=1e-5, rtol=1e-4)
