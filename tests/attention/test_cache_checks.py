"""Cached tokens moved to other positions, or evicted: the rest goes on as in a fresh pass."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import locant
from locant.encodings import Rotary
from locant.encodings.base import Encoding, overrides
from locant.shapes import Shape

DIM, HEADS, T = 32, 4, 12
ROTARY = {
    "interleaved": {"pairing": "interleaved"},
    "partial": {"width": 4},
    "yarn": {"scaling": {"type": "yarn", "factor": 4.0, "original_length": 64}},
    "dynamic": {"scaling": {"type": "dynamic-ntk", "factor": 2.0, "original_length": 8}},
}
EVERY = [(name, {}) for name in locant.names()] + [("rotary", one) for one in ROTARY.values()]
IDS = [*locant.names(), *(f"rotary-{one}" for one in ROTARY)]


def build(name, options):
    """Make an encoding with parameters that are not those of a start, such as a bias of zeros."""
    torch.manual_seed(0)
    encoding = locant.make(name, dim=DIM, heads=HEADS, length=T + 200, **options)
    for parameter in encoding.parameters():
        parameter.data += 0.3 * torch.randn_like(parameter)
    return encoding


def on_input(name):
    return overrides(build(name, {}), "embed")


def says(encoding, hook, other):
    """Whether an encoding that has a hook also has the one that goes with it."""
    return overrides(encoding, other) or not overrides(encoding, hook)


def can_move(name, options):
    encoding = build(name, options)
    keys = says(encoding, "rotate", "move_keys") or not encoding.cacheable_keys
    return keys and says(encoding, "sense", "move_states") and not on_input(name)


def can_drop(name, options):
    return says(build(name, options), "sense", "keep_states")


MOVABLE = [(one, id) for one, id in zip(EVERY, IDS, strict=True) if can_move(*one)]
DROPPABLE = [(one, id) for one, id in zip(EVERY, IDS, strict=True) if can_drop(*one)]


def layer(encoding, **options):
    torch.manual_seed(1)
    return locant.Attention(encoding, **options).eval()


def tokens(rows=2, count=T):
    return torch.randn(rows, count, DIM, generator=torch.Generator().manual_seed(2))


def fresh(made, x, pos):
    """The outputs of the last two tokens in one pass over all of them."""
    return made(x, pos, causal=True)[:, -2:]


def go_on(made, x, pos, cache):
    """The outputs of the last two tokens, over a cache of those before."""
    out, _ = made.step(x[:, -2:], pos[..., -2:], cache)
    return out


def same(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("by", [-5, 7])
@pytest.mark.parametrize("kv_heads", [HEADS, 2])
@pytest.mark.parametrize(("name", "options"), [m[0] for m in MOVABLE], ids=[m[1] for m in MOVABLE])
def test_shifted_tokens_go_on_as_in_a_fresh_pass_at_the_new_positions(name, options, kv_heads, by):
    made, x, pos = (
        layer(build(name, options), kv_heads=kv_heads),
        tokens(),
        torch.arange(10, 10 + T),
    )
    with torch.no_grad():
        _, cache = made.step(x[:, :-2], pos[:-2])
        shifted = cache.shift(made.encoding, by)
        same(go_on(made, x, pos + by, shifted), fresh(made, x, pos + by))
    assert torch.equal(shifted.pos, pos[:-2] + by)
    assert torch.equal(cache.pos, pos[:-2])


@pytest.mark.parametrize(
    ("name", "options"), [d[0] for d in DROPPABLE], ids=[d[1] for d in DROPPABLE]
)
@pytest.mark.parametrize(
    "how", [{"oldest": 3}, {"oldest": 4, "sinks": 2}, {"indices": [1, 2, 7]}], ids=str
)
def test_what_is_left_after_an_eviction_goes_on_as_if_there_had_been_nothing_else(
    name, options, how
):
    made, x, pos = layer(build(name, options)), tokens(), torch.arange(T)
    with torch.no_grad():
        _, cache = made.step(x[:, :-2], pos[:-2])
        small = cache.drop(made.encoding, **how)
        kept = [*small.pos.tolist(), T - 2, T - 1]
        assert len(kept) < T
        same(go_on(made, x, pos, small), fresh(made, x[:, kept], pos[kept]))
    assert cache.k.shape[-2] == T - 2


@pytest.mark.parametrize(("name", "options"), [m[0] for m in MOVABLE], ids=[m[1] for m in MOVABLE])
def test_attention_sinks_stay_while_the_rest_closes_the_gap(name, options):
    made, x, pos = layer(build(name, options)), tokens(), torch.arange(T)
    with torch.no_grad():
        _, cache = made.step(x[:, :-2], pos[:-2])
        small = cache.drop(made.encoding, oldest=4, sinks=2)
        closed = small.shift(made.encoding, torch.where(small.pos < 2, 0, -4))
        assert closed.pos.tolist() == list(range(T - 6))
        kept = [0, 1, *range(6, T)]
        wanted = fresh(made, x[:, kept], pos[: len(kept)])
        same(go_on(made, x, pos[: len(kept)], closed), wanted)


def test_rows_may_have_positions_and_shifts_of_their_own():
    made, x = layer(build("rotary", {})), tokens()
    pos = torch.stack([torch.arange(T), torch.arange(20, 20 + T)])
    by = torch.tensor([[3], [-20]])
    with torch.no_grad():
        _, cache = made.step(x[:, :-2], pos[:, :-2])
        same(go_on(made, x, pos + by, cache.shift(made.encoding, by)), fresh(made, x, pos + by))


@pytest.mark.parametrize("options", [{"axes": 2}, {"sections": [3, 1]}], ids=str)
def test_a_grid_moves_along_each_axis_and_loses_single_cells(options):
    made, x = layer(build("rotary", options)), tokens(count=6)
    pos, by = locant.positions.grid(2, 3), torch.tensor([4, -2])
    with torch.no_grad():
        _, cache = made.step(x[:, :-1], pos[:-1])
        last, _ = made.step(x[:, -1:], pos[-1:] + by, cache.shift(made.encoding, by))
        same(last, made(x, pos + by, causal=True)[:, -1:])
        small = cache.drop(made.encoding, indices=torch.tensor([1, 3]))
        last, _ = made.step(x[:, -1:], pos[-1:], small)
        kept = [0, 2, 4, 5]
        same(last, made(x[:, kept], pos[kept], causal=True)[:, -1:])


def test_real_positions_move_by_real_numbers():
    made, x, pos = layer(build("rotary", {})), tokens(), torch.rand(T).cumsum(0)
    with torch.no_grad():
        _, cache = made.step(x[:, :-2], pos[:-2])
        wanted = fresh(made, x, pos + 0.75)
        same(go_on(made, x, pos + 0.75, cache.shift(made.encoding, 0.75)), wanted)


@pytest.mark.parametrize("name", ["rotary", "alibi", "pope"])
def test_in_a_model_of_layers_a_common_shift_changes_nothing_that_scores_do_not_see(name):
    encoding, x, pos = build(name, {}), tokens(), torch.arange(10, 10 + T)
    torch.manual_seed(1)
    model = locant.Transformer(encoding, layers=3, causal=True).eval()
    with torch.no_grad():
        _, caches = model.step(x[:, :-1], pos[:-1])
        caches = [cache.shift(encoding, -10) for cache in caches]
        last, _ = model.step(x[:, -1:], pos[-1:] - 10, caches)
        same(last, model(x, pos - 10)[:, -1:])


def test_a_cache_that_was_edited_goes_on_for_many_steps_and_leaves_the_old_one_alone():
    made, x, pos = layer(build("rotary", {})), tokens(count=40), torch.arange(40)
    with torch.no_grad():
        _, cache = made.step(x[:, :8], pos[:8])
        _, cache = made.step(x[:, 8:9], pos[8:9], cache)
        shown = [part.clone() for part in cache[:3]]
        edited = cache.drop(made.encoding, oldest=2).shift(made.encoding, -2)
        outs = []
        for index in range(9, 40):
            one = slice(index, index + 1)
            out, edited = made.step(x[:, one], pos[one] - 2, edited)
            outs.append(out)
        whole = made(x[:, 2:], pos[:-2], causal=True)
        same(torch.cat(outs, 1), whole[:, 7:])
    assert all(torch.equal(part, old) for part, old in zip(cache[:3], shown, strict=True))


@pytest.mark.parametrize("name", [name for name in locant.names() if on_input(name)])
def test_what_acts_on_the_input_cannot_be_shifted_and_says_what_can(name):
    made = layer(build(name, {}))
    _, cache = made.step(tokens(), torch.arange(T))
    with pytest.raises(ValueError, match=r"puts positions into the input[\s\S]*alibi, .*rotary"):
        cache.shift(made.encoding, 1)


@pytest.mark.parametrize("name", [one[0] for one in EVERY if not can_move(*one)])
def test_what_cannot_be_moved_is_refused_and_never_moved_wrongly(name):
    made = layer(build(name, {}))
    _, cache = made.step(tokens(), torch.arange(T))
    with pytest.raises(ValueError, match=r"a fresh pass|at their new positions"):
        cache.shift(made.encoding, 1)


class Summed(Encoding):
    """Keys and queries become sums with a vector of their position: no one can take it out."""

    cacheable_keys = True

    def rotate(self, q, k, q_pos, k_pos, precomputed=None):
        return q + q_pos[:, None].to(q.dtype), k + k_pos[:, None].to(k.dtype)


class Backward(Rotary):
    """A rotary with a rotation of its own, which the rotation of keys it inherits does not fit."""

    def rotate(self, q, k, q_pos, k_pos, precomputed=None):
        return super().rotate(q, k, -q_pos, -k_pos)


class Sensing(Encoding):
    """Has states, and does not say what becomes of them."""

    causal_only = True

    def __init__(self, shape):
        super().__init__(shape)
        self.gate = nn.Linear(shape.dim, shape.heads)

    def sense(self, x, pos, past=None):
        return self.gate(x).mT[..., None]

    def state_bias(self, q_pos, k_pos, q_state, k_state):
        return q_state - k_state.mT


@pytest.mark.parametrize(
    ("kind", "edit", "words"),
    [
        (Summed, lambda cache, own: cache.shift(own, 1), "Override move_keys"),
        (Backward, lambda cache, own: cache.shift(own, 1), "rotate of its own, but not the move_k"),
        (Sensing, lambda cache, own: cache.shift(own, 1), "Override move_states"),
        (Sensing, lambda cache, own: cache.drop(own, oldest=1), "Override keep_states"),
    ],
)
def test_an_encoding_that_does_not_say_what_cached_tokens_become_is_refused(kind, edit, words):
    made = layer(kind(Shape(DIM, HEADS, T)))
    _, cache = made.step(tokens(), torch.arange(T))
    with pytest.raises(ValueError, match=words):
        edit(cache, made.encoding)


def test_an_encoding_that_drops_but_does_not_move_can_still_drop():
    made, x, pos = layer(Summed(Shape(DIM, HEADS, T))), tokens(), torch.arange(T)
    with torch.no_grad():
        _, cache = made.step(x[:, :-2], pos[:-2])
        small = cache.drop(made.encoding, oldest=3)
        same(go_on(made, x, pos, small), fresh(made, x[:, 3:], pos[3:]))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "oldest=… .* or indices"),
        ({"oldest": 1, "indices": [0]}, "oldest=… .* or indices"),
        ({"oldest": -1}, "oldest"),
        ({"oldest": 2.5}, "oldest"),
        ({"oldest": 11, "sinks": 2}, r"of which 2 stay.*\n?.*oldest=0\.\.10"),
        ({"oldest": T}, "all 12 tokens would be dropped"),
        ({"indices": [0, T]}, r"0\.\.11. Got 12"),
        ({"indices": [-1]}, r"0\.\.11. Got -1"),
        ({"indices": [True]}, "Got True"),
        ({"indices": [[0], [1]]}, "the same for every row"),
        ({"indices": 3}, "a list of whole numbers"),
        ({"indices": [1], "sinks": 1}, "sinks goes with oldest"),
    ],
)
def test_a_drop_that_makes_no_sense_is_refused_in_a_sentence(asked, words):
    made = layer(build("rotary", {}))
    _, cache = made.step(tokens(), torch.arange(T))
    with pytest.raises(ValueError, match=words):
        cache.drop(made.encoding, **asked)


@pytest.mark.parametrize(
    ("name", "by", "words"),
    [
        ("rotary", "3", "a number of positions"),
        ("rotary", True, "a number of positions"),
        ("rotary", torch.zeros(5, dtype=torch.long), "does not fit positions"),
        ("rotary", float("nan"), "not finite"),
        ("rotary", torch.zeros(3, T), "shifted pos"),
        ("t5", 0.5, "takes whole positions"),
    ],
)
def test_a_shift_that_makes_no_sense_is_refused_in_a_sentence(name, by, words):
    made = layer(build(name, {}))
    _, cache = made.step(tokens(), torch.arange(T))
    with pytest.raises(ValueError, match=words):
        cache.shift(made.encoding, by)


def test_only_an_encoding_can_say_what_cached_tokens_become():
    _, cache = layer(build("rotary", {})).step(tokens(), torch.arange(T))
    with pytest.raises(ValueError, match=r"Cache.shift needs an encoding"):
        cache.shift("rotary", 1)
    with pytest.raises(ValueError, match=r"Cache.drop needs an encoding"):
        cache.drop(None, oldest=1)
