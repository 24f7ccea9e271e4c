"""One encoding for each layer, as the model of a config has it; or a refusal with the reason."""

import importlib

import pytest
import torch
import transformers
from transformers.models.auto import modeling_auto as auto

from locant import hf
from locant.encodings import Alibi, Deberta, Inkling, Learned, Nothing, Rotary
from locant.hf.checkpoints.loading import config_from_dict
from locant.hf.checkpoints.tiny import tiny_config
from locant.hf.reading.architectures import build_small, examine, survey, text_types
from locant.hf.reading.families import AXIAL, ROTARY, TABLE
from locant.hf.reading.proof import Blank, prove
from locant.hf.reading.rotary_layers import read_rotary
from locant.hf.reading.substitution import substituted

EVERYDAY = (
    *("albert", "bert", "bloom", "cohere2", "deepseek_v3", "gemma3_text", "gemma4_text", "glm"),
    *("gpt2", "gpt_neox", "gptj", "llama", "llama4_text", "ministral3", "modernbert", "mpt"),
    "muse_spark_text",
    *("olmo3", "opt", "phi3", "qwen2_vl_text", "qwen3_vl_text", "roberta", "smollm3", "t5"),
)


@pytest.mark.parametrize("model_type", EVERYDAY)
def test_a_model_runs_to_the_same_logits_with_what_was_read(model_type):
    seen = examine(model_type)
    assert seen.outcome == "read", seen.words
    assert seen.comparison.proven, seen


@pytest.mark.slow
def test_every_text_architecture_is_read_rightly_or_refused():
    found = list(survey())
    compared = [seen for seen in found if seen.comparison is not None]
    wrong = [f"{seen.model_type}: {seen}" for seen in compared if not seen.comparison.proven]
    assert not wrong, "\n".join(wrong)
    assert len(compared) > 170
    inner = {seen.words.rpartition(" ")[2] for seen in found if seen.words.startswith("its text")}
    assert inner <= {seen.model_type for seen in compared}
    unbuilt = [seen.model_type for seen in found if seen.outcome == "not built"]
    assert len(unbuilt) < 8, unbuilt
    assert len(found) == len(text_types()) > 240


def rotary_tables(config):
    """The frequencies and scales of the rotary modules that a config's modeling file has."""
    modeling = importlib.import_module(type(config).__module__.replace("configuration", "modeling"))
    found = []
    for name, part in vars(modeling).items():
        if not name.endswith("RotaryEmbedding") or "Vision" in name:
            continue
        module = part(config)
        for buffer, table in module.named_buffers():
            if buffer.endswith("inv_freq") and "original" not in buffer:
                scale = getattr(module, buffer.replace("inv_freq", "attention_scaling"), 1.0)
                found.append((table.double(), scale))
    return found


@pytest.mark.slow
def test_angles_of_full_size_configs_are_those_of_their_modules():
    """Tiny configs have few layers and narrow heads; larger ones could be read otherwise."""
    without = {"codegen", "gptj", "roformer"}  # compute their angles elsewhere
    # defaults that cannot be built or are refused; Gemma 3n may need torchvision
    unread = {"cohere_compass_text", "gemma3n_text", "glm4_moe", "minimax_m3_vl_text"}
    compared = 0
    for model_type in sorted(ROTARY - without - unread):
        config = transformers.CONFIG_MAPPING[model_type]()
        tables = rotary_tables(config)
        for encoding in set(hf.read_config(config)):
            if isinstance(encoding, Rotary):
                theta = encoding.frequencies()
                assert any(
                    table.shape == theta.shape
                    and torch.allclose(table, theta, rtol=1e-5, atol=1e-12)
                    and scale == pytest.approx(encoding.scale)
                    for table, scale in tables
                ), f"{model_type}: {encoding}"
                compared += 1
    assert compared > 120


@pytest.mark.slow
def test_with_nothing_in_its_place_an_encoder_knows_no_order():
    """So nothing else that tells positions was passed over. Longformer's windows are a mask."""
    checked = []
    for model_type in sorted(set(auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES) & (TABLE | ROTARY)):
        config = tiny_config(model_type, is_decoder=False)
        if config.is_encoder_decoder or model_type == "longformer":
            continue
        config.architectures = [auto.MODEL_FOR_MASKED_LM_MAPPING[type(config)].__name__]
        model = build_small(config)
        ids, order = torch.randint(5, 90, (2, 8)), torch.randperm(8)
        positions = torch.arange(8).expand(2, 8)
        blank = [Blank(encoding) for encoding in hf.read(model)]
        with torch.no_grad(), substituted(model, blank, positions):
            moved = model(input_ids=ids[:, order]).logits - model(input_ids=ids).logits[:, order]
        assert moved.abs().max() < 1e-5, model_type
        checked.append(model_type)
    assert len(checked) > 25


