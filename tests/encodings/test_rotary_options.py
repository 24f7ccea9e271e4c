"""Sections, proportional frequencies, bases by axis and query temperatures: against the modules of
models that have them, and what is refused."""

import pytest
import torch
from torch.testing import assert_close
from transformers import LlamaConfig, Ministral3Config, Qwen2VLTextConfig, Qwen3VLTextConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama4.configuration_llama4 import Llama4TextConfig
from transformers.models.llama4.modeling_llama4 import Llama4TextAttention
from transformers.models.ministral3 import modeling_ministral3 as ministral3
from transformers.models.qwen2_vl import modeling_qwen2_vl as qwen2
from transformers.models.qwen3_vl import modeling_qwen3_vl as qwen3
from x_transformers import x_transformers as xt

import locant
from locant.attention import explicit
from timm_layers import timm_layer

NEAR = {"rtol": 1e-5, "atol": 5e-5}  # the references compute their angles in float32
SIZES = {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 16}


def qk(tokens=6, width=16):
    return torch.randn(2, 4, tokens, width), torch.randn(2, 4, tokens, width)


@pytest.mark.parametrize(
    ("config_class", "rotary", "module", "layout"),
    [
        (Qwen2VLTextConfig, qwen2.Qwen2VLRotaryEmbedding, qwen2, "chunked"),
        (Qwen3VLTextConfig, qwen3.Qwen3VLTextRotaryEmbedding, qwen3, "interleaved"),
    ],
    ids=["qwen2-vl", "qwen3-vl"],
)
@pytest.mark.parametrize("yarn", [False, True])
def test_sections_turn_as_in_qwen(config_class, rotary, module, layout, yarn):
    scaled = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
    parameters = {
        **(scaled if yarn else {"rope_type": "default"}),
        "rope_theta": 5000.0,
        "mrope_section": [4, 2, 2],
    }
    config = config_class(**SIZES, max_position_embeddings=64, rope_parameters=parameters)
    pos = torch.randint(0, 200, (2, 6, 3))  # (B, T, axes): t ≠ h ≠ w
    (q, k), scaling = qk(), {"type": "yarn", "factor": 4.0, "original_length": 16}
    theirs = module.apply_rotary_pos_emb(q, k, *rotary(config)(q, pos.movedim(-1, 0)))
    ours = locant.make(
        "rotary",
        dim=64,
        heads=4,
        base=5000.0,
        sections=[4, 2, 2],
        section_layout=layout,
        scaling=scaling if yarn else None,
    )
    assert ours.axes == 3
    assert_close(ours.rotate(q, k, pos, pos), theirs, **NEAR)


def test_interleaved_sections_turn_as_in_timm():
    timm = timm_layer("pos_embed_sincos")
    reference = timm.RotaryEmbeddingMRope(16, mrope_section=(2, 3, 3))
    grid = locant.positions.grid(3, 4)
    pos = torch.cat([torch.zeros(12, 1, dtype=torch.long), grid], -1)
    q, k = qk(tokens=12)
    table = reference.get_embed([3, 4])
    theirs = tuple(timm.apply_rot_embed_cat(x, table, half=True) for x in (q, k))
    ours = locant.make(
        "rotary", dim=64, heads=4, sections=[3, 3, 2], section_layout="interleaved"
    )  # what (2, 3, 3) comes to over eight pairs
    assert_close(ours.rotate(q, k, pos, pos), theirs, **NEAR)


def test_rope_mixed_starts_and_turns_as_in_timm():
    timm = timm_layer("pos_embed_sincos")
    torch.manual_seed(3)
    reference = timm.RotaryEmbeddingMixed(64, depth=1, num_heads=4, grid_indexing="ij")
    torch.manual_seed(3)
    ours = locant.make("rope_mixed", dim=64, heads=4, axes=2, pairing="interleaved")
    assert_close(ours.frequency, reference.freqs[:, 0])
    q, k = qk(tokens=12)
    table = reference.get_embed([3, 4])[0]  # (H, N, 2d)
    theirs = tuple(timm.apply_rot_embed_cat(x, table) for x in (q, k))
    pos = locant.positions.grid(3, 4)
    assert_close(ours.rotate(q, k, pos, pos), theirs, **NEAR)


