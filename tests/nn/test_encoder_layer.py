"""A layer in place of nn.TransformerEncoderLayer: the same numbers without an encoding, and never
without it when there is one."""

from __future__ import annotations

import copy
import warnings
from contextlib import contextmanager

import pytest
import torch
from torch import nn

import locant
from common import build
from locant.encodings.base import Encoding, overrides, senses
from locant.nn import EncoderLayer
from locant.shapes import Shape

DIM, HEADS, B, T = 32, 4, 3, 7
PADDING = torch.arange(T) >= torch.tensor([[T], [4], [5]])  # True = hidden, as torch has it
CAUSAL = nn.Transformer.generate_square_subsequent_mask(T)
ACTING = [name for name in locant.names() if not overrides(build(name), "embed")]


def pair(encoding=None, **options):
    """Ours and torch's, with the same weights."""
    torch.manual_seed(0)
    theirs = nn.TransformerEncoderLayer(DIM, HEADS, 48, **options).eval()
    mine = EncoderLayer(DIM, HEADS, 48, encoding=encoding, **options).eval()
    missing, unexpected = mine.load_state_dict(theirs.state_dict(), strict=False)
    assert not unexpected
    assert all(key.startswith("encoding.") for key in missing)
    return mine, theirs


def tokens(batch_first=True, seed=1):
    x = torch.randn(B, T, DIM, generator=torch.Generator().manual_seed(seed))
    return x if batch_first else x.transpose(0, 1)


