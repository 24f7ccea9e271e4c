"""Building the models of transformers small: random weights, a few layers, milliseconds a pass.

`tiny_config` makes a config of a model type from small sizes alone; `shrink` makes a given config
small and keeps what it says of positions.
"""

from __future__ import annotations

from typing import Any

SIZES: dict[str, Any] = {
    "vocab_size": 99,
    "vocab_size_per_layer_input": 99,
    "hidden_size": 64,
    "d_model": 64,
    "n_embd": 64,
    "embed_dim": 64,
    "num_hidden_layers": 6,
    "num_layers": 6,
    "n_layer": 6,
    "n_layers": 6,
    "decoder_layers": 2,
    "encoder_layers": 2,
    "num_attention_heads": 4,
    "num_heads": 4,
    "n_heads": 4,
    "n_head": 4,
    "decoder_attention_heads": 4,
    "encoder_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "kv_channels": 16,
    "d_kv": 16,
    "attention_head_dim": 16,
    "rotary_dim": 8,
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "qk_head_dim": 16,
    "v_head_dim": 16,
    "intermediate_size": 32,
    "ffn_hidden_size": 32,
    "ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "encoder_ffn_dim": 32,
    "moe_intermediate_size": 32,
    "shared_expert_intermediate_size": 32,
    "intermediate_size_mlp": 32,
    "expert_ffn_hidden_size": 32,
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "moe_num_experts": 4,
    "zero_expert_num": 2,
    "num_experts_per_tok": 2,
    "moe_topk": 2,
    "moe_k": 2,
    "n_group": 1,
    "topk_group": 1,
    "index_n_heads": 16,  # with few, index scores tie at 0, and a tie is broken by chance
    "index_head_dim": 16,
    "index_topk": 4,
    "mamba_d_head": 16,
    "mamba_n_heads": 8,
    "mamba_expand": 2,
    "mamba_d_ssm": 128,
    "mamba_num_heads": 8,
    "mamba_head_dim": 16,
    "n_mamba_heads": 2,
    "mamba_d_state": 16,
    "ssm_state_size": 16,
    "mamba_n_groups": 1,
    "mamba_ngroups": 1,
    "n_groups": 1,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
    "lru_width": 64,
    "max_position_embeddings": 64,
    "n_positions": 64,
    "n_ctx": 64,
    "max_seq_len": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
LATENT = ("head_dim", "qk_head_dim")  # what a config with qk_rope_head_dim derives
OWN: dict[
    str, dict[str, Any]
] = {  # what single architectures need beside, or otherwise: None leaves a size out
    "bailing_hybrid": {
        "n_group": 1,
        "topk_group": 1,
        "head_dim": 16,
        "num_key_value_heads": 4,
        "layer_group_size": 3,
        "num_experts_per_tok": 2,
    },
    "bamba": {"attn_layer_indices": [1, 4]},
    "cohere_compass_text": {
        "rope_parameters": {
            "full_attention": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [4, 2, 2],
                "mrope_interleaved": True,
            }
        }
    },
    "dbrx": {
        "attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0},
        "ffn_config": {"hidden_size": 64, "ffn_hidden_size": 32},
    },
    "distilbert": {"dim": 64, "hidden_dim": 32},
    "dots1": {"n_shared_experts": 1},
    "flaubert": {"emb_dim": 64, "n_words": 99},
    "gemma3n_text": {"num_kv_shared_layers": 0, "intermediate_size": None, "layer_types": None},
    **{
        name: {"rope_parameters": {"rope_theta": 10000.0, "mrope_section": [2, 3, 3]}}
        for name in ("glm4v_text", "glm_image_text", "glm_ocr_text", "qwen2_vl_text")
    },
    "qwen2_5_vl_text": {"rope_parameters": {"rope_theta": 10000.0, "mrope_section": [2, 3, 3]}},
    "glm4v_moe_text": {
        "rope_parameters": {
            "rope_theta": 10000.0,
            "partial_rotary_factor": 0.5,
            "mrope_section": [1, 1, 2],
        }
    },
    **{
        name: {"rope_parameters": {"rope_theta": 10000.0, "mrope_section": [4, 2, 2]}}
        for name in ("qwen3_vl_text", "qwen3_vl_moe_text")
    },
    "gpt_neo": {"attention_types": [[["global", "local"], 3]]},
    "granitemoehybrid": {
        "layer_types": ["linear_attention", "full_attention"] * 3,
        "position_embedding_type": "rope",
    },
    "kimi_linear": {"num_experts_per_token": 2, "num_experts_per_tok": 2},
    "laguna": {"layer_types": ["full_attention", "sliding_attention"] * 3},
    "lfm2": {"layer_types": ["conv", "full_attention"] * 3},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 3},
    "led": {"attention_window": 4},
    "longformer": {"attention_window": 4},
    "longcat_flash": {"head_dim": 8},
    "mamba2": {"num_heads": 8},
    "mellum": {"layer_types": ["full_attention", "sliding_attention"] * 3},
    "mimo_v2_flash": {"head_dim": 24},
    "ministral3": {
        "rope_parameters": {
            "rope_type": "yarn",
            "rope_theta": 1e6,
            "factor": 4.0,
            "original_max_position_embeddings": 16,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
            "llama_4_scaling_beta": 0.1,
        }
    },
    "llama4_text": {"floor_scale": 4},
    "mobilebert": {"embedding_size": 32, "intra_bottleneck_size": 32},
    "squeezebert": {"embedding_size": 64},
    "prophetnet": {"num_hidden_layers": None},
    "qwen4_exp_text": {
        "indexer_n_heads": 16,
        "indexer_kv_heads": 1,
        "indexer_head_dim": 16,
        "indexer_budget": 4,
        "indexer_compress_ratio": 2,
    },
    "reformer": {"is_decoder": True, "axial_pos_embds": False},
    "roformer": {"is_decoder": True},
    "xlm": {"emb_dim": 64, "n_words": 99},
    "xlnet": {"max_position_embeddings": None},
    "xlstm": {"qk_head_dim": None, "v_head_dim": None},
    "zamba": {"layers_block_type": ["linear_attention", "hybrid"] * 3},
    "zamba2": {
        "layers_block_type": ["linear_attention", "hybrid"] * 3,
        "use_mem_rope": True,
        "attention_head_dim": None,
        "head_dim": None,
    },
    "zaya": {
        "num_experts_per_tok": 1,
        "layer_types": ["hybrid", "hybrid_sliding"] * 3,
        "sliding_window": 4,
    },
}


