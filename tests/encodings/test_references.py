"""Every encoding that another library has too: the same numbers as there."""

import copy
import math

import positional_encodings.torch_encodings as pe
import pytest
import rotary_embedding_torch as ret
import torch
from PoPE_pytorch import PoPE
from torch.testing import assert_close
from transformers import GPTNeoXConfig, LlamaConfig, Phi3Config, PhiConfig, T5Config
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXRotaryEmbedding
from transformers.models.gpt_neox.modeling_gpt_neox import apply_rotary_pos_emb as turn_a_part
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb
from transformers.models.phi.modeling_phi import PhiRotaryEmbedding
from transformers.models.phi3.modeling_phi3 import Phi3RotaryEmbedding
from transformers.models.t5.modeling_t5 import T5Attention
from x_transformers import x_transformers as xt

import locant
from locant.attention import explicit
from locant.encodings.rotary import Rotary

NEAR = {"rtol": 1e-5, "atol": 5e-5}  # the references compute their angles in float32
ROWS = torch.tensor(
    [[0, 1, 2, 3, 4, 5], [90, 7, 8, 3, 150, 11]]
)  # (B, T): each row has its own positions
SIZES = {"hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 64}


def qk(heads=4, groups=4, tokens=6, width=16):
    return torch.randn(2, heads, tokens, width), torch.randn(2, groups, tokens, width)


def rope(kind, original=None, **settings):
    return {
        "rope_type": kind,
        **({"original_max_position_embeddings": original} if original else {}),
        **settings,
    }


LISTS = {
    "short_factor": [1.0 + c / 8 for c in range(8)],
    "long_factor": [2.0 + c for c in range(8)],
}
ROPES = {
    "default": rope("default"),
    "linear": rope("linear", factor=4.0),
    "dynamic": rope("dynamic", factor=2.0),
    "yarn": rope("yarn", 16, factor=4.0),
    "yarn, betas": rope(
        "yarn", 512, factor=6.0, beta_fast=16.0, beta_slow=2.0, attention_factor=0.7
    ),
    "yarn, not truncated": rope("yarn", 512, factor=6.0, truncate=False),
    "yarn, DeepSeek": rope("yarn", 2048, factor=40.0, mscale=1.0, mscale_all_dim=0.5),
    "longrope": rope("longrope", 16, **LISTS),
    "longrope, all said": rope("longrope", 32, **LISTS, factor=8.0, attention_factor=1.3),
    "llama3": rope("llama3", 32, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0),
}


@pytest.mark.parametrize("length", [1, 64, 200])
@pytest.mark.parametrize("said", [name for name in ROPES if name != "default"])
def test_frequencies_and_scale_are_those_of_transformers(said, length):
    config = LlamaConfig(**SIZES, rope_parameters={**ROPES[said], "rope_theta": 5000.0})
    frequencies, scale = ROPE_INIT_FUNCTIONS[ROPES[said]["rope_type"]](config, seq_len=length)
    settings = {key: value for key, value in ROPES[said].items() if key != "rope_type"}
    old = {
        **SIZES,
        "rope_theta": 5000.0,
        "rope_scaling": {"type": ROPES[said]["rope_type"], **settings},
    }
    for told in (config, config.to_dict(), old):
        ours = Rotary.from_hf_config(told)
        assert_close(ours.frequencies(length).float(), frequencies, rtol=2e-6, atol=0.0)
        assert ours.scale == pytest.approx(scale, rel=1e-12)


@pytest.mark.parametrize("said", ROPES)
def test_llama_turns_queries_and_grouped_keys_to_the_same_vectors(said):
    config = LlamaConfig(
        **SIZES, num_key_value_heads=2, rope_parameters={**ROPES[said], "rope_theta": 5000.0}
    )
    q, k = qk(groups=2)
    for pos in (ROWS, ROWS[:1].expand(2, 6)):  # past the original length, and within it
        theirs = apply_rotary_pos_emb(q, k, *LlamaRotaryEmbedding(config)(q, pos))
        assert_close(Rotary.from_hf_config(config).rotate(q, k, pos, pos), theirs, **NEAR)
    scores = theirs[0] @ theirs[1].repeat_interleave(2, 1).mT / math.sqrt(16)
    ours = explicit(q, k, k, encoding=Rotary.from_hf_config(config), q_pos=ROWS[0], k_pos=ROWS[0])
    assert_close(ours.scores, scores, **NEAR)


YARN8 = {
    "rope_parameters": {
        **rope("yarn", 16, factor=4.0, rope_theta=5000.0),
        "partial_rotary_factor": 0.5,
    }
}
PHI3 = {
    "original_max_position_embeddings": 16,
    "rope_scaling": {"type": "longrope", **LISTS},
    "pad_token_id": 0,
}
OTHERS = {
    "neox": (
        GPTNeoXRotaryEmbedding,
        GPTNeoXConfig,
        {"rotary_pct": 0.25, "rotary_emb_base": 5000.0},
        4,
    ),
    "phi": (PhiRotaryEmbedding, PhiConfig, {"partial_rotary_factor": 0.5, "rope_theta": 5000.0}, 8),
    "phi with yarn": (PhiRotaryEmbedding, PhiConfig, YARN8, 8),
    "phi3 with longrope": (Phi3RotaryEmbedding, Phi3Config, PHI3, 16),
}


@pytest.mark.parametrize("model", OTHERS)
def test_models_with_words_of_their_own_turn_the_same_part_to_the_same_vectors(model):
    rotary, config_class, said, width = OTHERS[model]
    config, (q, k) = config_class(**SIZES, **copy.deepcopy(said)), qk()
    theirs = turn_a_part(q, k, *rotary(config)(q, ROWS))
    for told in (config, {**SIZES, **said}):
        ours = Rotary.from_hf_config(told)
        assert (ours.width, ours.shape) == (width, locant.Shape(64, 4, 64))
        assert_close(ours.rotate(q, k, ROWS, ROWS), theirs, **NEAR)


def test_su_is_the_old_name_of_longrope():
    old, new = ({**SIZES, "rope_scaling": rope(kind, 16, **LISTS)} for kind in ("su", "longrope"))
    assert Rotary.from_hf_config(old).scaling == Rotary.from_hf_config(new).scaling


def test_a_head_width_that_is_said_goes_before_one_that_is_derived():
    assert Rotary.from_hf_config({**SIZES, "head_dim": 32}).shape == locant.Shape(128, 4, 64)
    assert Rotary.from_hf_config({**SIZES, "head_dim": None}).shape == locant.Shape(64, 4, 64)
    assert Rotary.from_hf_config(LlamaConfig(**SIZES, head_dim=32)).width == 32


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (
            {**SIZES, "rope_scaling": {"type": "yarn", "factor": 4.0, "beta": 3}},
            "not understood: beta",
        ),
        (
            {**SIZES, "rope_parameters": rope("default", mrope_section=[2, 3, 3])},
            "not understood: mrope_section",
        ),
        (
            {**SIZES, "rope_scaling": {"type": "linear", "factor": 2.0, "beta_fast": 32}},
            "not understood: beta_fast",
        ),
        ({**SIZES, "rope_scaling": {"type": "yarm", "factor": 4.0}}, "Did you mean 'yarn'"),
        ({**SIZES, "rope_parameters": rope("pi")}, "Allowed: default, linear, dynamic"),
        (
            {**SIZES, "rope_parameters": {"full": rope("default"), "sliding": rope("default")}},
            "kind of layer: full, sliding",
        ),
        ({"hidden_size": 64, "max_position_embeddings": 64}, "num_attention_heads"),
        ("llama", "a transformers config or its dict is needed"),
    ],
)
def test_a_config_that_is_not_understood_is_refused(config, words):
    with pytest.raises(ValueError, match=words):
        Rotary.from_hf_config(config)


