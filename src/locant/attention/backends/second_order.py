"""Gradients that can be differentiated again, for backends whose own backward pass cannot be."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def differentiable_gradients(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    make_bias: Callable[[], Tensor | None],
    others: Sequence[Tensor],
    scale: float,
    grad: Tensor,
) -> list[Tensor | None]:
    """Differentiate materialized attention by q, k, v and `others`, keeping the graph.

    make_bias  makes what is added to the scores, from `others`
    grad       of the output (B,H,Q,·)
    """
    with torch.enable_grad():
        bias = make_bias()
        scores = q @ k.mT * scale  # (B, H, Q, K)
        if bias is not None:
            nothing = (bias.detach() == -math.inf).all(-1, keepdim=True)  # queries that see no key
            scores = scores + bias.to(scores.dtype).masked_fill(nothing, 0.0)
            weights = scores.softmax(-1).masked_fill(nothing, 0.0)
        else:
            weights = scores.softmax(-1)
        tensors = [q, k, v, *others]
        wanted = [tensor for tensor in tensors if tensor.requires_grad]
        found = torch.autograd.grad(weights @ v, wanted, grad, create_graph=True, allow_unused=True)
    each = iter(found)
    return [next(each) if tensor.requires_grad else None for tensor in tensors]
