"""A call of attention without its tensors: everything that decides which backend serves it."""

from __future__ import annotations

from typing import NamedTuple

import torch


class Request(NamedTuple):
    """One call of attention on rotated queries and keys.

    bias          "none"; "toeplitz", from distances at evenly spaced positions; "computed", from
                  positions;
                  "materialized", with mask and order, when it is short or a graph is traced
    bias_learns   whether the bias has a gradient
    one_piece     why the bias must be computed in one piece, or nothing: its gradient by blocks
                  would be wrong
    mask          "none"; "keys", the same for every query; "pairs"
    added         how many matrices (Q,K) are added to the scores, when bias, mask and order are
                  materialized
    dropout       of the weights: "none", "torch" or another "module"
    eager         values can be read: no graph is traced
    transformed   inside one of torch.func's transforms, such as vmap
    """

    encoding: str
    batch: int
    heads: int
    kv_heads: int
    queries: int
    keys: int
    head_width: int
    key_width: int
    value_width: int
    dtype: torch.dtype
    device: str
    bias: str = "none"
    bias_learns: bool = False
    one_piece: str = ""
    mask: str = "none"
    causal: bool = False
    added: int = 0
    needs_scores: bool = False
    dropout: str = "none"
    grad: bool = False
    eager: bool = True
    transformed: bool = False