@pytest.mark.parametrize("start", [0, 70])
def test_xpos_has_the_scores_of_x_transformers_and_keeps_them_in_a_cache(start):
    (q, k), pos = qk(tokens=40), torch.arange(start, start + 40)
    angles, scale = xt.RotaryEmbedding(16, use_xpos=True, scale_base=20)(pos)
    turned = (
        xt.apply_rotary_pos_emb(q, angles, scale),
        xt.apply_rotary_pos_emb(k, angles, 1 / scale),
    )
    ours = locant.make("xpos", dim=64, heads=4, pairing="interleaved", length=200, scale_base=20.0)
    scores = explicit(q, k, k, encoding=ours, q_pos=pos, k_pos=pos).scores
    assert_close(scores, turned[0] @ turned[1].mT / 4, rtol=1e-4, atol=1e-3)
    later = explicit(q[:, :, -1:], k, k, encoding=ours, q_pos=pos[-1:], k_pos=pos).scores
    assert_close(later, scores[:, :, -1:])  # a step of decoding: the keys are turned as before


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: locant.make("xpos", dim=16, length=10**6), "which leaves the range of float32"),
        (lambda: locant.make("xpos", dim=16, scale_base=0), "above 0 for scale_base"),
        (
            lambda: locant.make("xpos", dim=16, length=8192).precompute(
                torch.arange(3), torch.arange(3), torch.float16
            ),
            "use bfloat16 or float32",
        ),
        (
            lambda: locant.make("rope_mixed", dim=16, axes=3),
            r"axes=1 .*axes=2 with a multiple of 4",
        ),
        (lambda: locant.make("rope_mixed", dim=12, heads=2, axes=2), "multiple of 4"),
        (lambda: locant.make("rope_mixed", dim=15, heads=3), "even head width"),
    ],
)
def test_what_xpos_and_rope_mixed_cannot_do_is_refused_in_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("factor", [1.0, 4.0])
@pytest.mark.parametrize("share", [0.25, 0.5, 0.6, 1.0])
def test_proportional_frequencies_are_those_of_transformers(share, factor):
    parameters = {
        "rope_type": "proportional",
        "rope_theta": 1e6,
        "partial_rotary_factor": share,
        "factor": factor,
    }
    config = LlamaConfig(**SIZES, rope_parameters=parameters)
    theirs, scale = ROPE_INIT_FUNCTIONS["proportional"](config)
    scaling = {"type": "proportional", "share": share, "factor": factor}
    ours = locant.make("rotary", dim=64, heads=4, base=1e6, scaling=scaling)
    assert_close(ours.frequencies().float(), theirs, rtol=2e-6, atol=0.0)
    assert ours.scale == scale == 1.0


def weights_and_projections(attention, x, **arguments):
    """The attention weights of a model's layer, and its queries and keys (B, H, T, d)."""
    weights = attention(x, attention_mask=None, **arguments)[1]
    return weights, [
        project(x).unflatten(-1, (4, 16)).transpose(1, 2)
        for project in (attention.q_proj, attention.k_proj)
    ]


def test_far_queries_grow_as_in_ministral_3():
    parameters = {
        "rope_type": "yarn",
        "rope_theta": 5000.0,
        "factor": 4.0,
        "original_max_position_embeddings": 16,
        "llama_4_scaling_beta": 0.7,
    }
    config = Ministral3Config(**SIZES, rope_parameters=parameters, attn_implementation="eager")
    layer = ministral3.Ministral3Attention(config, 0).eval()
    x, pos = torch.randn(2, 6, 64), torch.tensor([[0, 15, 16, 40, 90, 200], [3, 9, 7, 100, 31, 32]])
    table = ministral3.Ministral3RotaryEmbedding(config)(x, pos)
    theirs, (q, k) = weights_and_projections(layer, x, position_embeddings=table, position_ids=pos)
    ours = locant.make(
        "rotary",
        dim=64,
        heads=4,
        base=5000.0,
        scaling={"type": "yarn", "factor": 4.0, "original_length": 16},
        query_temperature={"beta": 0.7, "length": 16},
    )
    assert_close(explicit(q, k, k, encoding=ours, q_pos=pos, k_pos=pos).weights, theirs, **NEAR)


