"""Rotating q and k: ours and the peers', as multiples of a memcpy of the same bytes, in one run.

    python benchmarks/rotation.py [--threads 1] [--length 512]

Tables that depend on positions alone are made beforehand on both sides, as a model does once a forward pass;
their own cost is the last column of our rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from _timing import keep_memory, machine, medians, table

import locant


def ours(pairing: str, length: int, width: int, heads: int) -> tuple[Callable, Callable]:
    encoding = locant.make("rotary", dim=width * heads, heads=heads, pairing=pairing)
    pos = locant.positions.consecutive(length)
    tables = encoding.tables(pos, pos, torch.float32)
    return (
        lambda q, k: encoding.rotate(q, k, pos, pos, tables=tables),
        lambda: encoding.tables(pos, pos, torch.float32),
    )


def transformers_llama(length: int, width: int, heads: int) -> Callable:
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    config = LlamaConfig(hidden_size=width * heads, num_attention_heads=heads, max_position_embeddings=length)
    cos, sin = LlamaRotaryEmbedding(config)(torch.zeros(1), torch.arange(length)[None])
    return lambda q, k: apply_rotary_pos_emb(q, k, cos, sin)


def rotary_embedding_torch(length: int, width: int) -> Callable:
    from rotary_embedding_torch import RotaryEmbedding

    rope = RotaryEmbedding(dim=width)
    return lambda q, k: (rope.rotate_queries_or_keys(q), rope.rotate_queries_or_keys(k))


def x_transformers(length: int, width: int) -> Callable:
    from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

    freqs, scale = RotaryEmbedding(width).forward_from_seq_len(length)
    return lambda q, k: (apply_rotary_pos_emb(q, freqs, scale), apply_rotary_pos_emb(k, freqs, scale))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--length", type=int, default=512)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    batch, heads, length, width = 8, 8, args.length, 64
    q, k = torch.randn(2, batch, heads, length, width).unbind()
    to_q, to_k, grad = torch.empty_like(q), torch.empty_like(k), torch.randn_like(q)

    rotations: dict[str, Callable] = {}
    costs = {}
    for pairing in ("interleaved", "half"):
        rotations[f"**locant, {pairing}**"], costs[f"**locant, {pairing}**"] = ours(pairing, length, width, heads)
    rotations["transformers (Llama), half"] = transformers_llama(length, width, heads)
    rotations["rotary-embedding-torch, interleaved"] = rotary_embedding_torch(length, width)
    rotations["x-transformers, interleaved"] = x_transformers(length, width)

    def memcpy(times: int) -> Callable:
        def run() -> None:
            for _ in range(times):
                to_q.copy_(q)
                to_k.copy_(k)

        return run

    def forward(rotate: Callable) -> Callable:
        def run() -> None:
            with torch.no_grad():
                rotate(q, k)

        return run

    def both(rotate: Callable) -> Callable:
        leaf_q, leaf_k = q.clone().requires_grad_(), k.clone().requires_grad_()

        def run() -> None:
            torch.autograd.grad(rotate(leaf_q, leaf_k), (leaf_q, leaf_k), (grad, grad))

        return run

    one = medians({"memcpy": memcpy(1), **{name: forward(rotate) for name, rotate in rotations.items()}}, rounds=61)
    two = medians({"memcpy": memcpy(2), **{name: both(rotate) for name, rotate in rotations.items()}}, rounds=61)
    tables = medians(costs)
    rows = [
        [
            name,
            f"{one[name][0] / one['memcpy'][0]:.2f} ± {one[name][1]:.0%}",
            f"{two[name][0] / two['memcpy'][0]:.2f} ± {two[name][1]:.0%}",
            f"{tables[name][0] / one['memcpy'][0]:.2f}" if name in tables else "",
        ]
        for name in rotations
    ]
    title = f"Rotating q and k, ({batch}, {heads}, {length}, {width}), × memcpy of the same bytes ({machine()})"
    table(title, ["", "forward", "forward + backward", "making the tables, once a pass"], rows)


if __name__ == "__main__":
    keep_memory()
    main()