@pytest.mark.parametrize(
    ("lacking", "settings"),
    [
        ("factor", rope("linear")),
        ("factor", rope("dynamic")),
        ("factor", rope("llama3", 32, low_freq_factor=1.0, high_freq_factor=4.0)),
        ("low_freq_factor", rope("llama3", 32, factor=8.0, high_freq_factor=4.0)),
        ("short_factor", rope("longrope", 16, factor=8.0, long_factor=[2.0] * 8)),
    ],
)
def test_a_config_that_lacks_a_setting_of_its_scaling_is_refused(lacking, settings):
    with pytest.raises(
        ValueError, match=lacking
    ):  # transformers has no number for these either: a KeyError
        Rotary.from_hf_config({**SIZES, "rope_scaling": settings})


@pytest.mark.parametrize("width", [16, 8])
@pytest.mark.parametrize(
    ("theirs", "scaling"),
    [
        ({}, None),
        ({"interpolate_factor": 4.0}, {"type": "linear", "factor": 4.0}),
        ({"theta_rescale_factor": 4.0}, {"type": "ntk", "factor": 4.0}),
    ],
)
def test_interleaved_pairs_turn_as_in_rotary_embedding_torch(theirs, scaling, width):
    q, k = qk()
    ours = locant.make(
        "rotary", dim=64, heads=4, width=width, pairing="interleaved", scaling=scaling, base=5000.0
    )
    reference = ret.RotaryEmbedding(width, theta=5000.0, **theirs)
    turned = reference.rotate_queries_or_keys(q, offset=70), reference.rotate_queries_or_keys(k)
    assert_close(ours.rotate(q, k, torch.arange(70, 76), torch.arange(6)), turned, **NEAR)


