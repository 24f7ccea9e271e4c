"""Sentences on other libraries that no certificate asks for, each measured here in the versions it
names."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from importlib.metadata import version
from tempfile import TemporaryDirectory

import rotary_embedding_torch as ret
import torch
from peers import (
    PACKAGES,
    SHAPE,
    WIDTH,
    llama,
    llama_rope,
    ret_angles,
    ret_offset,
    ret_rope,
    ret_xpos,
    xt_angles,
)
from positional_encodings.torch_encodings import PositionalEncoding1D
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.utils import logging
from x_transformers import x_transformers as xt


def far(a: Tensor, b: Tensor) -> float:
    """How far a is from b, as a share of b's size."""
    return float((a.float() - b.float()).norm() / b.float().norm())


def facts() -> Iterator[str]:
    """One sentence each."""
    said = {name: f"{name} {version(name)}" for name in PACKAGES}
    q, k = torch.randn(2, 1, 1, 2048, WIDTH).unbind()

    full_q, full_k = ret.RotaryEmbedding(WIDTH, use_xpos=True).rotate_queries_and_keys(q, k)
    one_q, one_k = ret.RotaryEmbedding(WIDTH, use_xpos=True).rotate_queries_with_cached_keys(
        q[..., -1:, :], k
    )
    off = far(one_q @ one_k.mT, full_q[..., -1:, :] @ full_k.mT)
    yield (
        f"In {said['rotary-embedding-torch']} with `use_xpos=True`, the scores of the last of "
        "2,048 queries through "
        f"`rotate_queries_with_cached_keys` differ by {off:.0%} of their size from those of the "
        "same query in "
        "`rotate_queries_and_keys`: `get_scale` centres on half the number of the positions it is "
        "given, "
        "which is 0 for one query and 1,024 for its keys."
    )

    clean, used = ret.RotaryEmbedding(WIDTH), ret.RotaryEmbedding(WIDTH)
    used.rotate_queries_or_keys(q[..., :512, :].bfloat16())
    off = far(
        used.rotate_queries_or_keys(q[..., :512, :]), clean.rotate_queries_or_keys(q[..., :512, :])
    )
    yield (
        f"In {said['rotary-embedding-torch']}, `rotate_queries_or_keys` counts positions in the "
        "dtype of its input and "
        "keeps the angles: after one bfloat16 call of 512 tokens, a float32 call of 512 tokens "
        "differs by "
        f"{off:.0%} of its size from that of a fresh module."
    )

    turns = {
        "ret rotary": (ret_angles, ret_rope()),
        "ret offset": (ret_offset, ret_rope()),
        "ret xpos": (ret_xpos, ret_rope(use_xpos=True)),
        "xt rotary": (xt_angles, xt.RotaryEmbedding(WIDTH)),
        "hf llama": (llama, llama_rope()),
    }
    apart = {name: _apart(*turn) for name, turn in turns.items()}
    yield (
        "Modules kept in float32 and given bfloat16 queries: positions 256 and 257 "
        + " and ".join(
            f"{'differ' if told else 'are the same'} in "
            f"{', '.join(f'`{name}`' for name in apart if apart[name] is told)}"
            for told in (True, False)
            if told in apart.values()
        )
        + "."
    )

    yield (
        f"In {said['rotary-embedding-torch']}, `copy.deepcopy(RotaryEmbedding(16, use_xpos=True))` "
        + _outcome(lambda: copy.deepcopy(ret.RotaryEmbedding(WIDTH, use_xpos=True)).freqs)
    )

    waves = PositionalEncoding1D(SHAPE["dim"])
    waves(torch.zeros(1, 8, SHAPE["dim"]))
    kind = str(waves(torch.zeros(1, 8, SHAPE["dim"], dtype=torch.bfloat16)).dtype).removeprefix(
        "torch."
    )
    yield (
        f"In {said['positional-encodings']}, `PositionalEncoding1D` keeps its last table and "
        "compares shapes alone: "
        f"a bfloat16 input after a float32 one of the same shape gets {kind} vectors."
    )

    yield (
        f"In {said['x-transformers']}, `ScaledSinusoidalEmbedding(x, seq_start_pos=…)`, its way "
        "to say where rows "
        + ("that are padded on the left begin, " + _outcome(lambda: _rows_that_start_late()))
    )

    kept, cast = llama_rope(), llama_rope().bfloat16()
    x, pos = q[..., :1, :].bfloat16(), torch.tensor([1000])
    off = far(llama(cast, x, x, pos)[0], llama(kept, x, x, pos)[0])
    yield (
        f"In {said['transformers']}, `model.bfloat16()` rounds the frequencies of "
        "`LlamaRotaryEmbedding` with the "
        f"weights: a query at position 1,000 then differs by {off:.0%} of its size. "
        f"`from_pretrained(…, dtype=torch.bfloat16)` keeps them in {_loaded()}."
    )


def _loaded() -> str:
    """The dtype of a Llama's frequencies when it is loaded in bfloat16."""
    config = LlamaConfig(
        hidden_size=64,
        num_attention_heads=4,
        num_hidden_layers=1,
        vocab_size=8,
        intermediate_size=8,
    )
    logging.disable_progress_bar()
    with TemporaryDirectory() as folder:
        LlamaForCausalLM(config).save_pretrained(folder)
        model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.bfloat16)
    return str(model.model.rotary_emb.inv_freq.dtype).removeprefix("torch.")


def _apart(turn: Callable[..., tuple[Tensor, Tensor]], rope: nn.Module) -> bool:
    """Whether equal bfloat16 queries at positions 256 and 257 become different."""
    ones = torch.ones(1, 1, 512, WIDTH, dtype=torch.bfloat16)
    turned = turn(rope, ones, ones, torch.arange(512))[0]
    return not torch.equal(turned[..., 256, :], turned[..., 257, :])


def _rows_that_start_late() -> Tensor:
    waves = xt.ScaledSinusoidalEmbedding(SHAPE["dim"])
    return waves(torch.zeros(2, 5, SHAPE["dim"]), seq_start_pos=torch.tensor([0, 2]))


def _outcome(run: Callable[[], Tensor]) -> str:
    try:
        return f"gives {tuple(run().shape)}."
    except Exception as problem:  # whatever it is, it is what happens
        return f"raises {type(problem).__name__}: {str(problem).splitlines()[0].strip()}"
