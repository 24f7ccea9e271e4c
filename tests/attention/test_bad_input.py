"""Every hook refuses what does not fit with a ValueError that says what was asked and what is
allowed."""

from __future__ import annotations

import math
from functools import cache

import pytest
import torch
from torch import nn

import locant
from common import states_of
from locant.attention import explicit
from locant.encodings.base import Encoding, senses
from locant.encodings.registry import claiming, describe

B, H, T, D, d = 3, 2, 5, 8, 4
POS = torch.arange(T)
X = torch.randn(B, T, D)
Q = torch.randn(B, H, T, d)
TABLES = [name for name in claiming("goes_by_positions") if name not in claiming("real_positions")]
SHORT = [name for name in TABLES if name not in claiming("extrapolates")]
ENDS = [name for name in SHORT if name != "erpe"]  # whose table ends by distance, not by position


def enc(name="rotary", **options):
    return locant.make(name, **{"dim": D, "heads": H, "length": 16, **options})


def attend(encoding=None, q=Q, k=Q, v=Q, q_pos=POS, k_pos=POS, **options):
    encoding = enc() if encoding is None else encoding
    if isinstance(encoding, Encoding) and senses(encoding):
        options |= states_of(encoding, q.shape[2], k.shape[2], len(q))
    return locant.attend(q, k, v, encoding=encoding, q_pos=q_pos, k_pos=k_pos, **options)


@cache
def model(name, **options):
    return locant.Transformer(enc(name, **options), 2, causal=True).eval()


@cache
def layer(name, **options):
    return locant.Attention(enc(name, **options)).eval()


HOOKS = {  # (the encoding's name, positions, the encoding's options) → an output
    "attend, q_pos": lambda n, p, **o: attend(layer(n, **o).encoding, q_pos=p, k_pos=good(**o)),
    "attend, k_pos": lambda n, p, **o: attend(layer(n, **o).encoding, q_pos=good(**o), k_pos=p),
    "explicit": lambda n, p, **o: (
        explicit(
            Q,
            Q,
            Q,
            encoding=layer(n, **o).encoding,
            q_pos=p,
            k_pos=good(**o),
            **states_of(layer(n, **o).encoding, T, T, B),
        ).out
    ),
    "Attention": lambda n, p, **o: layer(n, **o)(X, p),
    "Attention.forward_with_weights": lambda n, p, **o: layer(n, **o).forward_with_weights(X, p)[0],
    "Attention.step": lambda n, p, **o: layer(n, **o).step(X, p)[0],
    "Transformer": lambda n, p, **o: model(n, **o)(X, p),
    "Transformer.forward_with_weights": lambda n, p, **o: (
        model(n, **o).forward_with_weights(X, p).out
    ),
    "Transformer.step": lambda n, p, **o: model(n, **o).step(X, p)[0],
}
every_hook = pytest.mark.parametrize("hook", HOOKS)


def good(axes=1, **_):
    return POS if axes == 1 else torch.stack([POS] * axes, -1)


def refused(call, *fragments):
    """The call is refused with a ValueError that says all of the fragments."""
    with pytest.raises(ValueError) as caught:
        call()
    assert [one for one in fragments if one not in str(caught.value)] == [], str(caught.value)


def each_refused(names, hook, pos, *fragments, **options):
    """`refused` for every name; those that are not are listed together."""
    wrong = {}
    for name in names:
        try:
            refused(lambda name=name: HOOKS[hook](name, pos, **options), *fragments)
        except (Exception, pytest.fail.Exception) as problem:
            wrong[name] = f"{type(problem).__name__}: {problem}"
    assert wrong == {}