@pytest.mark.parametrize("sizes", [(3, 4), (2, 3, 4)])
def test_axes_turn_as_in_rotary_embedding_torch(sizes):
    pos, width = locant.positions.grid(*sizes), 4 * len(sizes)
    q, k = qk(tokens=len(pos), width=width)
    angles = ret.RotaryEmbedding(4).get_axial_freqs(*sizes).reshape(len(pos), width)
    ours = locant.make("rotary", dim=4 * width, heads=4, axes=len(sizes), pairing="interleaved")
    turned = ret.apply_rotary_emb(angles, q), ret.apply_rotary_emb(angles, k)
    assert_close(ours.rotate(q, k, pos, pos), turned, **NEAR)


@pytest.mark.parametrize("width", [16, 6])
def test_interleaved_pairs_turn_as_in_x_transformers(width):
    q, k = qk()
    angles, scale = xt.RotaryEmbedding(width)(ROWS)
    turned = tuple(xt.apply_rotary_pos_emb(x, angles, scale) for x in (q, k))
    ours = locant.make("rotary", dim=64, heads=4, width=width, pairing="interleaved")
    assert_close(ours.rotate(q, k, ROWS, ROWS), turned, **NEAR)


@pytest.mark.parametrize("width", [16, 8])
@pytest.mark.parametrize(("here", "there"), [("interleaved", "half"), ("half", "interleaved")])
def test_permuted_weights_give_the_other_pairing_the_same_scores(here, there, width):
    x, to_q, to_k = (
        torch.randn(2, 6, 24),
        torch.randn(64, 24),
        torch.randn(32, 24),
    )  # four heads, two key heads

    def scores(to_q, to_k, pairing):
        q, k = (
            (x @ to.T).unflatten(-1, (-1, 16)).transpose(1, 2) for to in (to_q, to_k)
        )  # (B, H, T, d)
        enc = locant.make("rotary", dim=64, heads=4, width=width, pairing=pairing)
        return explicit(q, k, k, encoding=enc, q_pos=ROWS, k_pos=ROWS).scores

    moved_q = locant.permute_for_pairing(to_q, heads=4, to=there, width=width)
    moved_k = locant.permute_for_pairing(to_k, heads=2, to=there, width=width)
    assert_close(scores(moved_q, moved_k, there), scores(to_q, to_k, here), **NEAR)
    assert (
        scores(to_q, to_k, there) - scores(to_q, to_k, here)
    ).abs().max() > 1  # which the pairing alone does not
    assert torch.equal(locant.permute_for_pairing(moved_q, heads=4, to=here, width=width), to_q)
    assert torch.equal(locant.permute_for_pairing(moved_k, heads=2, to=here, width=width), to_k)


def test_pope_has_the_scores_of_pope_pytorch():
    q, k = qk()
    ours, reference = locant.make("pope", dim=64, heads=4), PoPE(16, heads=4)
    ours.delta.data = reference.bias.data = (
        torch.rand(4, 16) * -8.0 + 0.5
    )  # some are outside [−2π, 0] and are clamped
    for pos in (torch.arange(6), torch.tensor([40, 41, 50, 3, 0, 9])):
        turned_q, turned_k = PoPE.apply_pope_to_qk(
            reference(pos), q, k
        )  # the bias turns keys there, queries here
        theirs = turned_q @ turned_k.mT / math.sqrt(16)
        assert_close(
            explicit(q, k, k, encoding=ours, q_pos=pos, k_pos=pos).scores,
            theirs,
            rtol=1e-5,
            atol=1e-5,
        )


@pytest.mark.parametrize("sides", ["both", "behind"])
@pytest.mark.parametrize(
    ("buckets", "furthest"), [(32, 128), (32, 1024), (8, 20), (10, 100), (33, 500), (64, 2048)]
)
def test_every_distance_falls_into_the_bucket_of_t5(buckets, furthest, sides):
    options = {"buckets": buckets, "max_distance": furthest, "sides": sides}
    offsets = torch.arange(-3000, 3001)
    theirs = T5Attention._relative_position_bucket(offsets, sides == "both", buckets, furthest)
    assert torch.equal(locant.make("t5", dim=64, heads=4, **options).bucket(offsets), theirs)