def test_layers_that_turn_alike_share_one_encoding():
    layers = hf.read_config(tiny_config("gemma3_text"))
    assert len({id(layer) for layer in layers}) == 2
    assert [layer.base for layer in layers] == [1e4] * 5 + [1e6]


def test_a_layer_may_have_settings_of_its_own():
    layers = hf.read_config(tiny_config("gemma4_text"))
    assert [layer.width for layer in layers] == [16] * 5 + [512]
    whole = hf.read_config(transformers.Gemma4TextConfig(num_hidden_layers=12))
    assert [layer.width for layer in whole] == ([256] * 5 + [512]) * 2
    wider = hf.read_config(tiny_config("llama", per_layer_config={1: {"head_dim": 8}}))
    assert [layer.width for layer in wider] == [16, 8, 16, 16, 16, 16]


def test_layers_without_rope_have_no_positions_and_llama_4_has_a_temperature_there():
    layers = hf.read_config(tiny_config("llama4_text", attn_scale=0.1, floor_scale=8192))
    assert [type(layer) for layer in layers] == [Rotary] * 3 + [Nothing] + [Rotary] * 2
    assert layers[3].temperature(torch.tensor([16383])).item() == pytest.approx(1.109861, abs=1e-6)
    plain = hf.read_config(tiny_config("llama4_text", attn_temperature_tuning=False))
    assert plain[3].temperature(torch.tensor([16383])) is None


def test_roberta_is_a_table_whose_positions_start_behind_the_padding_id():
    config = transformers.RobertaConfig(vocab_size=99, hidden_size=32, num_attention_heads=4)
    table = hf.read_config(config)[0]
    assert (type(table), table.table.shape) == (Learned, (512, 32))
    model = transformers.RobertaModel(tiny_config("roberta", pad_token_id=1))
    assert hf.first_position(model) == 2


def test_a_dict_a_file_and_an_object_are_read_alike(tmp_path):
    config = tiny_config("modernbert")
    config.to_json_file(tmp_path / "config.json")
    forms = (config, config.to_dict(), tmp_path / "config.json", tmp_path)
    described = {str(hf.read_config(form)) for form in forms}
    assert len(described) == 1


@pytest.mark.parametrize("said", ["absolute", "sans_pos"])
@pytest.mark.parametrize("model_type", ["modernbert", "modernbert-decoder"])
def test_a_modernbert_is_read_as_its_published_config_stands(model_type, said):
    values = tiny_config(model_type).to_dict()
    plain = str(hf.read_config(values))
    assert str(hf.read_config({**values, "position_embedding_type": said})) == plain


def test_reading_a_dict_leaves_it_as_it_was():
    rope = {"type": "mrope", "mrope_section": [4, 2, 2]}
    values = tiny_config("qwen2_vl_text").to_dict()
    values = {key: value for key, value in values.items() if key != "rope_parameters"}
    values |= {"rope_theta": 1e4, "rope_scaling": rope}
    hf.read_config(values)
    assert rope == {"type": "mrope", "mrope_section": [4, 2, 2]}


def test_the_text_model_of_a_larger_model_is_read():
    config = transformers.Gemma3Config()
    assert str(hf.read_config(config)) == str(hf.read_config(config.text_config))


def test_bloom_pays_for_distance():
    config = transformers.BloomConfig(hidden_size=64, n_head=8, n_layer=2)
    first, second = hf.read_config(config)
    assert isinstance(first, Alibi)
    assert first is second
    assert first.slope[:3].tolist() == [0.5, 0.25, 0.125]


@pytest.mark.parametrize("heads", [4, 6])
def test_falcon_divides_its_bias_as_its_scores(heads):
    config = tiny_config("falcon", alibi=True, num_attention_heads=heads, hidden_size=16 * heads)
    model = build_small(config)
    encodings = hf.read(model)
    assert isinstance(encodings[0], Alibi)
    assert prove(model, encodings).proven


