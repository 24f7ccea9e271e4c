"""What is read from a transformers config: what its model does, or nothing."""

import copy
import math
import re
from collections import Counter

import pytest
import torch
from transformers import DbrxConfig, GPTJConfig, JetMoeConfig

from locant.encodings._rope.hf_models import (
    BY_KIND,
    HALF,
    INTERLEAVED,
    OTHERWISE,
    OWN_KEYS,
    SLIDING,
    SOME_LAYERS,
    UNSAID,
    WITHOUT,
)
from locant.encodings.rotary import Rotary
from tiny_models import causal_types, run, sizes_for, tiny_config

LINEAR = {"rope_type": "linear", "factor": 2.0, "rope_theta": 5000.0}
YARN = {
    "rope_type": "yarn",
    "factor": 4.0,
    "original_max_position_embeddings": 16,
    "rope_theta": 5000.0,
    "mscale": 1.0,
    "mscale_all_dim": 0.5,
}


def read(config):
    """The encoding that is read, or the words with which it is refused."""
    try:
        return Rotary.from_hf_config(config)
    except ValueError as refusal:
        return str(refusal)


def differences(rotary, seen, layers=None):
    """How the encoding differs from what the model did, in words; nothing if they are equal."""
    told = [turn for turn in seen.turns if layers is None or turn.layer in layers]
    still = [layer for layer, turned in seen.layers.items() if not turned and layers is None]
    if not told:
        return "the model turns nothing"
    if still:
        return f"{len(still)} of {len(seen.layers)} attentions turn nothing"
    width = min(x.shape[-1] for turn in told for x in turn.before)
    if rotary.width > width:
        return f"turns {rotary.width} dimensions instead of {width}"
    furthest = max(_distance(rotary, turn, seen.positions) for turn in told)
    return "" if furthest < 1e-4 else f"off by {furthest:.2g}"


def _distance(rotary, turn, positions):
    """The largest difference after one rotary step. A model may lay its pairs out anew: the scores
    do not see that."""
    ours = [rotary.rotate(x, x, positions, positions)[0] for x in turn.before]
    sorted_pairs = [torch.cat([x[..., 0::2], x[..., 1::2]], -1) for x in ours]
    return min(
        max((x - y).abs().max().item() for x, y in zip(laid, turn.after, strict=True))
        for laid in (ours, sorted_pairs)
    )


def variants(model_type):
    """A tiny config as it is, and with scalings where it has one flat set of rope parameters."""
    yield "as it is", {}
    rope = getattr(tiny_config(model_type), "rope_parameters", None)
    if rope and "rope_theta" in rope:
        kept = {key: value for key, value in rope.items() if key == "partial_rotary_factor"}
        yield "linear", {"rope_parameters": {**LINEAR, **kept}}
        yield "yarn", {"rope_parameters": {**YARN, **kept}}


def outcomes(model_type):
    """What becomes of every variant of a model type, as an object, as its dict and as it is written
    in a file."""
    plain = None
    for variant, more in variants(model_type):
        try:
            config = tiny_config(model_type, **copy.deepcopy(more))
        except Exception as problem:
            yield variant, "object", f"no tiny config: {problem}", "not asked"
            continue
        written = {"model_type": config.model_type, **sizes_for(model_type), **more}
        forms = {"object": read(config), "dict": read(config.to_dict()), "written": read(written)}
        if "describes several models" in str(forms["object"]) and "describes several models" in str(
            forms["dict"]
        ):
            yield variant, "object", "several models, refused", forms["object"]
            return
        try:
            seen = run(config)
        except Exception as problem:
            judged = {form: f"not built: {type(problem).__name__}: {problem}" for form in forms}
        else:
            plain = plain or seen
            judged = {form: judge(got, seen, plain) for form, got in forms.items()}
        for form, got in forms.items():
            yield variant, form, judged[form], got