MISFITS = {
    "one position": (torch.arange(1), "(1,)", "5 tokens", "(5,) or (3, 5)"),
    "one too many": (torch.arange(T + 1), "(6,)", "5 tokens", "(5,) or (3, 5)"),
    "one too few": (torch.arange(T - 1), "(4,)", "5 tokens", "(5,) or (3, 5)"),
    "one a row": (torch.zeros(B, 1).long(), "(3, 1)", "5 tokens in 3 rows"),
    "another batch": (torch.zeros(B - 1, T).long(), "(2, 5)", "5 tokens in 3 rows"),
    "no dimension": (torch.tensor(1), "()", "5 tokens"),
    "an axis too many": (torch.zeros(T, 2).long(), "(5, 2)", "(5,) or (3, 5)"),
    "none at all": (torch.arange(0), "(0,)", "5 tokens"),
    "NaN": (torch.tensor([0, 1, 2, 3, math.nan]), "not finite", "NaN"),
    "infinite": (torch.tensor([0, 1, 2, 3, -math.inf]), "not finite", "infinite"),
    "boolean": (POS.bool(), "whole or real numbers", "torch.bool"),
    "complex": (POS.to(torch.complex64), "whole or real numbers", "torch.complex64"),
    "a list": ([0, 1, 2, 3, 4], "tensor", "list", "locant.positions"),
    "another device": (POS.to("meta"), "meta", "cpu", ".to('cpu')"),
}


@every_hook
@pytest.mark.parametrize("case", MISFITS)
def test_positions_that_do_not_fit_are_refused_by_every_encoding(hook, case):
    each_refused(locant.names(), hook, *MISFITS[case])


@every_hook
def test_one_row_of_positions_serves_the_whole_batch(hook):
    for name in locant.names():
        assert torch.allclose(HOOKS[hook](name, POS[None]), HOOKS[hook](name, POS), atol=1e-6)


@pytest.mark.parametrize(
    "new", [torch.tensor([T]), torch.tensor([[T]]), torch.full((B, 1), T)], ids=["T", "1,T", "B,T"]
)
@pytest.mark.parametrize("old", [POS, POS[None], POS.expand(B, T)], ids=["T", "1,T", "B,T"])
def test_a_step_may_write_its_positions_in_another_shape_than_the_cache(old, new):
    _, caches = model("rotary").step(X, old)
    out, _ = model("rotary").step(X[:, :1], new, caches)
    assert torch.allclose(
        out, model("rotary")(torch.cat([X, X[:, :1]], 1), torch.arange(T + 1))[:, -1:], atol=1e-5
    )


@every_hook
def test_positions_are_never_guessed(hook):
    acting = [name for name in locant.names() if name != "none"]
    each_refused(acting, hook, None, "locant.positions")


AXES = {
    "missing": (POS, "(5,)", "2 axes", "(5, 2) or (3, 5, 2)"),
    "extra": (torch.zeros(T, 3).long(), "(5, 3)", "2 axes", "(5, 2) or (3, 5, 2)"),
    "missing in rows": (torch.zeros(B, T).long(), "(3, 5)", "2 axes"),
    "another batch": (torch.zeros(2, T, 2).long(), "(2, 5, 2)", "2 axes"),
    "one position": (torch.zeros(1, 2).long(), "(1, 2)", "2 axes"),
}
WITH_AXES = [name for name in locant.names() if "axes" in describe(name).options]


@every_hook
@pytest.mark.parametrize("case", AXES)
def test_positions_with_wrong_axes_are_refused(hook, case):
    each_refused(WITH_AXES, hook, *AXES[case], axes=2)


@every_hook
@pytest.mark.parametrize("rows", [1, B])
def test_positions_with_the_right_axes_are_taken(hook, rows):
    pos = good(axes=2) if rows == 1 else good(axes=2).expand(B, T, 2)
    for name in WITH_AXES:
        HOOKS[hook](name, pos, axes=2)


@pytest.mark.parametrize(
    "hook",
    [
        "Attention",
        "Attention.step",
        "Transformer",
        "Transformer.forward_with_weights",
        "Transformer.step",
    ],
)
def test_a_table_refuses_real_positions_and_names_who_takes_them(hook):
    each_refused(
        TABLES,
        hook,
        POS + 0.5,
        "whole numbers",
        "torch.float32",
        ", ".join(claiming("real_positions")),
    )


