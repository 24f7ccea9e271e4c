"""Check positions against their tokens, and know when values may be read."""

from __future__ import annotations

import torch
from torch import Tensor


def visible(values: Tensor) -> bool:
    """Say whether a tensor's values can be read now: not while tracing, on meta, or under vmap."""
    return not (torch.compiler.is_compiling() or values.is_meta or in_transform(values))


def in_transform(values: Tensor) -> bool:
    """Whether a tensor is inside one of torch.func's transforms, such as vmap or grad."""
    if torch.compiler.is_compiling():
        return False
    if getattr(
        torch._C, "_are_functorch_transforms_active", bool
    )():  # then what is not wrapped is not as usual either
        return True
    signs = (
        "is_functorch_wrapped_tensor",
        "is_legacy_batchedtensor",
    )  # the second: many gradients at once
    return any(bool(getattr(torch._C._functorch, sign, lambda _: False)(values)) for sign in signs)


def check(
    pos: Tensor, *, batch: int, length: int, axes: int, device: torch.device, name: str
) -> None:
    """Refuse positions that do not fit their tokens, before torch broadcasts them silently."""
    if not isinstance(pos, Tensor):
        raise ValueError(
            f"{name} must be a tensor of positions. Got {type(pos).__name__}: see locant.positions."
        )
    shape = tuple(pos.shape)
    tail = (length,) if axes == 1 else (length, axes)
    if shape not in (tail, (1, *tail), (batch, *tail)):
        allowed = " or ".join(str(one) for one in dict.fromkeys((tail, (batch, *tail))))
        raise ValueError(
            f"{name} has the shape {shape}, but there are {length} tokens in {batch} rows"
            f"{f' and {axes} axes' if axes > 1 else ''}.\n  Allowed: {allowed}"
        )
    if pos.is_complex() or pos.dtype == torch.bool:
        raise ValueError(f"{name} must be whole or real numbers. Got {pos.dtype} instead.")
    if pos.device != device:
        raise ValueError(
            f"{name} is on {pos.device}, but the tokens are on {device}. Move it: "
            f"{name}.to({str(device)!r})."
        )
    if pos.is_floating_point() and visible(pos) and not bool(torch.isfinite(pos).all()):
        raise ValueError(
            f"{name} has positions that are not finite numbers (NaN or infinite). Drop or fill "
            "them first."
        )