def judge(got, seen, plain):
    if isinstance(got, str):
        return "refused, turns" if seen.turns else "refused, turns nothing"
    if seen.scalings != plain.scalings:
        return "the model multiplies its scores by another number, too"
    return differences(got, seen) or "equal"


@pytest.mark.slow
def test_every_causal_model_is_read_as_it_turns_or_refused():
    counts, wrong, unbuilt = Counter(), [], {}
    for model_type in causal_types():
        try:
            rows = list(outcomes(model_type))
        except Exception as problem:
            unbuilt[model_type] = f"no tiny config: {problem}"
            continue
        for variant, form, outcome, got in rows:
            if outcome.startswith("no"):
                unbuilt[f"{model_type}, {variant}"] = outcome
                outcome = "refused, not built" if isinstance(got, str) else f"read, but {outcome}"
            if not (outcome == "equal" or "refused" in outcome):
                wrong.append(f"{model_type}, {variant}, {form}: {outcome}")
                outcome = "wrong"
            counts[variant, form, outcome] += 1
        told = {form: str(got) for variant, form, _, got in rows if variant == "as it is"}
        if told.get("dict", told["object"]) != told["object"]:
            wrong.append(f"{model_type}: {told['object']} as an object, {told['dict']} as a dict")
    print(*(f"{count:4} {', '.join(key)}" for key, count in sorted(counts.items())), sep="\n")
    print(
        "Not built:",
        *(f"  {name}: {' '.join(why.split())[:120]}" for name, why in unbuilt.items()),
        sep="\n",
    )
    assert not wrong, f"{len(wrong)} are wrong:\n" + "\n".join(wrong)
    assert len(unbuilt) < 12, "too little was compared"
    assert counts["as it is", "object", "equal"] > 75, "too little was read"


@pytest.mark.slow
@pytest.mark.parametrize("model_type", sorted(SLIDING | SOME_LAYERS | BY_KIND))
def test_a_chosen_kind_of_layer_is_read_as_it_turns(model_type):
    config = tiny_config(model_type)
    seen, kinds = run(config), config.layer_types
    layers = {name: kinds[int(re.search(r"layers\.(\d+)\.", name)[1])] for name in seen.layers}
    assert isinstance(read(config), str)
    if model_type not in BY_KIND:
        choice = (
            {"no_rope_layers": [1]}
            if model_type in SOME_LAYERS
            else {"layer_types": ["sliding_attention"]}
        )
        turning = {name for name, turned in seen.layers.items() if turned}
        assert (
            differences(Rotary.from_hf_config({**config.to_dict(), **choice}), seen, turning) == ""
        )
        return
    for kind in set(layers.values()):
        rope = config.rope_parameters[kind]
        got = read({**config.to_dict(), "rope_parameters": rope})
        chosen = {name for name in layers if layers[name] == kind}
        if rope is None:
            assert isinstance(got, str)
        else:
            assert differences(got, seen, chosen) == ""


@pytest.mark.slow
def test_a_model_among_several_is_read_without_the_others():
    config = tiny_config("moshi")
    assert "to_dict() without these keys" in read(config)
    alone = {key: value for key, value in config.to_dict().items() if not key.endswith("_config")}
    assert differences(Rotary.from_hf_config(alone), run(config)) == ""


@pytest.mark.slow
def test_a_model_that_turns_the_other_way_is_a_llama_at_negative_positions():
    config = tiny_config("nanochat")
    seen = run(config)
    seen.positions = -seen.positions
    assert (
        differences(Rotary.from_hf_config({**config.to_dict(), "model_type": "llama"}), seen) == ""
    )


