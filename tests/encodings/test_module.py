"""An encoding as a torch module: how it is called, shown, written down and loaded, and what its
hooks refuse."""

from __future__ import annotations

import copy
import inspect
import json
import pickle

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize

import locant
from common import EVERY, VARIANTS, build
from locant.encodings import Rotary
from locant.encodings.base import Encoding, difference

every = pytest.mark.parametrize("name", EVERY)
SMALL = {"dim": 16, "heads": 2, "length": 32}


# ---------------------------------------------------------------- called as a module


@every
def test_an_encoding_that_is_called_gives_what_embed_gives(name):
    encoding, x, pos = build(name), torch.randn(2, 5, 32), torch.arange(5)
    assert torch.equal(encoding(x, pos), encoding.embed(x, pos))


def test_hooks_on_an_encoding_are_reached():
    encoding, seen = build("learned"), []
    encoding.register_forward_hook(lambda module, inputs, output: seen.append(output.shape))
    encoding(torch.zeros(1, 3, 32), torch.arange(3))
    assert seen == [(1, 3, 32)]


@every
def test_positions_that_are_left_out_are_asked_for_in_a_sentence(name):
    words = r"positions are passed, never guessed: encoding\(x, pos\), see locant\.positions"
    with pytest.raises(ValueError, match=words):
        build(name)(torch.zeros(1, 3, 32))


# ---------------------------------------------------------------- shown, and written down


def options_of(encoding):
    return [
        p.name
        for p in inspect.signature(type(encoding)).parameters.values()
        if p.kind is p.KEYWORD_ONLY
    ]


@every
def test_the_repr_shows_every_option(name):
    encoding = build(name)
    shown = encoding.extra_repr()
    assert shown.startswith("dim=32, heads=4, length=64")
    assert [
        option
        for option in options_of(encoding)
        if f", {option}={getattr(encoding, option)!r}" not in shown
    ] == []


@every
def test_an_encoding_is_built_again_from_its_config(name):
    first = build(name)
    config = json.loads(json.dumps(first.config()))
    assert list(config) == ["name", "dim", "heads", "length", *options_of(first)]
    torch.manual_seed(5)
    one = type(first)(
        first.shape, **{option: getattr(first, option) for option in options_of(first)}
    )
    torch.manual_seed(5)
    two = locant.make(**config)
    assert one.config() == two.config() == config
    assert repr(one) == repr(two) == repr(first)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    assert {key: vars(one)[key] for key in options_of(one) if key != "axes"}.items() <= vars(
        two
    ).items()


def test_a_config_holds_the_options_and_the_scaling_as_plain_values():
    scaling = VARIANTS["rotary longrope"][1]["scaling"]
    for given in (scaling, {**scaling, "short": tuple(scaling["short"])}):
        config = Rotary(locant.Shape(16, 2, 32), base=500, scaling=given).config()
        assert config == {
            **{"name": "rotary", **SMALL, "base": 500.0, "pairing": "half", "width": 8, "axes": 1},
            "scaling": {**scaling, "scale": None},
            **{"sections": None, "section_layout": "chunked", "query_temperature": None},
        }


def test_copies_and_other_words_for_the_name_have_the_same_config():
    encoding = locant.make("RoPE", **SMALL, pairing="interleaved")
    assert encoding.config()["name"] == "rotary"
    for other in (copy.deepcopy(encoding), pickle.loads(pickle.dumps(encoding))):
        assert other.config() == encoding.config()


MINE = """
import torch
from locant.encodings.base import Encoding

class Mine(Encoding):
    def __init__(self, shape, *, price=1.0, bias=2, parts=(1, 2), kind=None):
        super().__init__(shape)
        self.price = torch.nn.Parameter(torch.full((1,), price))
        self.parts = [2 * part for part in parts]
"""