def test_layers_of_llama_4_that_do_not_turn_grow_far_queries():
    config = Llama4TextConfig(
        **SIZES,
        num_hidden_layers=4,
        no_rope_layers=[1, 1, 1, 0],
        floor_scale=8,
        attn_scale=0.7,
        attn_implementation="eager",
    )
    layer, x, pos = Llama4TextAttention(config, 3).eval(), torch.randn(2, 40, 64), torch.arange(40)
    theirs, (q, k) = weights_and_projections(layer, x, position_embeddings=None)
    settings = {"beta": 0.7, "length": 8, "offset": 1}
    ours = locant.make("none", dim=64, heads=4, query_temperature=settings)
    assert_close(explicit(q, k, k, encoding=ours, q_pos=pos, k_pos=pos).weights, theirs, **NEAR)


REFUSED = [
    (
        {"sections": [16, 24, 24]},
        r"sections=\[16, 24, 24\], chunked, but the rotated width 16 has 8",
    ),
    ({"sections": [2, 3, 3], "section_layout": "interleaved"}, r"they stand for \[3, 3, 2\]"),
    ({"sections": [8]}, r"number of pairs of each axis for sections, such as \[16, 24, 24\]. Got"),
    ({"sections": "4,2,2"}, "Got '4,2,2' instead"),
    ({"sections": [9, -1, 0]}, "at least 0 for sections. Got -1"),
    ({"sections": [4, 2, 2], "axes": 2}, "axes=2 and 3 sections"),
    ({"sections": [4, 2, 2], "base": [1e4, 1e3, 1e2]}, "sections share one row of frequencies"),
    ({"sections": [4, 2, 2], "section_layout": "chunk"}, "Did you mean 'chunked'"),
    ({"base": [1e4, 1e3]}, "there are axes=1"),
    ({"base": [1e4, 1e3, 1e2], "axes": 2}, "as many numbers as there are axes"),
    ({"base": [1e4, -1.0], "axes": 2}, "above 0 for base. Got -1.0"),
    ({"base": "10000"}, "above 0 for base. Got '10000'"),
    ({"scaling": {"type": "proportional", "share": 0.0}}, "above 0 for share"),
    ({"scaling": {"type": "proportional", "share": 1.5}}, "above 0 and at most 1. Got 1.5"),
    ({"scaling": {"type": "proportional", "share": 0.1}}, "share of at least 0.125"),
    ({"query_temperature": 0.1}, 'Write {"beta": 0.1, "length": 8192, "offset": 1}'),
    ({"query_temperature": {"beta": 0.1}}, r"needs more: .*length"),
    ({"query_temperature": {"beta": 0.1, "lenth": 8}}, "Did you mean 'length'"),
    ({"query_temperature": {"beta": -0.1, "length": 8}}, "above 0 for beta"),
    ({"query_temperature": {"beta": 0.1, "length": 0}}, "at least 1 for length"),
    ({"query_temperature": {"beta": 0.1, "length": 8}, "axes": 2}, "one number a position"),
]


@pytest.mark.parametrize(("options", "words"), REFUSED)
def test_options_that_make_no_sense_are_refused_in_a_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        locant.make("rotary", dim=64, heads=4, **options)


CERTIFIED = {
    "chunked": {"sections": [2, 1, 1]},
    "interleaved": {"sections": [2, 1, 1], "section_layout": "interleaved"},
    "bases": {"axes": 2, "base": [10_000.0, 100.0]},
    "proportional": {"scaling": {"type": "proportional", "share": 0.5}},
    "temperature": {"query_temperature": {"beta": 0.1, "length": 8, "offset": 1}},
}
QUICK = ("given", "shift", "distinct", "precision", "rows", "offset", "fused", "cache", "bounded")
QUICK += ("smooth",)


@pytest.mark.parametrize("options", CERTIFIED.values(), ids=list(CERTIFIED))
def test_rotary_with_these_options_fails_nothing_and_is_built_again(options):
    encoding = locant.make("rotary", dim=16, heads=2, length=64, **options)
    assert locant.certify(encoding, only=list(QUICK)).fails == []
    again = locant.make(**encoding.config())
    assert again.config() == encoding.config()