# what `shrink` leaves as a config has it: the widths and lengths that its positions go by
WIDTHS = frozenset(
    (
        *("head_dim", "kv_channels", "d_kv", "attention_head_dim", "rotary_dim"),
        *("qk_rope_head_dim", "qk_nope_head_dim", "qk_head_dim", "v_head_dim"),
        *("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len"),
        *("pad_token_id", "bos_token_id", "eos_token_id"),
    )
)
TOKEN_IDS = ("pad_token_id", "bos_token_id", "eos_token_id")


def causal_types() -> list[str]:
    """List the model types that transformers has a causal language model for."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return sorted(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)


def config_class(model_type: str) -> Any:
    """Return the config class of a model type."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    return CONFIG_MAPPING[model_type]


def sizes_for(model_type: str) -> dict[str, Any]:
    """Return the small sizes in the words of one model type's config."""
    sizes = _known_sizes(model_type) | OWN.get(model_type, {})
    own = getattr(config_class(model_type), "pad_token_id", None)
    if isinstance(own, int) and 0 <= own < SIZES["vocab_size"]:
        sizes["pad_token_id"] = own  # positions of RoBERTa start behind it
    return {key: value for key, value in sizes.items() if value is not None}


def _known_sizes(model_type: str) -> dict[str, Any]:
    """Return those of SIZES that the config class of a model type has, under its own words."""
    cls = config_class(model_type)
    has = {*dir(cls), *getattr(cls, "__dataclass_fields__", ()), *cls.attribute_map.values()}
    plain = {key for key in has if not isinstance(getattr(cls, key, None), property)}
    plain -= set(cls.attribute_map)
    sizes = {key: value for key, value in SIZES.items() if key in plain}
    if "qk_rope_head_dim" in sizes and "kv_lora_rank" in sizes:
        sizes = {key: value for key, value in sizes.items() if key not in LATENT}
        sizes["num_key_value_heads"] = 4
    return sizes


def tiny_config(model_type: str, **more: Any) -> Any:
    """Build a config of a model type from small sizes; `more` goes before them."""
    return config_class(model_type)(**{**sizes_for(model_type), **more})


def shrink(config: Any) -> Any:
    """Return a small config of the same model type that says the same of its positions.

    Widths of heads, lengths and rope parameters stay; layers, heads, the vocabulary and the widths
    between are cut. Lists with an entry for each layer are cut to the layers that are left.
    """
    config = config.get_text_config(decoder=True)
    values = config.to_dict()
    layers, heads = config.num_hidden_layers, config.num_attention_heads
    sizes = {key: size for key, size in _known_sizes(config.model_type).items() if key in values}
    small = {key: min(values[key] or size, size) for key, size in sizes.items() if _cut(key, size)}
    width = values.get("head_dim") or config.hidden_size // heads
    if "head_dim" in values:
        small["head_dim"] = width
    for key in {"hidden_size", "d_model", "n_embd"} & set(small):
        small[key] = min(4, heads) * width
    if small.get("num_key_value_heads") and values["num_key_value_heads"] == heads:
        small["num_key_value_heads"] = min(4, heads)
    left = min(layers, SIZES["num_hidden_layers"])
    for key, value in values.items():
        if isinstance(value, list) and len(value) == layers:
            small[key] = value[:left]
    if values.get("per_layer_config"):
        own = values["per_layer_config"].items()
        small["per_layer_config"] = {key: value for key, value in own if int(key) < left}
    for key in TOKEN_IDS:
        token = values.get(key)
        if isinstance(token, int) and token >= SIZES["vocab_size"]:
            small[key] = SIZES[key]
    return type(config).from_dict({**values, **small})


def _cut(key: str, size: Any) -> bool:
    return key not in WIDTHS and isinstance(size, int)