def test_a_users_encoding_made_by_its_file_is_built_again_as_it_was_asked_for(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    name = f"{tmp_path / 'mine.py'}:Mine"
    made = locant.make(name, **SMALL, price=3.0, parts=(4,))
    assert made.config() == {
        "name": name,
        **SMALL,
        "price": 3.0,
        "bias": 2,
        "parts": [4],
        "kind": None,
    }
    again = locant.make(**json.loads(json.dumps(made.config())))
    assert (again.price.item(), again.parts) == (3.0, [8])
    assert "price=3.0, bias=2, parts=(4,), kind=None" in repr(made)


def test_an_option_that_is_no_plain_value_is_named(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    made = locant.make(f"{tmp_path / 'mine.py'}:Mine", **SMALL, kind=torch.relu)
    with pytest.raises(ValueError, match=r"mine\.py:Mine: kind is no plain value"):
        made.config()


def test_an_encoding_without_a_name_has_no_config_and_says_why():
    class Near(Encoding):
        def __init__(self, shape, *, price=1.0, embed=None):
            super().__init__(shape)
            self.price = price

    near = Near(locant.Shape(**SMALL))
    assert near.extra_repr() == "dim=16, heads=2, length=32, price=1.0"
    for encoding in (near, locant.adapt(nn.Identity(), **SMALL)):
        with pytest.raises(
            ValueError, match=rf"{type(encoding).__name__} was not made by name.*\n.*locant\.make"
        ):
            encoding.config()


# ---------------------------------------------------------------- parameters


@every
def test_every_parameter_has_a_dimension_to_be_cut_along(name):
    assert [key for key, parameter in build(name).named_parameters() if not parameter.dim()] == []


def test_hybrid_loads_an_alpha_without_dimensions():
    encoding, saved = build("hybrid"), build("hybrid", seed=4).state_dict()
    nested = nn.ModuleDict({"one": encoding})
    nested.load_state_dict(
        {f"one.{key}": value[0] if key == "alpha" else value for key, value in saved.items()}
    )
    assert encoding.alpha.shape == (1,)
    assert all(torch.equal(value, saved[key]) for key, value in encoding.state_dict().items())


def test_shaw_loads_tables_that_were_saved_as_keys_and_values():
    encoding, saved = build("shaw"), build("shaw", seed=4)
    nn.ModuleDict({"one": encoding}).load_state_dict(
        {"one.keys": saved.keys, "one.values": saved.values}
    )
    assert torch.equal(encoding.keys, saved.keys)
    assert torch.equal(encoding.values, saved.values)
    assert list(encoding.state_dict()) == ["key_vectors", "value_vectors"]


class Doubled(nn.Module):
    def forward(self, x):
        return 2 * x


@every
def test_every_parameter_can_be_parametrized(name):
    encoding, pos, x = build(name), torch.arange(5), torch.randn(2, 5, 32)
    double = copy.deepcopy(encoding)
    for place in [place for place, _ in encoding.named_parameters()]:
        double.get_parameter(place).data.mul_(2)
        owner, _, key = place.rpartition(".")
        parametrize.register_parametrization(encoding.get_submodule(owner), key, Doubled())
    outputs = []
    for one in (encoding, double):
        torch.manual_seed(0)
        outputs.append(locant.Attention(one).eval()(x, pos))
    torch.testing.assert_close(*outputs)
    assert encoding.config() == double.config()


# ---------------------------------------------------------------- what the hooks take, and what
# they refuse


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.uint32])
@pytest.mark.parametrize("name", EVERY)
def test_positions_without_a_sign_are_whole_numbers_too(name, dtype):
    encoding, pos, x = build(name), torch.arange(5), torch.randn(2, 5, 32)
    heads = x.unflatten(-1, (4, 8)).transpose(1, 2)
    small = pos.to(dtype)
    assert torch.equal(encoding.embed(x, small), encoding.embed(x, pos))
    for got, want in zip(
        encoding.rotate(heads, heads, small, small),
        encoding.rotate(heads, heads, pos, pos),
        strict=True,
    ):
        assert torch.equal(got, want)
    bias = encoding.bias(pos, pos)
    assert bias is None or torch.equal(encoding.bias(small, small), bias)
    scores = heads @ heads.mT
    content = [encoding.rescore(scores, heads, heads, one, one) for one in (small, pos)]
    assert torch.equal(*content)
    assert torch.equal(*(encoding.mix(scores.softmax(-1), heads, one, one) for one in (small, pos)))


@pytest.mark.parametrize("name", ["alibi", "relative", "t5"])
def test_numbers_of_tokens_in_place_of_positions_are_refused(name):
    with pytest.raises(
        ValueError, match=r"positions must be tensors, see locant\.positions\. Got int"
    ):
        build(name).bias(10, 10)


def test_differences_of_lists_are_refused():
    with pytest.raises(ValueError, match=r"positions must be tensors.* Got list"):
        difference([1, 2], torch.arange(2))


@pytest.mark.parametrize("name", ["continuous", "fourier", "hybrid", "learned", "sinusoidal"])
@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_embeddings_of_eight_bits_are_refused_in_a_sentence(name, dtype):
    with pytest.raises(
        ValueError, match=rf"{name} cannot compute with {dtype}: cast to bfloat16 or float32 first"
    ):
        build(name).embed(torch.zeros(1, 3, 32).to(dtype), torch.arange(3))


def test_queries_and_values_of_eight_bits_are_refused_in_a_sentence():
    heads, pos = torch.zeros(1, 4, 3, 8), torch.arange(3)
    small, scores = heads.to(torch.float8_e4m3fn), heads @ heads.mT
    for call in (
        lambda: build("pope").rotate(small, small, pos, pos),
        lambda: build("shaw").rescore(scores, small, small, pos, pos),
        lambda: build("shaw").mix(scores, small, pos, pos),
    ):
        with pytest.raises(ValueError, match="cast to bfloat16 or float32 first"):
            call()


@pytest.mark.parametrize("width", [4, 12])
def test_shaw_refuses_values_that_are_not_as_wide_as_a_head(width):
    q, pos = torch.zeros(1, 4, 3, 8), torch.arange(3)
    with pytest.raises(
        ValueError, match=rf"as wide as a head to the values, 8, but the values are {width} wide"
    ):
        locant.attend(
            q, q, torch.zeros(1, 4, 3, width), encoding=build("shaw"), q_pos=pos, k_pos=pos
        )


@pytest.mark.parametrize("sides", ["symmetric", "causal", "two-sided"])
@pytest.mark.parametrize("heads", [4, 6])
def test_alibi_in_float64_is_exact_to_float64(sides, heads):
    encoding = locant.make("alibi", dim=8 * heads, heads=heads, sides=sides)
    pos = torch.arange(5, dtype=torch.float64) * 1e5 + 1 / 3
    bias = encoding.double().bias(pos, pos)
    assert bias.dtype == torch.float64
    delta = pos[:, None] - pos
    want = -encoding.slope[0] * (delta if sides == "causal" else delta.abs())
    if sides == "two-sided":
        want = torch.where(delta >= 0, want, encoding.slope[-1] * delta)
    torch.testing.assert_close(bias[0, 0], want, atol=0, rtol=1e-15)
    power = -8 * (1 / 4) if heads in (4, 6) else 0
    assert encoding.slope[0] == 2.0**power
    assert encoding.half().bias(pos, pos).dtype == torch.float32
    assert torch.promote_types(encoding.precision, torch.float32) == torch.float32
