"""Causal models of transformers, built tiny, with what goes into their rotary step and what comes
out of it."""

import contextlib
import importlib
import inspect
import re
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import Tensor

TOKENS = 7
POSITIONS = torch.tensor([[0, 1, 2, 3, 4, 5, 6], [3, 4, 9, 10, 30, 31, 40]])
SIZES = {
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
    "index_n_heads": 2,
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
OWN = {  # what single architectures need beside, or otherwise: None leaves a size out
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
        "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 10000.0}}
    },
    "dbrx": {"attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0}},
    "dots1": {"n_shared_experts": 1},
    "gemma3n_text": {"num_kv_shared_layers": 0, "intermediate_size": None, "layer_types": None},
    "gpt_neo": {"attention_types": [[["global", "local"], 3]]},
    "granitemoehybrid": {
        "layer_types": ["linear_attention", "full_attention"] * 3,
        "position_embedding_type": "rope",
    },
    "kimi_linear": {"num_experts_per_token": 2, "num_experts_per_tok": 2},
    "laguna": {"layer_types": ["full_attention", "sliding_attention"] * 3},
    "lfm2": {"layer_types": ["conv", "full_attention"] * 3},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 3},
    "longcat_flash": {"head_dim": 8},
    "mamba2": {"num_heads": 8},
    "mellum": {"layer_types": ["full_attention", "sliding_attention"] * 3},
    "mimo_v2_flash": {"head_dim": 24},
    "prophetnet": {"num_hidden_layers": None},
    "qwen4_exp_text": {
        "indexer_n_heads": 2,
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


def causal_types():
    """The model types that transformers has a causal model for."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return sorted(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)


def config_class(model_type):
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    return CONFIG_MAPPING[model_type]


def sizes_for(model_type):
    """The small sizes in the words of one config."""
    cls = config_class(model_type)
    has = {*dir(cls), *getattr(cls, "__dataclass_fields__", ()), *cls.attribute_map.values()}
    plain = {key for key in has if not isinstance(getattr(cls, key, None), property)} - set(
        cls.attribute_map
    )
    said = {key: value for key, value in SIZES.items() if key in plain}
    if "qk_rope_head_dim" in said and "kv_lora_rank" in said:
        said = {key: value for key, value in said.items() if key not in LATENT} | {
            "num_key_value_heads": 4
        }
    said |= OWN.get(model_type, {})
    return {key: value for key, value in said.items() if value is not None}


def tiny_config(model_type, **more):
    return config_class(model_type)(**sizes_for(model_type), **more)


@dataclass
class Turn:
    """One use of a model's rotary step: queries and keys (or one of them) before and after, each
    (B, H, T, d)."""

    layer: str
    before: list[Tensor]
    after: list[Tensor]


@dataclass
class Seen:
    """What one forward pass showed."""

    positions: Tensor
    turns: list[Turn] = field(default_factory=list)
    layers: dict[str, bool] = field(
        default_factory=dict
    )  # every attention over tokens, and whether it turned
    scalings: list[float] = field(
        default_factory=list
    )  # what the scores are multiplied by, layer by layer


TURNS = re.compile(r"^apply_rotary(_pos)?_emb(_interleave)?$")
ATTENDS = re.compile(r"Attentions?$|Attn$|MLA$")
OTHERWISE = re.compile(
    r"Lightning|Linear|Delta|Mamba|Rwkv"
)  # attention without scores between tokens
ASIDE = re.compile(r"Indexer|Compressor")  # chooses tokens, with a rotary step of its own


def run(config):
    """Build the model of a config, run it on a few tokens and tell what its rotary step did."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

    cls = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    asked = inspect.signature(cls.forward).parameters
    seen = Seen(POSITIONS if "position_ids" in asked else torch.arange(TOKENS).expand(2, TOKENS))
    given = {
        "input_ids": torch.randint(3, 90, (2, TOKENS), generator=torch.Generator().manual_seed(0))
    }
    given |= {"position_ids": POSITIONS} if "position_ids" in asked else {}
    given |= {"use_cache": False} if "use_cache" in asked else {}
    inside = []
    with _watched(importlib.import_module(cls.__module__), seen, inside), torch.no_grad():
        config._attn_implementation = "eager"
        with torch.device("meta"):
            weights = sum(weight.numel() for weight in cls(config).parameters())
        if weights > 20_000_000:
            raise MemoryError(f"{weights:,} weights with the small sizes")
        torch.manual_seed(0)
        model = cls(config).eval()
        _hook(model, seen, inside)
        if hasattr(model, "set_default_language"):
            model.set_default_language("en_XX")
        model(**given)
    return seen


def _hook(model, seen, inside):
    for name, part in model.named_modules():
        kind = type(part).__name__
        if not (ATTENDS.search(kind) or ASIDE.search(kind)):
            continue
        if ATTENDS.search(kind) and not OTHERWISE.search(kind):
            seen.scalings.append(getattr(part, "scaling", None))
        part.register_forward_pre_hook(partial(_enter, name, kind, seen, inside))
        part.register_forward_hook(partial(_leave, inside))


def _enter(name, kind, seen, inside, *_):
    inside.append((name, kind))
    if ATTENDS.search(kind) and not OTHERWISE.search(kind):
        seen.layers.setdefault(name, False)


def _leave(inside, *_):
    inside.pop()


@contextlib.contextmanager
def _watched(module, seen, inside):
    """Note what goes into the rotary functions of a modeling module, and what comes out."""
    kept = []

    def watch(owner, name, function, skip=0):
        def noted(*args, **kwargs):
            result = function(*args, **kwargs)
            after = [
                x for x in (result if isinstance(result, tuple) else (result,)) if x is not None
            ]
            given = [x for x in (*args, *kwargs.values()) if torch.is_tensor(x)][
                skip : skip + len(after)
            ]
            if inside and not ASIDE.search(inside[-1][1]):
                seen.turns.append(
                    Turn(inside[-1][0], [_rows(x) for x in given], [_rows(x) for x in after])
                )
                seen.layers.update({layer: True for layer, _ in inside})
            return result

        kept.append((owner, name, vars(owner)[name]))
        setattr(owner, name, noted)

    for name, value in list(vars(module).items()):
        if TURNS.match(name):
            watch(module, name, value)
        elif inspect.isclass(value) and "apply_rotary_position_embeddings" in vars(value):
            watch(
                value,
                "apply_rotary_position_embeddings",
                value.apply_rotary_position_embeddings,
                skip=1,
            )
            value.apply_rotary_position_embeddings = staticmethod(
                vars(value)["apply_rotary_position_embeddings"]
            )
    try:
        yield
    finally:
        for owner, name, value in kept:
            setattr(owner, name, value)


def _rows(x):
    """A copy with the tokens in the last dimension but one."""
    return (x if x.shape[-2] == TOKENS else x.transpose(1, 2)).detach().clone()
