"""Rotating q and k: ours and the peers', as multiples of a memcpy of the same bytes.

What depends on positions alone is computed beforehand, as a model does once in a forward pass.
x-transformers and rotary-embedding-torch take angles, so these two compute cosines and sines at
every call.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import torch
from torch import Tensor

from locant.bench.alone import added_megabytes, alone
from locant.bench.bench_options import BenchOptions
from locant.bench.ratio import Ratio, Work, ratios
from locant.bench.result_table import Cell, Table, megabytes
from locant.encodings.registry import make
from locant.positions import consecutive

BATCH, HEADS, WIDTH = 8, 8, 64
Rotate = Callable[[Tensor, Tensor], tuple[Tensor, ...]]


def tables(options: BenchOptions) -> list[Table]:
    found = []
    for length in (128,) if options.quick else (512, 2048):
        options.report(f"rotation at {length:,}")
        found_at = alone(_measure, 1, length, options.seconds)
        rows: list[tuple[str, list[Cell]]] = [
            (name, [one, both, megabytes(mb)]) for name, one, both, mb in found_at
        ]
        size = f"({BATCH}, {HEADS}, {length}, {WIDTH})"
        title = f"Rotating q and k, {size}, × memcpy of the same bytes, one thread"
        columns = ["forward", "forward + backward", "adds, forward"]
        found.append(Table(f"rotation-{length}", title, columns, rows))
    return found


def _measure(length: int, seconds: float) -> list[tuple[str, Ratio, Ratio, float | None]]:
    q, k, grad = torch.randn(3, BATCH, HEADS, length, WIDTH).unbind()
    to_q, to_k = torch.empty_like(q), torch.empty_like(k)
    q_leaf, k_leaf = q.clone().requires_grad_(), k.clone().requires_grad_()
    rotations = _ours(length) | _peers(length)

    def copies(times: int) -> Work:
        def run() -> None:
            for _ in range(times):
                to_q.copy_(q)
                to_k.copy_(k)

        return run

    def forward(rotate: Rotate) -> Work:
        return lambda: rotate(q, k)

    def both(rotate: Rotate) -> Work:
        return lambda: torch.autograd.grad(rotate(q_leaf, k_leaf), (q_leaf, k_leaf), (grad, grad))

    one = {"memcpy": copies(1), **{name: forward(rotate) for name, rotate in rotations.items()}}
    two = {"memcpy": copies(2), **{name: both(rotate) for name, rotate in rotations.items()}}
    once, twice = (ratios(work, "memcpy", seconds=seconds) for work in (one, two))
    return [(name, once[name], twice[name], added_megabytes(one[name])) for name in rotations]


def _ours(length: int) -> dict[str, Rotate]:
    pos = consecutive(length)

    def made(pairing: str) -> Rotate:
        encoding: Any = make("rotary", dim=HEADS * WIDTH, heads=HEADS, pairing=pairing)
        by = encoding.precompute(pos, pos, torch.float32)
        return lambda q, k: encoding.rotate(q, k, pos, pos, precomputed=by)

    return {f"locant, {pairing}": made(pairing) for pairing in ("interleaved", "half")}


def _peers(length: int) -> dict[str, Rotate]:
    """Return the rotations of the installed libraries, by name and version."""
    known = {
        "transformers": ("(Llama), half", _transformers),
        "x-transformers": ("interleaved", _x_transformers),
        "rotary-embedding-torch": ("interleaved", _rotary_embedding_torch),
    }
    found: dict[str, Rotate] = {}
    for package, (what, build) in known.items():
        try:
            found[f"{package} {version(package)}, {what}"] = build(length)
        except ImportError:  # not installed; a package that is not found is an ImportError too
            continue
    return found


def _transformers(length: int) -> Rotate:
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    config = LlamaConfig(
        hidden_size=WIDTH * HEADS, num_attention_heads=HEADS, max_position_embeddings=length
    )
    cos, sin = LlamaRotaryEmbedding(config)(torch.zeros(1), torch.arange(length)[None])
    return lambda q, k: apply_rotary_pos_emb(q, k, cos, sin)


def _rotary_embedding_torch(length: int) -> Rotate:
    from rotary_embedding_torch import RotaryEmbedding

    rope = RotaryEmbedding(dim=WIDTH)
    return lambda q, k: (rope.rotate_queries_or_keys(q), rope.rotate_queries_or_keys(k))


def _x_transformers(length: int) -> Rotate:
    from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

    freqs, scale = RotaryEmbedding(WIDTH).forward_from_seq_len(length)
    return lambda q, k: (
        apply_rotary_pos_emb(q, freqs, scale),
        apply_rotary_pos_emb(k, freqs, scale),
    )
