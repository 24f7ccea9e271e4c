"""Random weights that are large enough for every token and position to show in the output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def randomize(model: PreTrainedModel, seed: int = 0) -> PreTrainedModel:
    """Draw the matrices of a model anew, in place, and return it.

    The usual first weights, with a standard deviation of 0.02, let a token hardly see the others:
    whatever is wrong with positions would not show. Matrices get a standard deviation of one over
    the square root of their width, embeddings of 1, that of the padding token too: what padding is
    must not matter. Fixed tables and vectors stay.
    """
    draw = torch.Generator().manual_seed(seed)
    tables = {id(one.weight) for one in model.modules() if isinstance(one, nn.Embedding)}
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim < 2 or not weight.requires_grad:
                continue
            scale = 1.0 if id(weight) in tables else weight.shape[-1] ** -0.5
            weight.copy_(scale * torch.randn(weight.shape, generator=draw))
    return model