def same(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def random_mask(*shape, seed=3):
    """A boolean mask, True = hidden, that leaves every query itself."""
    hidden = torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < 0.4
    return hidden & ~torch.eye(T, dtype=torch.bool)


@contextmanager
def torchs_fast_path(*, off):
    """Turn torch's fast path off where it takes a float mask for a boolean one (NaN in 2.13)."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(before and not off)
    yield
    torch.backends.mha.set_fastpath_enabled(before)


MASKS = {
    "none": {},
    "padding": {"src_key_padding_mask": PADDING},
    "causal": {"src_mask": CAUSAL, "is_causal": True},
    "causal padded": {
        "src_mask": CAUSAL.isinf(),
        "src_key_padding_mask": PADDING,
        "is_causal": True,
    },
    "boolean": {"src_mask": random_mask(T, T)},
    "per head": {"src_mask": random_mask(B * HEADS, T, T)},
    "float": {"src_mask": torch.randn(T, T, generator=torch.Generator().manual_seed(4))},
    "float per head": {"src_mask": torch.randn(B * HEADS, T, T)},
    "float with −inf": {"src_mask": torch.randn(T, T).masked_fill(random_mask(T, T), -torch.inf)},
    "float padding": {"src_key_padding_mask": torch.randn(B, T)},
    "two floats": {"src_mask": torch.randn(T, T), "src_key_padding_mask": torch.randn(B, T)},
    "both": {
        "src_mask": random_mask(T, T),
        "src_key_padding_mask": torch.arange(T).expand(B, T) > 5,
    },
}


@pytest.mark.filterwarnings("ignore:Support for mismatched")
@pytest.mark.parametrize("masks", MASKS)
@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {"norm_first": True},
        {"norm_first": False, "activation": "gelu"},
        {"bias": False, "activation": torch.tanh, "layer_norm_eps": 1e-3},
    ],
    ids=["pre", "post gelu", "no bias"],
)
def test_without_an_encoding_the_outputs_are_those_of_torchs_layer(
    options, batch_first, grad, masks
):
    mine, theirs = pair(batch_first=batch_first, **options)
    x = tokens(batch_first)
    with torch.set_grad_enabled(grad), torchs_fast_path(off="float" in masks):
        same(mine(x, **MASKS[masks]), theirs(x, **MASKS[masks]))


def test_a_row_without_a_batch_is_a_batch_of_one():
    mine, theirs = pair()
    row, hidden = tokens()[1], PADDING[1]
    same(mine(row), theirs(row))
    same(mine(row, src_key_padding_mask=hidden), theirs(row, src_key_padding_mask=hidden))


def test_gradients_are_those_of_torchs_layer():
    mine, theirs = pair(batch_first=True)
    found, wanted = (
        torch.autograd.grad(one(tokens()).square().sum(), list(one.parameters()))
        for one in (mine, theirs)
    )
    for got, want in zip(found, wanted, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["rotary", "alibi", "t5", "pope"])
def test_a_state_dict_of_torch_fits_apart_from_the_encodings_own_parameters(name):
    encoding = build(name)
    theirs = nn.TransformerEncoderLayer(DIM, HEADS)
    mine = EncoderLayer(DIM, HEADS, encoding=encoding)
    own = {f"encoding.{key}" for key in encoding.state_dict()}
    assert mine.state_dict().keys() == theirs.state_dict().keys() | own
    assert set(mine.load_state_dict(theirs.state_dict(), strict=not own).missing_keys) == own
    again = EncoderLayer(DIM, HEADS, encoding=build(name, seed=5))
    again.load_state_dict(mine.state_dict())
    x = tokens(False)
    same(again.eval()(x), mine.eval()(x))


def by_hand(layer, x, pos, **masks):
    """The layer of torch, with the attention of `locant.attend` in it."""
    d = DIM // HEADS
    normed = layer.norm1(x) if layer.norm_first else x
    attention = layer.self_attn
    q, k, v = nn.functional.linear(normed, attention.in_proj_weight, attention.in_proj_bias).chunk(
        3, -1
    )
    q, k, v = (one.unflatten(-1, (HEADS, d)).transpose(1, 2) for one in (q, k, v))
    given = {"encoding": layer.encoding, "q_pos": pos, "k_pos": pos, **masks}
    if senses(layer.encoding):
        given["q_state"] = given["k_state"] = layer.encoding.sense(normed, pos)
    out = locant.attend(q, k, v, **given).transpose(1, 2).flatten(2)
    x = x + attention.out_proj(out)
    if layer.norm_first:
        return x + layer._ff_block(layer.norm2(x))
    x = layer.norm1(x)
    return layer.norm2(x + layer._ff_block(x))


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("name", ACTING)
def test_an_encoding_acts_in_the_attention_at_counted_and_at_given_positions(name, norm_first):
    mine, _ = pair(build(name), batch_first=True, norm_first=norm_first)
    x, pos = tokens(), torch.arange(T)
    same(mine(x), by_hand(mine, x, pos))
    same(mine(x, pos=2 * pos + 1), by_hand(mine, x, 2 * pos + 1))
    same(mine(x, is_causal=True), by_hand(mine, x, pos, causal=True))
    seen = ~PADDING[:, None, None, :]
    wanted = by_hand(mine, x, locant.positions.from_mask(~PADDING), mask=seen)
    same(mine(x, src_key_padding_mask=PADDING), wanted)


@pytest.mark.parametrize("name", ["rotary", "shaw", "t5"])
def test_a_float_mask_is_added_on_top_of_the_encoding(name):
    mine, _ = pair(build(name), batch_first=True)
    x, added = tokens(), MASKS["float with −inf"]["src_mask"]

    class Added(type(mine.encoding)):
        """The encoding, with these numbers on top of its scores."""

        def rescore(self, scores, *more):
            return super().rescore(scores, *more) + added

    wanted = copy.deepcopy(mine)
    wanted.encoding.__class__ = Added
    same(mine(x, src_mask=added), wanted(x))


class Gated(Encoding):
    """score + c_i − c_j, c from the layer's own input: a state beside a float mask."""

    causal_only = True

    def __init__(self, shape):
        super().__init__(shape)
        self.gate = nn.Linear(shape.dim, shape.heads)

    def sense(self, x, pos, past=None):
        return nn.functional.logsigmoid(self.gate(x)).mT[..., None].cumsum(-2)

    def state_bias(self, q_pos, k_pos, q_state, k_state):
        return q_state - k_state.mT


def test_states_of_tokens_and_a_float_mask_go_together():
    torch.manual_seed(2)
    mine, _ = pair(Gated(Shape(DIM, HEADS)), batch_first=True)
    x = tokens()
    nearly = CAUSAL.masked_fill(CAUSAL == 0, 1e-30)  # not 0, so that it has to be added
    same(mine(x, src_mask=nearly), by_hand(mine, x, torch.arange(T), causal=True))


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("padding", [None, PADDING], ids=["whole", "padded"])
def test_inside_torchs_encoder_the_fast_path_never_skips_the_encoding(padding, norm_first, nested):
    mine, theirs = pair(build("alibi"), batch_first=True, norm_first=norm_first)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nested tensors and norm_first, as torch says itself
        encoder = nn.TransformerEncoder(mine, 2, enable_nested_tensor=nested).eval()
        plain = nn.TransformerEncoder(theirs, 2, enable_nested_tensor=nested).eval()
        x = tokens()
        with torch.no_grad():
            fast = encoder(x, src_key_padding_mask=padding)
            without = plain(x, src_key_padding_mask=padding)
        encoder.train()  # no fast path there; the dropout is turned off by hand
        for module in encoder.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
        slow = encoder(x, src_key_padding_mask=padding)
    real = torch.ones(B, T, dtype=torch.bool) if padding is None else ~padding
    same(fast[real], slow[real])
    assert (fast - without)[real].abs().amax() > 0.01
    wanted = x
    pos = locant.positions.from_mask(real)
    for layer in encoder.layers:
        wanted = by_hand(layer, wanted, pos, mask=real[:, None, None, :])
    same(fast[real], wanted[real])


def test_torchs_encoder_hands_on_nested_tensors_and_gets_them_back():
    mine, theirs = pair(batch_first=True)
    seen = []
    mine.register_forward_pre_hook(lambda layer, given: seen.append(given[0].is_nested))
    encoder = nn.TransformerEncoder(mine, 2).eval()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = encoder(tokens(), src_key_padding_mask=PADDING)
        wanted = nn.TransformerEncoder(theirs, 2).eval()(tokens(), src_key_padding_mask=PADDING)
    assert seen == [True, True]
    same(found, wanted)


def test_a_nested_tensor_comes_back_nested_row_by_row():
    mine, _ = pair(build("rotary"), batch_first=True)
    rows = [row[:count] for row, count in zip(tokens(), (T, 4, 5), strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = mine(torch.nested.nested_tensor(rows))
    for found, row in zip(out.unbind(), rows, strict=True):
        same(found, mine(row[None])[0])


def test_the_causal_mask_of_torchs_encoder_is_the_causal_order():
    mine, _ = pair(build("t5"), batch_first=True)
    encoder = nn.TransformerEncoder(mine, 2, enable_nested_tensor=False).eval()
    x, changed = tokens(), tokens()
    changed[:, 5:] = 0
    same(encoder(x, mask=CAUSAL)[:, :5], encoder(changed, mask=CAUSAL)[:, :5])
    same(encoder(x, mask=CAUSAL.isinf()), encoder(x, mask=CAUSAL, is_causal=True))


def test_a_query_that_sees_nothing_gives_no_nan():
    mine, _ = pair(build("alibi"), batch_first=True)
    hidden = PADDING.clone()
    hidden[1] = True
    out = mine(tokens(), src_key_padding_mask=hidden)
    assert out.isfinite().all()
    same(out[0], mine(tokens())[0])


def test_dropout_acts_on_the_weights_in_training_alone():
    mine, _ = pair(build("rotary"), batch_first=True, dropout=0.5)
    x = tokens()
    same(mine(x), mine(x))
    mine.train()
    for part in (mine.dropout, mine.dropout1, mine.dropout2):
        part.p = 0.0
    assert (mine(x) - mine(x)).abs().max() > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("masks", MASKS)
def test_a_layer_can_be_compiled_with_its_masks(masks):
    mine, _ = pair(build("rotary"), batch_first=True)
    compiled = torch.compile(mine, backend="eager")
    with torch.no_grad():
        same(compiled(tokens(), **MASKS[masks]), mine(tokens(), **MASKS[masks]))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: EncoderLayer(DIM, HEADS, encoding="rotary"), "needs an encoding"),
        (lambda: EncoderLayer(DIM, 2, encoding=build("rotary")), "dim=32, heads=2"),
        (lambda: EncoderLayer(DIM, HEADS, encoding=build("learned")), "once before the encoder"),
        (lambda: EncoderLayer(DIM, 5), "heads"),
    ],
)
def test_an_encoding_that_does_not_fit_the_layer_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"src_mask": torch.zeros(T, T + 1)}, r"src_mask must have the shape \(7, 7\) or \(12, 7"),
        ({"src_key_padding_mask": PADDING.T}, r"src_key_padding_mask must have .* \(3, 7\)"),
        ({"src_mask": torch.zeros(T, T, dtype=torch.long)}, "boolean .* or real numbers"),
        ({"src_mask": [1]}, "Got list"),
        ({"pos": torch.arange(T + 1)}, "pos has the shape"),
    ],
)
def test_masks_and_positions_that_do_not_fit_are_refused(given, words):
    mine, _ = pair(build("rotary"), batch_first=True)
    with pytest.raises(ValueError, match=words):
        mine(tokens(), **given)


def test_a_grid_needs_positions_and_a_nested_tensor_no_mask():
    grid = locant.make("rotary", dim=DIM, heads=HEADS, axes=2)
    mine, _ = pair(grid, batch_first=True)
    with pytest.raises(ValueError, match="2 axes"):
        mine(tokens())
    pos = torch.stack([torch.arange(T), torch.arange(T) % 2], -1)
    same(mine(tokens(), pos=pos), by_hand(mine, tokens(), pos))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nested = torch.nested.nested_tensor([tokens()[0], tokens()[1, :4]])
    with pytest.raises(ValueError, match="has no padding"):
        mine(nested, src_mask=CAUSAL)