NESTED = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
YARN = {**NESTED, "rope_theta": 1e4}
NESTED |= {"rope_theta": 1e4, "truncate": False}
RELATIVE = {
    "relative_attention": True,
    "position_biased_input": False,
    "pos_att_type": ["p2c", "c2p"],
}
BUCKETS = {**RELATIVE, "position_buckets": 8, "max_relative_positions": 24}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"model_type": "llama_of_tomorrow"}, "knows no model_type 'llama_of_tomorrow'"),
        ({"model_type": "own", "auto_map": {"AutoModel": "own.Model"}}, "code of its own"),
        ({"hidden_size": 64}, "does not say its model_type"),
        ({"model_type": "mamba"}, "no attention between tokens"),
        ({"model_type": "ministral3", "rope_parameters": YARN}, "llama_4_scaling_beta"),
        ({"model_type": "deberta-v2", "relative_attention": True}, "position_biased_input=true"),
        (
            {"model_type": "deberta-v2", **RELATIVE, "pos_att_type": "c2p"},
            "pos_att_type=..c2p",
        ),
        ({"model_type": "deberta", **RELATIVE, "talking_head": True}, "talking_head=true"),
        ({"model_type": "inkling_text", "log_scaling_n_floor": 8192}, "log_scaling_n_floor=8192"),
        ({"model_type": "xlnet"}, "transformer_xl"),
        ({"model_type": "mpnet"}, "relative_attention_num_buckets"),
        ({"model_type": "tapas"}, "reset_position_index_per_cell"),
        (
            {"model_type": "bert", "position_embedding_type": "relative_key_query"},
            "position_embedding_type='relative_key_query'",
        ),
        (
            {"model_type": "modernbert", "position_embedding_type": "relative_key"},
            "position_embedding_type='relative_key'",
        ),
        ({"model_type": "mpt", "attn_config": {"alibi": False}}, "attn_config.alibi=False"),
        ({"model_type": "mpt", "attn_config": {"alibi_bias_max": 16}}, "alibi_bias_max=16"),
        (
            {"model_type": "olmo3", "rope_parameters": {"full_attention": NESTED}},
            "full_attention say truncate: false",
        ),
        (
            {"model_type": "deepseek_v3", "rope_parameters": {**NESTED, "mscale_all_dim": 1.0}},
            "multiplies every score.*mscale_all_dim=1.0",
        ),
        (
            {
                "model_type": "llama",
                "rope_parameters": {"rope_type": "default", "mrope_section": [1]},
            },
            "not understood: mrope_section",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_name(config, words):
    with pytest.raises(ValueError, match=words):
        hf.read_config(config)


def test_what_is_no_config_is_refused():
    with pytest.raises(ValueError, match="Got int instead"):
        hf.read_config(3)
    with pytest.raises(ValueError, match="Got Linear instead"):
        hf.read(torch.nn.Linear(2, 2))


def test_sections_take_their_positions_from_three_axes():
    config = config_from_dict(
        {
            "model_type": "qwen3_5_text",
            "head_dim": 64,
            "num_hidden_layers": 4,
            "rope_parameters": {
                "rope_theta": 1e7,
                "partial_rotary_factor": 0.25,
                "mrope_section": [4, 2, 2],
                "mrope_interleaved": True,
            },
        }
    )
    turning = [layer for layer in read_rotary(config) if isinstance(layer, Rotary)]
    assert turning[0].sections == (4, 2, 2)
    assert turning[0].section_layout == "interleaved"
    assert turning[0].width == 16


@pytest.mark.parametrize("model_type", sorted(AXIAL))
def test_a_vision_tower_turns_height_and_width_as_its_own_module_does(model_type):
    config = transformers.CONFIG_MAPPING[model_type]()
    encoding = hf.read_config(config)[0]
    modeling = importlib.import_module(type(config).__module__.replace("configuration", "modeling"))
    (rotary,) = [
        part
        for name, part in vars(modeling).items()
        if name.endswith("RotaryEmbedding") and hasattr(part, "compute_axial_rope_parameters")
    ]
    patches = torch.tensor([[0, 1], [3, 2], [5, 9], [7, 0]])
    x = torch.randn(4, encoding.shape.heads, encoding.shape.head)  # (T, H, d)
    cosine, sine = rotary(config)(x, patches)
    theirs, _ = modeling.apply_rotary_pos_emb_vision(x, x, cosine, sine)
    rows = x.transpose(0, 1)[None]  # (1, H, T, d)
    ours, _ = encoding.rotate(rows, rows, patches, patches)
    assert torch.allclose(ours[0].transpose(0, 1), theirs, atol=2e-6)


@pytest.mark.parametrize(
    ("model_type", "more", "kind"),
    [
        ("esm", {"position_embedding_type": "rotary"}, Rotary),
        ("esm", {"position_embedding_type": "absolute"}, Learned),
        ("deberta-v2", {"relative_attention": False}, Learned),
        (
            "deberta-v2",
            {**RELATIVE, "max_relative_positions": 12},
            Deberta,
        ),  # distances are clipped
        ("deberta-v2", {**BUCKETS, "share_att_key": True, "norm_rel_ebd": "layer_norm"}, Deberta),
        ("deberta-v2", {**BUCKETS, "share_att_key": False, "conv_kernel_size": 3}, Deberta),
        ("deberta", {**RELATIVE, "max_relative_positions": 12}, Deberta),
        ("inkling_text", {"rel_extent": 8, "sliding_window_size": 5}, Inkling),
    ],
)
def test_a_key_decides_what_a_model_has(model_type, more, kind):
    model = build_small(tiny_config(model_type, **more))
    encodings = hf.read(model)
    assert type(encodings[0]) is kind
    assert prove(model, encodings).proven
