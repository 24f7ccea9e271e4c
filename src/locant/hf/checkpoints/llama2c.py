"""Llama checkpoints of llama2.c (karpathy/llama2.c, the tinyllamas): one .bin file, no config.

    seven int32   width D, feed-forward width F, layers N, heads H, key/value heads G, vocabulary V
                  (negative where the output head is a matrix of its own), trained length L
    float32       embedding (V,D); for all layers, kind by kind: norm (D), q (D,D), k and v (G·d,D),
                  o (D,D), norm (D), gate (F,D), down (D,F), up (F,D); last norm (D);
                  2·L·d/2 rotary numbers that are not needed; the output head (V,D) if V < 0

Rotary pairs are neighbors (interleaved), with base 10,000; transformers pairs the two halves of a
head, so the rows of q and k are reordered. The tokenizer lies beside it: tok512.bin, tokenizer.bin.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from locant.encodings.rotary import permute_for_pairing

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

HEADER = struct.Struct("<7i")
MAGIC = 0x616B3432  # opens files of version 1 and later
SPECIAL_PIECES = ["<unk>", "<s>", "</s>"]


@dataclass(frozen=True)
class Sizes:
    """What the header of a file says."""

    dim: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    vocabulary: int
    length: int
    own_head: bool

    @property
    def head_dim(self) -> int:
        return self.dim // self.heads

    def layer_weights(self) -> dict[str, tuple[int, ...]]:
        """List the weights of a layer as transformers names them, in the order of the file."""
        keys = self.kv_heads * self.head_dim
        return {
            "input_layernorm": (self.dim,),
            "self_attn.q_proj": (self.dim, self.dim),
            "self_attn.k_proj": (keys, self.dim),
            "self_attn.v_proj": (keys, self.dim),
            "self_attn.o_proj": (self.dim, self.dim),
            "post_attention_layernorm": (self.dim,),
            "mlp.gate_proj": (self.hidden, self.dim),
            "mlp.down_proj": (self.dim, self.hidden),
            "mlp.up_proj": (self.hidden, self.dim),
        }

    def file_bytes(self) -> int:
        """Count the bytes of a whole file."""
        layer = sum(int(np.prod(shape)) for shape in self.layer_weights().values())
        tables = self.vocabulary * self.dim * (2 if self.own_head else 1)
        rotary = self.length * 2 * (self.head_dim // 2)
        return HEADER.size + 4 * (tables + self.layers * layer + self.dim + rotary)


def read_sizes(file: Path) -> Sizes | None:
    """Read the header; None if the file is of another kind. One that is cut short is refused."""
    with file.open("rb") as opened:
        start = opened.read(HEADER.size)
    if int.from_bytes(start[:4], "little") == MAGIC:
        raise ValueError(
            f"{file.name} is a llama2.c checkpoint of a later version, which is not read.\n"
            "  Export it again with --version 0, or as a folder of transformers (--hf)."
        )
    if len(start) < HEADER.size:
        return None
    dim, hidden, layers, heads, kv_heads, vocabulary, length = HEADER.unpack(start)
    numbers = (dim, hidden, layers, heads, kv_heads, abs(vocabulary), length)
    if not all(0 < number < 2**20 for number in numbers):
        return None
    if dim % (2 * heads) or heads % kv_heads:
        return None
    sizes = Sizes(
        dim, hidden, layers, heads, kv_heads, abs(vocabulary), length, own_head=vocabulary < 0
    )
    size, expected = file.stat().st_size, sizes.file_bytes()
    if size == expected:
        return sizes
    if size < expected:
        raise ValueError(
            f"{file.name} looks like a llama2.c checkpoint, but it is cut short: {size:,} bytes of "
            f"{expected:,}.\n  Download it again; nothing was loaded."
        )
    return None


def read_llama2c(file: Path, sizes: Sizes) -> PreTrainedModel:
    """Read the weights into a Llama of transformers, in float32."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=sizes.vocabulary,
        hidden_size=sizes.dim,
        intermediate_size=sizes.hidden,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        num_key_value_heads=sizes.kv_heads,
        max_position_embeddings=sizes.length,
        rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
        tie_word_embeddings=not sizes.own_head,
        bos_token_id=1,
        eos_token_id=2,
    )
    model = LlamaForCausalLM(config)
    model.load_state_dict(_weights(file, sizes))
    return model


def _weights(file: Path, sizes: Sizes) -> dict[str, Tensor]:
    numbers = torch.from_numpy(np.fromfile(file, dtype="<f4", offset=HEADER.size))
    start = 0

    def take(*shape: int) -> Tensor:
        nonlocal start
        size = int(np.prod(shape))
        start += size
        return numbers[start - size : start].view(*shape)

    embedding = take(sizes.vocabulary, sizes.dim)
    weights = {"model.embed_tokens.weight": embedding}
    own_heads = {"self_attn.q_proj": sizes.heads, "self_attn.k_proj": sizes.kv_heads}
    for kind, shape in sizes.layer_weights().items():
        for layer, weight in enumerate(take(sizes.layers, *shape)):
            if kind in own_heads:
                weight = permute_for_pairing(weight, heads=own_heads[kind], to="half")
            weights[f"model.layers.{layer}.{kind}.weight"] = weight
    weights["model.norm.weight"] = take(sizes.dim)
    take(sizes.length * 2 * (sizes.head_dim // 2))  # rotary numbers
    head = take(sizes.vocabulary, sizes.dim) if sizes.own_head else embedding
    weights["lm_head.weight"] = head
    return weights


def tokenizer_file(file: Path, sizes: Sizes) -> Path:
    """Find the tokenizer beside a checkpoint."""
    names = (f"tok{sizes.vocabulary}.bin", "tokenizer.bin")
    for name in names:
        if (file.parent / name).is_file():
            return file.parent / name
    raise ValueError(
        f"{file.name} has no tokenizer beside it.\n  Put {' or '.join(names)} into the folder."
    )


def read_tokenizer(file: Path, count: int) -> PreTrainedTokenizerBase:
    """Read `count` pieces and their scores; of two merges the one with the higher score is first.

    The file: int32 longest piece; then for each piece float32 score, int32 length, bytes.
    """
    from transformers import LlamaTokenizer

    pieces, scores = _pieces(file, count)
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    merges = []
    for piece, score in zip(pieces, scores, strict=True):
        for cut in range(1, len(piece)):
            if piece[:cut] in vocabulary and piece[cut:] in vocabulary:
                merges.append((-score, piece[:cut], piece[cut:]))
    pairs = [(left, right) for _, left, right in sorted(merges)]
    return LlamaTokenizer(vocab=vocabulary, merges=pairs, add_bos_token=True)


def _pieces(file: Path, count: int) -> tuple[list[str], list[float]]:
    data = file.read_bytes()
    pieces, scores, start = [], [], 4
    try:
        for _ in range(count):
            score, size = struct.unpack_from("<fi", data, start)
            pieces.append(data[start + 8 : start + 8 + size].decode().replace(" ", "▁"))
            scores.append(score)
            start += 8 + size
    except (struct.error, UnicodeDecodeError):
        raise ValueError(
            f"{file.name} is no tokenizer of llama2.c, or it is cut short: it holds "
            f"{len(pieces)} of {count} pieces."
        ) from None
    pieces[:3] = SPECIAL_PIECES
    return pieces, scores
