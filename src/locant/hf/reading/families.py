"""What each model type of transformers does with positions, beside what its config says.

`encodings/_rope/hf_models.py` lists the causal models that turn queries and keys; here are the
others: encoders, towers of larger models, models with tables, waves or biases, and those that no
encoding of locant stands for. Every model type that is read was compared with transformers 5.22
(docs/architectures.md).
"""

from __future__ import annotations

from typing import Any

from locant.encodings._rope.hf_models import HALF, INTERLEAVED


def _names(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


ROTARY_HALF = HALF | _names("""
    cohere_compass_text embedding_gemma2_text eurobert gemma4_text gemma4_unified_text gte
    jina_embeddings_v3 ministral3 minimax_m3_vl_text modernbert molmo2_text muse_spark_text
    neomme nomic_bert ultrabert
    glm_image_text qwen2_5_vl_text qwen2_vl_text qwen3_vl_moe_text
    qwen3_vl_text
    """)
ROTARY_INTERLEAVED = INTERLEAVED | _names("glm4v_text glm_ocr_text openai_privacy_filter")
ROTARY = ROTARY_HALF | ROTARY_INTERLEAVED

# vision towers whose pairs go to height, then to width
AXIAL = _names("""
    cohere_compass_vision ernie4_5_vl_moe_vision glm4v_moe_vision glm4v_vision glm_ocr_vision
    qwen2_5_vl_vision qwen2_vl_vision qwen3_5_moe_vision qwen3_5_vision qwen3_vl_moe_vision
    qwen3_vl_vision
    """)

# a table of vectors, one a position, added to the input: learned, or waves that were written down
TABLE = _names("""
    albert bart bert bert-generation big_bird bigbird_pegasus biogpt blenderbot blenderbot-small
    camembert data2vec-text distilbert electra ernie flaubert fsmt gpt-sw3 gpt2 gpt_bigcode gpt_neo
    led longformer m2m_100 marian mbart megatron-bert mvp nllb-moe openai-gpt opt
    pegasus plbart rembert roberta roberta-prelayernorm roc_bert squeezebert trocr xglm xlm
    xlm-roberta xlm-roberta-xl xmod yoso
    """)
ALIBI = _names("bloom mpt")
T5_BIAS = _names("mt5 switch_transformers t5 umt5")
NOTHING = _names("jamba kimi_linear nemotron_h zamba")

_NO_ATTENTION = "it has no attention between tokens, so there is nothing to encode positions for."
_OWN_ORDER = "its layers know the order of tokens by other means than an encoding: "
REFUSED: dict[str, str] = {
    **dict.fromkeys(("falcon_mamba", "mamba", "mamba2", "rwkv", "xlstm"), _NO_ATTENTION),
    "fnet": _OWN_ORDER + "it mixes tokens by a Fourier transform and has no attention.",
    "convbert": _OWN_ORDER + "convolutions between tokens stand beside its attention.",
    "nystromformer": _OWN_ORDER + "a convolution over the values stands beside its attention.",
    "mra": _OWN_ORDER + "its attention is approximated by blocks of neighbors.",
    "mobilebert": _OWN_ORDER + "each token is joined with its neighbors (trigram_input).",
    "perceiver": "its tokens are read through latents, and positions belong to its preprocessors.",
    "funnel": "its tokens are pooled from block to block, and its relative attention with them.",
    "reformer": "it hashes tokens into buckets and adds axial tables.",
    "prophetnet": "it adds a table to its input and learned biases for several predicted streams.",
    "mpnet": "it has both a table at its input and a T5 bias in its scores "
    "(relative_attention_num_buckets).\n  Use locant.make('learned', …) and locant.make('t5', …).",
    "layoutlm": "it adds tables for where words are on a page (max_2d_position_embeddings).",
    "luke": "its entities have positions of their own, means over the tokens they span.",
    "tapas": "its positions start anew in every cell of a table (reset_position_index_per_cell).",
    "longt5": "its blocks of keys and global tokens have biases of their own "
    "(encoder_attention_type).",
    "cpmant": "its buckets also tell segments apart (segment_types).\n"
    "  locant.make('t5', …) is near to it.",
    "xlnet": "it adds terms by distance to its scores.\n  Use locant.make('transformer_xl', …).",
    "nanochat": "it turns by the negative of every angle.\n  Read it as a Llama and negate the "
    "positions.",
    "deepseek_v4": "it turns the last dimensions of a head, and its compressed keys by a base of "
    "their own.\n  Use locant.make('rotary', …) on the part that turns.",
    "ibert": "its table is quantized, with a scale that travels beside the vectors (quant_mode).",
    "kimi_k25_vision": "its pairs take height and width in turn, each twice.",
    "pixtral": "its height has every second frequency, and its width the others.",
    "hunyuan_vl_text": "its sections (mrope_section) cut through pairs.",
    "recurrent_gemma": _OWN_ORDER + "recurrent layers stand between its attention.",
    "whisper": "its encoder hears sound; only its decoder has a table for text.\n"
    "  Use locant.make('learned', …).",
}


def text_config(config: Any) -> Any:
    """Return the config of the text model inside a config of several models, or the config."""
    part = getattr(config, "text_config", None)
    return config if part is None or isinstance(part, dict) else part