@pytest.mark.parametrize("sides", ["both", "behind"])
def test_t5_has_the_bias_of_transformers_and_x_transformers(sides):
    ours = locant.make("t5", dim=64, heads=4, sides=sides, std=1.0)
    config = T5Config(d_model=64, num_heads=4, is_decoder=sides == "behind")
    hugging = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    other = xt.RelativePositionBias(scale=1.0, causal=sides == "behind", heads=4)
    hugging.relative_attention_bias.weight.data = other.relative_attention_bias.weight.data = (
        ours.table.data
    )
    bias = ours.bias(torch.arange(100, 300), torch.arange(300))
    assert torch.equal(bias[0], other(200, 300))
    assert torch.equal(
        ours.bias(torch.arange(200), torch.arange(300)), hugging.compute_bias(200, 300)
    )


@pytest.mark.parametrize("heads", range(1, 17))
def test_alibi_has_the_weights_of_bloom_and_the_bias_of_x_transformers(heads):
    (q, k), pos = qk(heads, heads, tokens=20), torch.arange(20)
    bloom = build_alibi_tensor(
        torch.ones(1, 20), heads, torch.float32
    )  # (H, 1, K): a row's constant is free
    hidden = torch.ones(20, 20, dtype=torch.bool).triu(1)
    weights = (q @ k.mT / math.sqrt(16) + bloom).masked_fill(hidden, -math.inf).softmax(-1)
    for sides in ("symmetric", "causal"):
        ours = locant.make("alibi", dim=16 * heads, heads=heads, sides=sides)
        assert_close(
            explicit(q, k, k, encoding=ours, q_pos=pos, k_pos=pos, causal=True).weights, weights
        )
    ours, theirs = locant.make("alibi", dim=heads, heads=heads), xt.AlibiPositionalBias(heads)
    assert_close(ours.bias(pos[15:], pos)[0], theirs(5, 20))
    assert_close(ours.bias(ROWS, 2 * ROWS), theirs.forward_custom_pos(ROWS, 2 * ROWS))


@pytest.mark.parametrize(
    ("sizes", "widths"),
    [((50,), range(2, 40, 2)), ((5, 7), range(1, 30)), ((3, 4, 5), range(1, 30))],
)
def test_sinusoidal_has_the_waves_of_positional_encodings(sizes, widths):
    reference = {
        1: pe.PositionalEncoding1D,
        2: pe.PositionalEncoding2D,
        3: pe.PositionalEncoding3D,
    }[len(sizes)]
    pos = torch.arange(50) if len(sizes) == 1 else locant.positions.grid(*sizes)
    for width in widths:
        theirs = reference(width)(torch.zeros(1, *sizes, width)).reshape(len(pos), width)
        assert_close(
            locant.make("sinusoidal", dim=width, axes=len(sizes)).vectors(pos).float(),
            theirs,
            **NEAR,
        )


@pytest.mark.parametrize("width", [1, 3, 7, 21])
def test_an_odd_width_of_positional_encodings_is_the_next_even_one_cut(width):
    """Its frequencies are base^(−2c/(D+1)), ours base^(−2c/D) as in the paper: equal only in the
    first pair."""
    theirs = pe.PositionalEncoding1D(width)(torch.zeros(1, 50, width))[0]
    ours, even = (
        locant.make("sinusoidal", dim=d).vectors(torch.arange(50)).float()
        for d in (width, width + 1)
    )
    assert_close(even[:, :width], theirs, **NEAR)
    assert_close(ours[:, :2], theirs[:, :2], **NEAR)
    assert width == 1 or (ours[:, 2:] - theirs[:, 2:]).abs().max() > 0.1


@pytest.mark.parametrize("queries", [1, 5, 9])
def test_cope_is_the_module_of_x_transformers_on_masked_logits(queries):
    """There q·e is not divided by √d, so our vectors are √d times as large."""
    ours = locant.make("cope", dim=64, heads=4, max_position=3)
    theirs = xt.CoPE(16, 4, max_pos=4)
    theirs.pos_emb.data = torch.randn(4, 16)
    ours.vectors.data = 4 * theirs.pos_emb.data
    q, k = torch.randn(2, 4, queries, 16), torch.randn(2, 4, 9, 16)
    pos = torch.arange(9)
    real = torch.ones(2, 1, 1, 9, dtype=torch.bool)
    real[1, ..., :3] = False  # padding on the left
    order = torch.ones(queries, 9, dtype=torch.bool).tril(9 - queries)
    may_see = real & order
    logits = (q @ k.mT / 4).masked_fill(~may_see, -torch.finfo(torch.float32).max)
    want = (logits + theirs(q, logits)).softmax(-1) * may_see  # theirs are not 0 where none is seen
    given = {"q_pos": pos[9 - queries :], "k_pos": pos, "causal": True, "mask": real}
    assert_close(explicit(q, k, k, encoding=ours, **given).weights, want, **NEAR)