@pytest.mark.parametrize("hook", ["attend, q_pos", "attend, k_pos", "explicit"])
def test_a_table_of_distances_refuses_real_positions_in_attention(hook):
    each_refused(["relative", "shaw", "t5"], hook, POS + 0.5, "whole numbers", "torch.float32")


@pytest.mark.parametrize("hook", ["Attention", "Attention.step", "Transformer", "Transformer.step"])
def test_a_table_says_where_it_ends_and_what_has_no_end(hook):
    assert ENDS == ["hybrid", "learned"]
    endless = ", ".join(name for name in claiming("extrapolates") if name != "none")
    each_refused(
        ENDS,
        hook,
        POS + 12,
        "0..15",
        "position 16",
        "length > 16",
        endless,
    )
    each_refused(ENDS, hook, POS - 3, "0..15", "position -3", endless)


def test_a_table_of_distances_says_where_it_ends_and_what_has_no_end():
    erpe, far = layer("erpe"), POS * 4  # 16 away, and the table has 15
    endless = ", ".join(name for name in claiming("extrapolates") if name != "none")
    with pytest.raises(ValueError, match="distances up to 15") as told:
        erpe(X, far)
    assert "a key that is 16 away" in str(told.value)
    assert "length > 16" in str(told.value)
    assert endless in str(told.value)
    near = (far[:, None] - far).abs() < 16
    assert erpe(X, far, mask=near).isfinite().all()  # what is not seen may be farther


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32], ids=str)
@pytest.mark.parametrize("name", locant.names())
def test_small_whole_numbers_give_the_same_as_large_ones(name, dtype):
    rows = torch.tensor([0, 1, 2, 4, 7])
    assert torch.allclose(layer(name)(X, rows.to(dtype)), layer(name)(X, rows), atol=1e-6)


SEEN = torch.ones(B, H, T, T).bool()
WIDE = torch.randn(B, 4, T, d)
UNEQUAL = {"encoding": enc(dim=16, heads=4), "q": WIDE, "k": WIDE[:, :3], "v": WIDE[:, :3]}
ATTEND = {
    "q of three dimensions": (
        {"q": Q[0]},
        "q must have the shape (batch, heads, tokens, width)",
        "(2, 5, 4)",
    ),
    "q no tensor": ({"q": Q.tolist()}, "q must", "tensor"),
    "k in float64": ({"k": Q.double()}, "one dtype", "torch.float32, torch.float64"),
    "v in float16": ({"v": Q.half()}, "one dtype", "torch.float16"),
    "all whole numbers": ({"q": Q.long(), "k": Q.long(), "v": Q.long()}, "torch.int64"),
    "k on another device": ({"k": Q.to("meta")}, "one device", "cpu, meta, cpu"),
    "the encoding on another device": ({"encoding": enc("t5").to("meta")}, "meta", "cpu"),
    "k of another width": ({"k": torch.randn(B, H, T, 6)}, "do not fit together", "(3, 2, 5, 6)"),
    "k of another batch": ({"k": Q[:1], "v": Q[:1]}, "do not fit together", "(1, 2, 5, 4)"),
    "v of another length": ({"v": Q[:, :, 1:]}, "do not fit together", "(3, 2, 4, 4)"),
    "more key heads": ({"k": WIDE, "v": WIDE}, "2 query heads", "4 key heads"),
    "3 key heads for 4": (UNEQUAL, "4 query heads", "3 key heads"),
    "no key heads": ({"k": Q[:, :0], "v": Q[:, :0]}, "2 query heads", "0 key heads"),
    "other heads": (
        {"encoding": enc(heads=4)},
        "2 heads of width 4",
        "4 heads of width 2",
        "dim=8, heads=2",
    ),
    "another width": (
        {"encoding": enc(dim=16)},
        "2 heads of width 4",
        "2 heads of width 8",
        "dim=8, heads=2",
    ),
    "an encoding's name": ({"encoding": "rotary"}, "make"),
    "mask of numbers": ({"mask": SEEN.float()}, "boolean", "torch.float32", "mask.bool()"),
    "mask no tensor": ({"mask": SEEN.tolist()}, "mask", "tensor"),
    "mask (B,K)": ({"mask": SEEN[:, 0, 0]}, "(3, 5)", "(3, 2, 5, 5)", "mask[:, None, None, :]"),
    "mask of another batch": ({"mask": SEEN[:2]}, "(2, 2, 5, 5)", "(3, 2, 5, 5)"),
    "mask of one key": ({"mask": SEEN[..., :1]}, "(3, 2, 5, 1)", "(3, 2, 5, 5)"),
    "mask on another device": ({"mask": SEEN.to("meta")}, "mask is on meta", "cpu"),
    "unknown backend": (
        {"backend": "fusd"},
        "backend='fusd'",
        "Did you mean 'fused'?",
        "auto",
        "flex, tiled, blocked, fused, reference",
    ),
    "fused for shaw": (
        {"encoding": enc("shaw"), "backend": "fused"},
        "Shaw",
        "backend='fused'",
        "'auto' or 'reference'",
    ),
    "blocked for shaw": (
        {"encoding": enc("shaw"), "backend": "blocked"},
        "Shaw",
        "backend='blocked'",
        "'reference'",
    ),
    "tiled without a bias": (
        {"encoding": enc("rotary"), "backend": "tiled"},
        "Rotary",
        "no bias and no mask",
        "'auto'",
    ),
    "tiled with dropout": (
        {"encoding": enc("t5"), "backend": "tiled", "dropout": 0.1},
        "T5",
        "no dropout",
        "'auto'",
    ),
    "blocked with dropout": (
        {"encoding": enc("t5"), "backend": "blocked", "dropout": 0.1},
        "T5",
        "no dropout",
        "'auto'",
    ),
    "tiled for shaw": (
        {"encoding": enc("shaw"), "backend": "tiled"},
        "Shaw",
        "backend='tiled'",
        "'reference'",
    ),
}


