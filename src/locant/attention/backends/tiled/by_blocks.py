"""Make the bias of a call by blocks of queries, the mask and the causal order included."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from locant import positions
from locant.attention.backends.tiled.block_bias import BlockBias, ByBlocks
from locant.attention.backends.tiled.computed_bias import ComputedBias
from locant.attention.backends.tiled.masked_bias import MaskedBias
from locant.attention.backends.tiled.toeplitz_bias import ToeplitzBias
from locant.attention.recomputing import BiasFacts
from locant.encodings.hooks import check_bias

if TYPE_CHECKING:
    from locant.attention.inputs import AttentionInputs


def take_by_blocks(inputs: AttentionInputs, dtype: torch.dtype) -> ByBlocks:
    """Make the bias of `inputs`, whose facts are known, in float32 or wider, and keep it there."""
    if dtype not in inputs.by_blocks:
        facts = inputs.facts
        assert facts is not None  # a backend that takes blocks refuses a bias without
        inputs.by_blocks[dtype] = ByBlocks(_block_bias(inputs, facts, dtype), inputs.causal)
    return inputs.by_blocks[dtype]


def _block_bias(inputs: AttentionInputs, facts: BiasFacts, dtype: torch.dtype) -> BlockBias:
    bias: BlockBias
    if facts.kind == "computed":
        bias = ComputedBias(
            inputs.encoding,
            inputs.sizes[0],
            inputs.q_pos,
            inputs.k_pos,
            inputs.causal,
            inputs.states,
            facts.parameters,
        )
        shared = False
    else:
        line = _line(inputs, facts.spacing, dtype)
        bias = ToeplitzBias(line, inputs.sizes[2])
        shared = line.shape[1] == 1
    mask = inputs.mask
    if mask is None:
        return bias
    heads = 1 if shared and mask.shape[1] == 1 else inputs.encoding.shape.heads
    return MaskedBias(bias, mask, inputs.sizes[2], inputs.causal, heads)


def _line(inputs: AttentionInputs, spacing: positions.Spacing | None, dtype: torch.dtype) -> Tensor:
    """Compute the bias of every distance, −∞ ahead of a causal query: (1, 1|H, Q + K − 1)."""
    _, heads, queries, keys = inputs.sizes
    count = queries + keys - 1
    if spacing is None:  # no bias: a line of zeros holds the causal order
        line = torch.zeros(1, 1, count, dtype=dtype, device=inputs.q_pos.device)
    else:
        step, ahead = spacing
        start = ahead + step * (queries - 1)
        offsets = torch.arange(count, device=inputs.k_pos.device) * step
        found = inputs.encoding.bias(start.reshape(1), offsets)
        found = check_bias(inputs.encoding, found, (1, heads, 1, count))
        assert found is not None  # or the facts would say so
        line = found[:, :, 0].to(dtype)
    if inputs.causal:
        ahead_of_query = torch.arange(count, device=line.device) >= keys
        line = line.masked_fill(ahead_of_query, -math.inf)
    return line.contiguous()
