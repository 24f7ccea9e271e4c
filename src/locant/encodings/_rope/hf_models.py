"""What a transformers config does not say of its model: how pairs lie, which layers turn, and what
it has instead of rotary.

Every model type that is read here was compared with the forward pass of transformers 5.22
(tests/encodings/test_hf_configs.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def _names(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


HALF = _names("""
    afmoe apertus arcee aria_text bamba beam bitnet cwm dbrx diffllama doge dots1 exaone4 exaone_moe
    falcon falcon_h1 flex_olmo flint gemma gemma2 gemma3_text gemma3n_text glm4_moe gpt_neox
    gpt_neox_japanese gpt_oss granite granite_swa granitemoe granitemoe_swa granitemoehybrid
    granitemoeshared hrm_text hunyuan_v1_dense hunyuan_v1_moe hy_v3 hy_v4 hyperclovax jais2 jetmoe
    kolibri1 laguna lfm2 lfm2_moe llama mellum mimo_v2_flash minicpm3 minimax minimax_m2 ministral
    ministral3 mistral mixtral modernbert-decoder moshi nemotron olmo olmo2 olmo3 olmo_hybrid olmoe
    persimmon phi phi3 phimoe qwen2 qwen2_moe qwen3 qwen3_5_moe_text qwen3_5_text qwen3_moe
    qwen3_next qwen4_exp_text seed_oss smollm3 solar_open stablelm starcoder2 vaultgemma zamba2 zaya
    """)
SAYS = frozenset(
    {"axk1", "deepseek_v3", "glm4_moe_lite", "youtu"}
)  # interleaved unless rope_interleave is false
INTERLEAVED = SAYS | _names("""
    axk2 bailing_hybrid codegen cohere cohere2 cohere2_moe deepseek_v2 deepseek_v32 ernie4_5
    ernie4_5_moe glm glm4 glm_moe_dsa gptj helium llama4_text longcat_flash roformer
    """)
OTHERWISE = {
    "nanochat": "turns by the negative of every angle.\n"
    '  Read it as a Llama, from_hf_config({**config.to_dict(), "model_type": "llama"}), and '
    "negate the positions.",
    "deepseek_v4": "turns the last dimensions of a head, and its compressed keys by a base of "
    "their own.\n"
    "  Use locant.make('rotary', …) on the part that turns.",
}

_LEARNED = "adds a learned table to its input.\n  Use locant.make('learned', …)."
_WAVES = "adds waves to its input.\n  Use locant.make('sinusoidal', …)."
_ALIBI = "adds a bias by distance to its scores.\n  Use locant.make('alibi', …)."
_T5 = "adds a learned bias by distance to its scores.\n  Use locant.make('t5', …)."
_NOTHING = "gives its attention no positions.\n  Use locant.make('none', …)."
_NO_ATTENTION = "has no attention between tokens, so there is nothing to encode positions for."
WITHOUT = {
    **dict.fromkeys(
        _names("""
        albert bart bert bert-generation big_bird bigbird_pegasus biogpt blenderbot blenderbot-small
        camembert data2vec-text distilbert electra ernie gpt-sw3 gpt2 gpt_bigcode gpt_neo longformer
        mbart megatron-bert mvp openai-gpt opt plbart prophetnet reformer rembert roberta
        roberta-prelayernorm roc_bert trocr whisper xlm xlm-roberta xlm-roberta-xl xmod
        """),
        _LEARNED,
    ),
    **dict.fromkeys(
        _names("ctrl marian musicgen_decoder musicgen_melody_decoder pegasus xglm"), _WAVES
    ),
    **dict.fromkeys(_names("bloom mpt"), _ALIBI),
    **dict.fromkeys(_names("cpmant longt5 mt5 switch_transformers t5 umt5"), _T5),
    **dict.fromkeys(_names("jamba kimi_linear nemotron_h zamba"), _NOTHING),
    **dict.fromkeys(_names("falcon_mamba mamba mamba2 rwkv xlstm"), _NO_ATTENTION),
    "inkling_text": "adds a bias by distance and content to its scores.\n"
    "  Use locant.make('inkling', …), or locant.hf.read_config.",
    "xlnet": "adds terms by distance to its scores.\n  Use locant.make('transformer_xl', …).",
}

SLIDING = _names(
    "afmoe cohere2 cohere2_moe exaone4 exaone_moe flint kolibri1"
)  # full attention turns nothing
SLIDING_OR_ALL = _names("exaone4 exaone_moe kolibri1")  # without a window every layer turns
SOME_LAYERS = _names("llama4_text smollm3")  # no_rope_layers, with 0 for a layer that turns nothing
# one set of rope parameters for each kind of layer
BY_KIND = _names(
    "beam gemma3_text gemma3n_text laguna mellum mimo_v2_flash modernbert-decoder olmo3 zaya"
)

_UNSAID = {  # what must be said because transformers puts a number of the model's own in its place
    "rope_theta": """
        apertus bailing_hybrid bitnet cohere cwm ernie4_5 ernie4_5_moe flex_olmo gpt_oss helium
        hy_v3 lfm2 lfm2_moe llama4_text longcat_flash minimax minimax_m2 ministral3 mixtral
        phimoe smollm3 solar_open
        """,
    "partial_rotary_factor": """
        bamba codegen glm glm4 glm4_moe gpt_neox gptj nemotron persimmon phi qwen3_5_moe_text
        qwen3_5_text qwen3_next stablelm
        """,
    "rope_type": "apertus cwm gpt_oss ministral3",
    "head_dim": """
        afmoe beam cohere2_moe cwm ernie4_5 flint gemma gemma2 gemma3_text gemma3n_text glm glm4
        gpt_oss helium hrm_text hy_v3 jetmoe kolibri1 laguna llama4_text mellum mimo_v2_flash
        minimax_m2 ministral3 qwen3 qwen3_5_moe_text qwen3_5_text qwen3_next qwen4_exp_text seed_oss
        solar_open vaultgemma zamba2
        """,
}
UNSAID = {key: _names(models) for key, models in _UNSAID.items()}

SECTIONS = {  # pairs take their positions from several axes, when mrope_section is there
    **dict.fromkeys(
        _names("""
        glm4v_moe_text glm4v_text glm_image_text glm_ocr_text paddleocr_vl_text qwen2_5_vl_text
        qwen2_vl_text
        """),
        "chunked",
    ),
    **dict.fromkeys(
        _names("""
        cohere_compass_text qwen3_5_moe_text qwen3_5_text qwen3_vl_moe_text qwen3_vl_text
        qwen4_exp_text
        """),
        "interleaved",
    ),
}
TEMPERED = frozenset({"ministral3"})  # queries grow with llama_4_scaling_beta

_ROPE_KEYS = ("rope_parameters", "rope_scaling", "rope_theta", "partial_rotary_factor")
OWN_KEYS = {  # keys that only these models heed
    "rotary_dim": frozenset({"codegen", "gptj", "minimax_m2"}),
    "rotary_pct": frozenset({"gpt_neox", "gpt_neox_japanese"}),
    "rotary_emb_base": frozenset({"gpt_neox", "gpt_neox_japanese"}),
    "rope_interleave": SAYS,
    "layer_rope_theta": frozenset({"granite_swa", "granitemoe_swa"}),
    "no_rope_layers": SOME_LAYERS,
    "use_mem_rope": frozenset({"zamba2"}),
    "alibi": frozenset({"falcon"}),
    "position_embedding_type": frozenset({"granitemoehybrid"}),
    "rotary_value": frozenset({"roformer"}),
}
UNHEEDED = {  # keys that these models do not heed
    "codegen": frozenset(_ROPE_KEYS),
    "gptj": frozenset(_ROPE_KEYS),
    "roformer": frozenset(_ROPE_KEYS),
    "bamba": frozenset({"partial_rotary_factor"}),
    "minimax_m3_vl_text": frozenset({"rotary_dim"}),
}


def refuse_other_encodings(config: Mapping[str, Any]) -> None:
    """Raise a ValueError if a config's model has no rotary encoding, or one of another kind."""
    model = config.get("model_type")
    instead = WITHOUT.get(str(model))
    if config.get("alibi"):
        instead = _ALIBI
    if model == "granitemoehybrid" and config.get("position_embedding_type") != "rope":
        instead = _NOTHING
    if model == "zamba2" and not config.get("use_mem_rope"):
        instead = _NOTHING
    if instead:
        who = f"this config (model_type {model!r})" if model else "this config"
        raise ValueError(f"{who} has no rotary encoding: its model {instead}")
    if model in OTHERWISE:
        raise ValueError(
            f"this config (model_type {model!r}) has a rotary encoding of another kind: it "
            f"{OTHERWISE[model]}"
        )


def pairing_of(config: Mapping[str, Any]) -> str:
    """How the pairs of a config's model lie; a ValueError if the model type is not known."""
    model = config.get("model_type")
    if model in SAYS or not model:
        return "interleaved" if config.get("rope_interleave", model in SAYS) else "half"
    if model in INTERLEAVED:
        return "interleaved"
    if model in HALF:
        return "half"
    raise ValueError(
        f"this config's model_type {model!r} is not among those that were compared with "
        "transformers.\n"
        "  If you know how its pairs lie, say so, and it is read as it says: "
        'from_hf_config(config, pairing="half") '
        'as in Llama, or pairing="interleaved" as in GPT-J.'
    )