@pytest.mark.parametrize("case", ATTEND)
def test_attend_refuses_what_does_not_fit(case):
    options, *fragments = ATTEND[case]
    refused(lambda: attend(**options), *fragments)


def test_both_positions_are_needed_and_only_none_does_without():
    for given in ({"q_pos": POS}, {"k_pos": POS}, {}):
        refused(
            lambda given=given: locant.attend(Q, Q, Q, encoding=enc(), **given),
            "q_pos and k_pos are needed",
        )
    assert locant.attend(Q, Q, Q).equal(locant.attend(Q, Q, Q, encoding=enc("none")))
    refused(lambda: locant.attend(Q, Q, Q, q_pos=POS[:1]), "(1,)", "5 tokens")


CONFIGURATIONS = {
    "heads that do not divide dim": (
        lambda: enc(dim=10, heads=3),
        "dim=10",
        "heads=3",
        "1, 2, 5, 10",
    ),
    "odd head width": (lambda: enc(dim=6), "pairs", "head width 3", "dim 6 / heads 2", "width=2"),
    "axes past the head": (lambda: enc(axes=3), "3 axes", "multiple of 6", "head width 4"),
    "no layers": (lambda: locant.Transformer(enc()), "number of layers", "list"),
    "layers 0": (lambda: locant.Transformer(enc(), 0), "layers", "0"),
    "a list too long": (lambda: locant.Transformer([enc()] * 3, 2), "3 encodings", "layers=2"),
    "an empty list": (lambda: locant.Transformer([]), "0 encodings"),
    "different dims": (
        lambda: locant.Transformer([enc(), enc(dim=16)]),
        "one dim",
        "dim=8",
        "dim=16",
    ),
    "different heads": (
        lambda: locant.Transformer([enc(), enc(heads=1)]),
        "heads",
        "heads=2",
        "heads=1",
    ),
    "different axes": (lambda: locant.Transformer([enc(), enc(axes=2)]), "axes", "1", "2"),
    "a hole in the list": (
        lambda: locant.Transformer([enc(), None]),
        "must be an encoding",
        "make('none'",
    ),
    "an encoding's name": (lambda: locant.Transformer("rotary", 2), "make"),
    "no encoding": (lambda: locant.Transformer(None, 2), "encoding", "make"),
    "a name for a layer": (lambda: locant.Attention("rotary"), "make"),
    "kv_heads 3 of 2": (lambda: locant.Transformer(enc(), 1, kv_heads=3), "heads=2", "kv_heads=3"),
    "kv_heads 3 of 8": (
        lambda: locant.Attention(enc("none", heads=8), kv_heads=3),
        "heads=8",
        "kv_heads=3",
    ),
    "norm": (lambda: locant.Transformer(enc(), 1, norm="mid"), "norm='mid'", "pre, post"),
    "activation": (
        lambda: locant.Transformer(enc(), 1, activation="silu"),
        "activation='silu'",
        "gelu, relu",
    ),
    "dropout 2": (lambda: locant.Transformer(enc(), 1, dropout=2.0), "dropout", "2.0"),
    "dropout 2 of a layer": (lambda: locant.Attention(enc(), dropout=2.0), "dropout", "2.0"),
}