SIZES = {"hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 64}
LAYERS = {"full_attention": {"rope_theta": 1e6}, "sliding_attention": None}
LATENT = {**SIZES, "qk_rope_head_dim": 8}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            {"model_type": "opt"},
            "has no rotary encoding: its model adds a learned table.*\n.*make\\('learned'",
        ),
        ({"model_type": "jamba"}, "gives its attention no positions"),
        ({"model_type": "mamba"}, "no attention between tokens"),
        ({"model_type": "falcon", "alibi": True}, "make\\('alibi'"),
        ({"alibi": True}, "this config has no rotary encoding"),
        ({"model_type": "zamba2", "use_mem_rope": False}, "no positions"),
        ({"model_type": "granitemoehybrid"}, "no positions"),
        ({"model_type": "nanochat"}, "negative of every angle.*\n.*negate the positions"),
        ({"model_type": "brand_new"}, 'not among those that were compared.*\n.*pairing="half"'),
        (
            {"model_type": "gemma3", "text_config": {"model_type": "gemma3_text"}},
            "several models.*\n.*config.text_config",
        ),
        (
            {"model_type": "musicgen", "decoder": {"x": 1}, "text_encoder": {"x": 1}},
            "config.decoder",
        ),
        ({"model_type": "brand_new", "is_encoder_decoder": True}, "not among"),
        ({"is_encoder_decoder": True}, "an encoder and a decoder"),
        (
            {"model_type": "smollm3", "no_rope_layers": [1, 1, 1, 0]},
            "a 1 in no_rope_layers.*\n.*Choose one kind of layer",
        ),
        ({"model_type": "smollm3", "rope_theta": 2e6}, "a 1 in no_rope_layers"),
        (
            {"model_type": "cohere2", "layer_types": ["full_attention"]},
            'sliding attention.*\n.*\\["sliding_attention"\\]',
        ),
        (
            {"model_type": "cohere2", "layer_types": ["sliding_attention"], "sliding_window": None},
            "sliding attention",
        ),
        ({"model_type": "exaone4", "sliding_window": 4}, "sliding attention"),
        ({"rope_parameters": LAYERS}, "full_attention, sliding_attention \\(nothing turns\\)"),
        (
            {"model_type": "gemma3_text", "rope_theta": 1e6, "head_dim": 16},
            "its dict does not say them",
        ),
        (
            {"model_type": "granite_swa", "rope_theta": 1e4, "layer_rope_theta": [1e4, 0]},
            "layer_rope_theta: 0, 10000",
        ),
        (
            {"model_type": "llama", "per_layer_config": {"1": {"head_dim": 8}}},
            "settings of their own",
        ),
        ({"rope_local_base_freq": 10000.0}, "not understood: rope_local_base_freq=10000.0"),
        ({"global_rope_theta": 160000.0}, "not understood: global_rope_theta"),
        ({"rope_pct": 0.25}, "not understood: rope_pct"),
        ({"rope_ratio": 500}, "not understood: rope_ratio"),
        ({"use_dynamic_ntk": True}, "not understood: use_dynamic_ntk"),
        (
            {"position_embedding_type": "relative_key"},
            "not understood: position_embedding_type='relative_key'",
        ),
        ({"no_rope_layer_interval": 4}, "not understood: no_rope_layer_interval"),
        ({"model_type": "llama", "rotary_pct": 0.25}, "not understood for llama: rotary_pct"),
        (
            {"model_type": "gptj", "rotary_dim": 8, "rope_theta": 1e6},
            "not understood for gptj: rope_theta",
        ),
        (
            {"model_type": "roformer", "rotary_value": True},
            "not understood for roformer: rotary_value",
        ),
        (
            {"model_type": "mixtral"},
            "does not say rope_theta, for which mixtral has numbers of its own",
        ),
        ({"model_type": "qwen3"}, "does not say head_dim"),
        ({"model_type": "phi"}, "does not say partial_rotary_factor"),
        (
            {"num_attention_heads": [4, 8]},
            "another 'num_attention_heads' for each layer: \\[4, 8\\].*\n.*Choose one layer",
        ),
        (
            {"model_type": "dbrx", "attn_config": {"rope_theta": 5e5}},
            "for dbrx: attn_config.rope_theta=500000",
        ),
        ({"head_dim": [16, 8]}, "another 'head_dim' for each layer"),
        ({"qk_rope_head_dim": 8, "rope_scaling": YARN}, "multiplies every score by 1.14343"),
    ],
)
def test_a_config_that_cannot_be_read_right_is_refused(said, words):
    with pytest.raises(ValueError, match=words):
        Rotary.from_hf_config({**SIZES, **said})


