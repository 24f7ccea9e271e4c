"""Encodings of four other libraries, each called as its documentation says and held to what its
paper claims."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import rotary_embedding_torch as ret
import torch
from positional_encodings.torch_encodings import PositionalEncoding1D, Summer
from torch import Tensor, nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb as llama_apply
from x_transformers import x_transformers as xt

import locant

SHAPE = {"dim": 64, "heads": 4, "length": 512}
WIDTH = SHAPE["dim"] // SHAPE["heads"]
PACKAGES = ("rotary-embedding-torch", "x-transformers", "positional-encodings", "transformers")

ROTARY = dict.fromkeys(
    ("shift_invariant", "extrapolates", "cacheable_keys", "bounded", "linear_offset"), True
)
SINUSOIDAL = dict.fromkeys(("extrapolates", "cacheable_keys", "bounded", "linear_offset"), True)
XPOS = dict.fromkeys(("shift_invariant", "causal_only"), True)
REAL = {"real_positions": True}


def ret_angles(rope: nn.Module, q: Tensor, k: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
    freqs = rope(pos)  # (…, T, d)
    freqs = freqs if pos.dim() == 1 else freqs[:, None]
    return ret.apply_rotary_emb(freqs, q), ret.apply_rotary_emb(freqs, k)


def ret_offset(
    rope: ret.RotaryEmbedding, q: Tensor, k: Tensor, pos: Tensor
) -> tuple[Tensor, Tensor]:
    offset = (
        0 if torch.compiler.is_compiling() else int(pos.flatten()[0])
    )  # graphs are captured from position 0
    if offset < 0:
        raise ValueError("an offset counts tokens; it cannot be negative")
    return rope.rotate_queries_or_keys(q, offset=offset), rope.rotate_queries_or_keys(
        k, offset=offset
    )


def ret_xpos(rope: ret.RotaryEmbedding, q: Tensor, k: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
    return rope.rotate_queries_and_keys(q, k)


def xt_angles(rope: nn.Module, q: Tensor, k: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
    freqs, scale = rope(pos)
    return xt.apply_rotary_pos_emb(q, freqs, scale), xt.apply_rotary_pos_emb(k, freqs, scale**-1)


def llama(rope: nn.Module, q: Tensor, k: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
    cosine, sine = rope(q, pos if pos.dim() == 2 else pos[None])
    return llama_apply(q, k, cosine, sine)


class Added(nn.Module):
    """x-transformers' own sum: x + pos_emb(x, pos)."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor, pos: Tensor) -> Tensor:
        return x + self.inner(
            x, pos=pos.float() if pos.is_floating_point() else pos
        )  # it has no place for float64


def ret_rope(**options: bool) -> ret.RotaryEmbedding:
    """The module as it comes, with two changes that leave its numbers alone.

    Its frequencies are a frozen parameter (learned_freq=False): as a buffer nobody asks them for
    gradients. With xPos it holds a staticmethod that no copy.deepcopy gets past; without it the
    module can be examined.
    """
    rope = ret.RotaryEmbedding(WIDTH, **options)
    vars(rope).pop("apply_rotary_emb", None)
    freqs = rope.freqs.detach()
    del rope.freqs
    rope.register_buffer("freqs", freqs)
    return rope


def llama_rope() -> LlamaRotaryEmbedding:
    return LlamaRotaryEmbedding(
        LlamaConfig(hidden_size=SHAPE["dim"], num_attention_heads=SHAPE["heads"])
    )


class Peer(NamedTuple):
    package: str
    called: str  # how it is used
    make: Callable[[], locant.Encoding]
    lacks: str = ""  # what its interface does not take
    follows: tuple[str, ...] = ()  # the properties that fail for that reason, when they fail
    note: str = ""


def adapt(
    thing: nn.Module | Callable[..., object], module: nn.Module | None = None, **claims: bool
) -> locant.Encoding:
    return locant.adapt(thing, module=module, **SHAPE, **claims)


PEERS = {
    "ret rotary": Peer(
        "rotary-embedding-torch",
        "`RotaryEmbedding(16)`: `freqs = rope(pos)`, `apply_rotary_emb(freqs, q)`",
        lambda: adapt(ret_angles, ret_rope(), **ROTARY, **REAL),
    ),
    "ret offset": Peer(
        "rotary-embedding-torch",
        "`RotaryEmbedding(16)`: `rope.rotate_queries_or_keys(q, offset=pos[0])`",
        lambda: adapt(ret_offset, ret_rope(), **ROTARY),
        "It takes a first position, not positions",
        ("given", "beyond", "rows", "padding"),
        "`ret rotary`, of the same package, takes positions. pure: a table of angles is filled in "
        "forward; "
        "`cache_if_possible=False` turns it off.",
    ),
    "ret xpos": Peer(
        "rotary-embedding-torch",
        "`RotaryEmbedding(16, use_xpos=True)`: `rope.rotate_queries_and_keys(q, k)`",
        lambda: adapt(ret_xpos, ret_rope(use_xpos=True), **XPOS),
        "It takes no positions",
        ("given", "beyond", "rows", "padding", "cache"),
        "pure: tables are filled in forward, as above; a longer input in between moves the centre "
        "of the scales, "
        "which cancels in the scores up to rounding.",
    ),
    "xt rotary": Peer(
        "x-transformers",
        "`RotaryEmbedding(16)`: `freqs, scale = rope(pos)`, `apply_rotary_pos_emb(q, freqs, "
        "scale)`",
        lambda: adapt(xt_angles, xt.RotaryEmbedding(WIDTH), **ROTARY, **REAL),
    ),
    "xt xpos": Peer(
        "x-transformers",
        "`RotaryEmbedding(16, use_xpos=True)`: the same, keys with `scale ** -1`",
        lambda: adapt(xt_angles, xt.RotaryEmbedding(WIDTH, use_xpos=True), **XPOS, **REAL),
    ),
    "xt sinusoidal": Peer(
        "x-transformers",
        "`x + ScaledSinusoidalEmbedding(64)(x, pos=pos)`",
        lambda: adapt(Added(xt.ScaledSinusoidalEmbedding(SHAPE["dim"])), **SINUSOIDAL, **REAL),
        "It takes one row of positions for a whole batch",
        ("rows", "padding"),
    ),
    "xt learned": Peer(
        "x-transformers",
        "`x + AbsolutePositionalEmbedding(64, 512)(x, pos=pos)`",
        lambda: adapt(
            Added(xt.AbsolutePositionalEmbedding(SHAPE["dim"], SHAPE["length"])),
            cacheable_keys=True,
        ),
    ),
    "pe sinusoidal": Peer(
        "positional-encodings",
        "`Summer(PositionalEncoding1D(64))(x)`",
        lambda: adapt(Summer(PositionalEncoding1D(SHAPE["dim"])), **SINUSOIDAL),
        "It takes no positions",
        ("given", "beyond", "rows", "padding", "cache"),
    ),
    "hf llama": Peer(
        "transformers",
        "`LlamaRotaryEmbedding(config)(q, pos)`, `apply_rotary_pos_emb(q, k, cos, sin)`",
        lambda: adapt(llama, llama_rope(), **ROTARY, **REAL),
    ),
}