@pytest.mark.parametrize("case", CONFIGURATIONS)
def test_what_cannot_be_built_is_refused_when_it_is_built(case):
    refused(*CONFIGURATIONS[case])


INPUTS = {
    "two dimensions": (X[0], "(B, T, 8)", "(5, 8)"),
    "another width": (torch.randn(B, T, 7), "(B, T, 8)", "(3, 5, 7)"),
    "tokens without an embedding": (torch.zeros(B, T).long(), "(B, T, 8)", "(3, 5)"),
    "no tensor": (X.tolist(), "(B, T, 8)", "list"),
}


@pytest.mark.parametrize("case", INPUTS)
@pytest.mark.parametrize(
    "hook", [layer("rotary"), model("rotary"), model("rotary").step], ids=["layer", "model", "step"]
)
def test_an_input_that_does_not_fit_is_refused(hook, case):
    x, *fragments = INPUTS[case]
    refused(lambda: hook(x, POS), *fragments)


def test_masks_that_do_not_fit_are_refused_by_layers_and_models():
    for hook in (
        layer("rotary"),
        model("rotary"),
        model("rotary").step,
        model("rotary").forward_with_weights,
    ):
        refused(
            lambda hook=hook: hook(X, POS, mask=SEEN[:, 0, 0]), "(3, 5)", "mask[:, None, None, :]"
        )
        refused(lambda hook=hook: hook(X, POS, mask=SEEN.float()), "boolean", "torch.float32")


def test_only_a_causal_model_goes_on_from_a_cache():
    refused(lambda: locant.Transformer(enc(), 1, embed=nn.Identity()).step(X, POS), "causal=True")


@pytest.mark.parametrize("count", [0, 1, 3, 4])
def test_caches_of_another_number_of_layers_are_refused(count):
    caches = (model("rotary").step(X, POS)[1] * 2)[:count]
    refused(lambda: model("rotary").step(X, POS + T, caches), "cache", "layers", "2", str(count))


def test_a_cache_of_another_batch_is_refused():
    caches = model("rotary").step(X, POS)[1]
    refused(lambda: model("rotary").step(X[:2], POS + T, caches), "cache", "rows")


GROWING = {"type": "dynamic-ntk", "factor": 2.0, "original_length": 4}


@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {}) for name in locant.names()), ("rotary", {"scaling": GROWING})],
)
@pytest.mark.parametrize("length", [0, 1])
def test_a_sequence_of_none_or_one_has_an_output_of_that_length(name, options, length):
    q, x, pos = Q[:, :, :length], X[:, :length], POS[:length]
    for causal in (False, True):
        out = attend(enc(name, **options), q=q, k=q, v=q, q_pos=pos, k_pos=pos, causal=causal)
        assert out.shape == q.shape
        assert out.isfinite().all()
    made = locant.Transformer(enc(name, **options), 1, causal=True)
    assert made(x, pos).shape == made.step(x, pos)[0].shape == x.shape
