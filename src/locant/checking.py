"""What attention refuses: tensors and positions that do not fit together, told before torch broadcasts them."""

from __future__ import annotations

import torch
from torch import Tensor

from locant import positions
from locant.encodings.base import Encoding
from locant.encodings.none import Nothing
from locant.placing import need_device, need_encoding


def check_tensors(q: Tensor, k: Tensor, v: Tensor, encoding: Encoding) -> None:
    need_encoding("attend", encoding)
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if not isinstance(tensor, Tensor):
            raise ValueError(
                f"{name} must be a tensor (batch, heads, tokens, width). Got {type(tensor).__name__} instead."
            )
        if tensor.dim() != 4:
            raise ValueError(
                f"{name} must have the shape (batch, heads, tokens, width). Got {tuple(tensor.shape)} instead."
            )
    if not (q.dtype == k.dtype == v.dtype):
        raise ValueError(f"q, k and v must have one dtype. Got {q.dtype}, {k.dtype}, {v.dtype}: cast them first.")
    if not q.is_floating_point():
        raise ValueError(f"q, k and v must be real numbers, but they are {q.dtype}: cast them first.")
    if not (q.device == k.device == v.device):
        raise ValueError(f"q, k and v must be on one device. Got {q.device}, {k.device}, {v.device}: move them first.")
    if k.shape[:3] != v.shape[:3] or q.shape[0] != k.shape[0] or q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} do not fit together.\n"
            "  Allowed: q (B,H,Q,d), k (B,G,K,d), v (B,G,K,·)."
        )
    if k.shape[1] == 0 or q.shape[1] % k.shape[1]:
        raise ValueError(
            f"{q.shape[1]} query heads cannot share {k.shape[1]} key heads: the one must divide the other."
        )
    need_device(encoding, q)
    if (q.shape[1], q.shape[-1]) != (encoding.shape.heads, encoding.shape.head):
        raise ValueError(
            f"q has {q.shape[1]} heads of width {q.shape[-1]}, but the encoding was made for {encoding.shape.heads} heads "
            f"of width {encoding.shape.head}.\n  Make it with dim={q.shape[1] * q.shape[-1]}, heads={q.shape[1]}."
        )


def positions_for(
    encoding: Encoding, q: Tensor, k: Tensor, q_pos: Tensor | None, k_pos: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Both positions, checked. Only `none` may do without."""
    if q_pos is None or k_pos is None:
        if not isinstance(encoding, Nothing):
            raise ValueError("q_pos and k_pos are needed: positions are passed, never guessed. See locant.positions.")
        q_pos = torch.arange(q.shape[-2], device=q.device) if q_pos is None else q_pos
        k_pos = torch.arange(k.shape[-2], device=k.device) if k_pos is None else k_pos
    for name, pos, tokens in (("q_pos", q_pos, q), ("k_pos", k_pos, k)):
        positions.check(pos, batch=q.shape[0], length=tokens.shape[-2], axes=encoding.axes, device=q.device, name=name)
    return q_pos, k_pos