@pytest.mark.parametrize(
    ("said", "pairing", "width"),
    [
        ({}, "half", 16),
        ({"rope_interleave": True}, "interleaved", 16),
        ({"model_type": "llama"}, "half", 16),
        ({"model_type": "llama", "alibi": False, "rope_scaling": None}, "half", 16),
        ({"model_type": "cohere", "rope_theta": 1e4}, "interleaved", 16),
        ({"model_type": "deepseek_v3", "qk_rope_head_dim": 8}, "interleaved", 8),
        ({"model_type": "deepseek_v3", "qk_rope_head_dim": 8, "rope_interleave": False}, "half", 8),
        ({"model_type": "gptj", "rotary_dim": 8}, "interleaved", 8),
        ({"model_type": "gpt_neox", "rotary_pct": 0.25}, "half", 4),
        ({"model_type": "exaone4", "sliding_window": None}, "half", 16),
        (
            {"model_type": "granite_swa", "rope_theta": 1e4, "layer_rope_theta": [1e4, 1e4]},
            "half",
            16,
        ),
    ],
)
def test_the_model_type_says_how_pairs_lie(said, pairing, width):
    got = Rotary.from_hf_config({**SIZES, **said})
    assert (got.pairing, got.width) == (pairing, width)


def test_a_pairing_that_is_given_reads_a_model_that_was_not_compared():
    config = {**SIZES, "model_type": "brand_new", "rope_theta": 5000.0}
    assert Rotary.from_hf_config(config, pairing="interleaved").pairing == "interleaved"
    assert Rotary.from_hf_config(config, pairing="half").base == 5000.0
    with pytest.raises(ValueError, match="not understood for brand_new: rope_ratio"):
        Rotary.from_hf_config({**config, "rope_ratio": 2}, pairing="half")
    with pytest.raises(ValueError, match="has no rotary encoding"):
        Rotary.from_hf_config({**SIZES, "model_type": "opt"}, pairing="half")


def test_models_with_words_of_their_own_are_read_alike_as_object_and_dict():
    for config in (
        GPTJConfig(n_embd=64, n_head=4, n_positions=64, rotary_dim=8),
        DbrxConfig(d_model=64, n_heads=4, max_seq_len=64),
        JetMoeConfig(hidden_size=64, num_key_value_heads=2, kv_channels=16),
    ):
        got = Rotary.from_hf_config(config)
        assert got.shape.head == 16
        assert repr(got) == repr(Rotary.from_hf_config(config.to_dict()))


def test_a_second_scale_can_be_moved_out_of_the_config():
    with pytest.raises(ValueError, match=r"mscale_all_dim=0\.5, factor=4") as refusal:
        Rotary.from_hf_config({**LATENT, "rope_scaling": YARN})
    tables, scores = (0.1 * strength * math.log(4) + 1 for strength in (1.0, 0.5))
    assert f"{scores**2:.10g}" in str(refusal.value)
    assert f"{tables / scores:.10g}" in str(refusal.value)
    moved = {key: value for key, value in YARN.items() if "mscale" not in key}
    got = Rotary.from_hf_config(
        {**LATENT, "rope_scaling": {**moved, "attention_factor": tables / scores}}
    )
    assert got.scale == pytest.approx(Rotary.from_hf_config({**SIZES, "rope_scaling": YARN}).scale)


def test_no_model_type_stands_in_two_tables():
    tables = [HALF, INTERLEAVED, frozenset(WITHOUT), frozenset(OTHERWISE)]
    assert sum(map(len, tables)) == len(frozenset().union(*tables))
    for some in (SLIDING, SOME_LAYERS, BY_KIND, *UNSAID.values(), *OWN_KEYS.values()):
        assert some <= HALF | INTERLEAVED
