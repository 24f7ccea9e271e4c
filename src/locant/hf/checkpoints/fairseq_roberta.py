"""RoBERTa checkpoints of fairseq: a .pt file with its training arguments, and no config.json.

The sizes are those of the weights; only the number of heads is read from the arguments. The file is
a pickle: it is opened with weights_only, and argparse.Namespace, which holds the arguments, is the
one class that is let in.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from transformers import PreTrainedModel

NAMES = {  # fairseq's → those of transformers, applied one after the other
    r"^(decoder|encoder)\.sentence_encoder\.layers\.": "roberta.encoder.layer.",
    r"^(decoder|encoder)\.sentence_encoder\.": "roberta.embeddings.",
    r"^(decoder|encoder)\.lm_head\.": "lm_head.",
    r"\.embed_tokens\.": ".word_embeddings.",
    r"\.embed_positions\.": ".position_embeddings.",
    r"\.(emb_layer_norm|layernorm_embedding)\.": ".LayerNorm.",
    r"\.self_attn\.q_proj\.": ".attention.self.query.",
    r"\.self_attn\.k_proj\.": ".attention.self.key.",
    r"\.self_attn\.v_proj\.": ".attention.self.value.",
    r"\.self_attn\.out_proj\.": ".attention.output.dense.",
    r"\.self_attn_layer_norm\.": ".attention.output.LayerNorm.",
    r"\.fc1\.": ".intermediate.dense.",
    r"\.fc2\.": ".output.dense.",
    r"\.final_layer_norm\.": ".output.LayerNorm.",
    r"^lm_head\.weight$": "lm_head.decoder.weight",
}
PADDING = 1  # fairseq's dictionary: <s>, <pad>, </s>, <unk>
TOKEN_TYPES = "roberta.embeddings.token_type_embeddings.weight"  # fairseq has none


def read_fairseq(file: Path) -> PreTrainedModel:
    """Read a fairseq checkpoint into a RoBERTa of transformers, in float32."""
    from transformers import RobertaConfig, RobertaForMaskedLM

    arguments, held = _open(file)
    weights = _renamed(held)
    table = weights.get("roberta.embeddings.position_embeddings.weight")
    if table is None or "lm_head.decoder.weight" not in weights:
        raise ValueError(
            f"{file.name} is a checkpoint of fairseq, but no RoBERTa with its language-modeling "
            "head, the only one that is read.\n"
            "  Convert it with transformers' script for its architecture, and give the folder."
        )
    if arguments.get("activation_fn", "gelu") != "gelu":
        raise ValueError(
            f"{file.name} was trained with the activation {arguments['activation_fn']!r}; a "
            "RoBERTa of transformers has gelu in its head, so it is not read."
        )
    words = weights["roberta.embeddings.word_embeddings.weight"]
    vocabulary, width = words.shape
    layers = {name.split(".")[3] for name in weights if name.startswith("roberta.encoder.layer.")}
    config = RobertaConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        num_hidden_layers=len(layers),
        num_attention_heads=arguments["encoder_attention_heads"],
        intermediate_size=len(weights["roberta.encoder.layer.0.intermediate.dense.weight"]),
        max_position_embeddings=len(table),
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        pad_token_id=PADDING,
        tie_word_embeddings=torch.equal(words, weights["lm_head.decoder.weight"]),
    )
    model = RobertaForMaskedLM(config)
    weights[TOKEN_TYPES] = torch.zeros(1, width)
    weights["lm_head.decoder.bias"] = weights["lm_head.bias"]
    found = model.load_state_dict(weights, strict=False)
    wrong = sorted(found.missing_keys) + sorted(found.unexpected_keys)
    if wrong:
        raise ValueError(
            f"{file.name} differs from a RoBERTa in {len(wrong)} weights, {wrong[0]} among them, "
            "so it is not read."
        )
    return model


def _open(file: Path) -> tuple[dict[str, Any], Mapping[str, Tensor]]:
    """Return the training arguments and the weights; refuse every other kind of file."""
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):
            held = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as problem:  # what a broken pickle raises is open: KeyError, EOFError …
        if "unsupported global" not in str(problem).lower():
            raise ValueError(
                f"{file.name} cannot be opened: it is cut short, or no file of PyTorch.\n"
                "  Download it again; nothing was loaded."
            ) from None
        raise ValueError(
            f"{file.name} holds objects beside weights, and objects are never unpickled here.\n"
            "  Load it yourself, and give the model: locant.hf.certify(model)"
        ) from None
    arguments: dict[str, Any] = {}
    if isinstance(held, dict) and isinstance(held.get("args"), argparse.Namespace):
        arguments = dict(vars(held["args"]))
    if "encoder_attention_heads" not in arguments or not isinstance(held.get("model"), dict):
        raise ValueError(
            f"{file.name} holds weights, but not what model they belong to.\n"
            "  Give the folder that holds config.json beside the weights, or a checkpoint of "
            "fairseq with its arguments (args)."
        )
    return arguments, held["model"]


def _renamed(held: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Name the weights as transformers does; split the joint projection of older files."""
    weights = {}
    for name, weight in held.items():
        if name.endswith((".version", "._float_tensor")):
            continue
        joint = re.match(r"(.*\.self_attn\.)in_proj_(weight|bias)$", name)
        if joint:
            for letter, part in zip("qkv", weight.chunk(3), strict=True):
                weights[_new_name(f"{joint[1]}{letter}_proj.{joint[2]}")] = part.float()
        else:
            weights[_new_name(name)] = weight.float()
    return weights


def _new_name(name: str) -> str:
    for old, new in NAMES.items():
        name = re.sub(old, new, name)
    return name
