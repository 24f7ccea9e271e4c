"""Refuse tensors and positions that do not fit together, before torch broadcasts them."""

from __future__ import annotations

import torch
from torch import Tensor

from locant import positions
from locant.encodings.base import Encoding, senses
from locant.encodings.hooks import States, check_states
from locant.encodings.none import Nothing
from locant.positions import Mask, SegmentMask


def need_encoding(owner: str, encoding: object) -> None:
    """Refuse what is no encoding."""
    if not isinstance(encoding, Encoding):
        raise ValueError(
            f"{owner} needs an encoding. Got {encoding!r} instead: write locant.make('rotary', "
            "dim=…, heads=…)."
        )


def need_device(encoding: Encoding, tokens: Tensor) -> None:
    """Refuse an encoding whose weights are on another device than the tokens."""
    weight = next(encoding.parameters(), None)
    if weight is not None and weight.device != tokens.device:
        raise ValueError(
            f"the encoding is on {weight.device}, but the tokens are on {tokens.device}. Move one "
            "of them."
        )


def check_tokens(
    encoding: Encoding, x: Tensor, pos: Tensor, mask: Mask | None = None, *, cached: int = 0
) -> Mask | None:
    """Refuse an input (B,T,D), positions or a mask that do not fit the encoding.

    cached  how many keys a cache holds before those of x

    Returns the mask with four dimensions.
    """
    if not isinstance(x, Tensor) or x.dim() != 3 or x.shape[-1] != encoding.shape.dim:
        got = tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__
        raise ValueError(
            f"the input must be a tensor of shape (B, T, {encoding.shape.dim}). Got {got} instead."
        )
    need_device(encoding, x)
    batch, length, _ = x.shape
    positions.check(
        pos, batch=batch, length=length, axes=encoding.axes, device=x.device, name="pos"
    )
    return check_mask(mask, (batch, encoding.shape.heads, length, cached + length), x.device)


def check_call(
    encoding: Encoding,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    q_pos: Tensor | None,
    k_pos: Tensor | None,
    mask: Mask | None,
    states: tuple[Tensor | None, Tensor | None],
) -> tuple[Tensor, Tensor, Mask | None, States | None]:
    """Refuse arguments of `attend` that do not fit each other or the encoding.

    Returns positions, the mask with four dimensions, and the states.
    """
    _check_tensors(q, k, v, encoding)
    q_pos, k_pos = _positions_for(encoding, q, k, q_pos, k_pos)
    sizes = (*q.shape[:3], k.shape[2])
    return q_pos, k_pos, check_mask(mask, sizes, q.device), _states_for(encoding, states, sizes)


def _check_tensors(q: Tensor, k: Tensor, v: Tensor, encoding: Encoding) -> None:
    """Refuse queries, keys and values that do not fit each other or the encoding."""
    need_encoding("attend", encoding)
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if not isinstance(tensor, Tensor):
            raise ValueError(
                f"{name} must be a tensor (batch, heads, tokens, width). Got "
                f"{type(tensor).__name__} instead."
            )
        if tensor.dim() != 4:
            raise ValueError(
                f"{name} must have the shape (batch, heads, tokens, width). Got "
                f"{tuple(tensor.shape)} instead."
            )
    _check_dtypes(q, k, v)
    if not (q.device == k.device == v.device):
        raise ValueError(
            f"q, k and v must be on one device. Got {q.device}, {k.device}, {v.device}: move them "
            "first."
        )
    need_device(encoding, q)
    _check_heads(q, encoding)
    if k.shape[:3] != v.shape[:3] or q.shape[0] != k.shape[0] or q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"q {tuple(q.shape)}, k {tuple(k.shape)} and v {tuple(v.shape)} do not fit together.\n"
            "  Allowed: q (B,H,Q,d), k (B,G,K,d), v (B,G,K,·)."
        )
    if k.shape[1] == 0 or q.shape[1] % k.shape[1]:
        raise ValueError(
            f"{q.shape[1]} query heads cannot share {k.shape[1]} key heads: the one must divide "
            "the other."
        )


def _check_dtypes(q: Tensor, k: Tensor, v: Tensor) -> None:
    if not (q.dtype == k.dtype == v.dtype):
        raise ValueError(
            f"q, k and v must have one dtype. Got {q.dtype}, {k.dtype}, {v.dtype}: cast them first."
        )
    if not q.is_floating_point():
        raise ValueError(
            f"q, k and v must be real numbers, but they are {q.dtype}: cast them first."
        )
    if q.dtype.itemsize < 2:
        raise ValueError(
            f"attention cannot be computed in {q.dtype}: cast q, k and v to torch.bfloat16 first."
        )


def _check_heads(q: Tensor, encoding: Encoding) -> None:
    shape = encoding.shape
    if (q.shape[1], q.shape[-1]) == (shape.heads, shape.head):
        return
    if (q.shape[2], q.shape[-1]) == (shape.heads, shape.head):
        raise ValueError(
            f"q has the shape {tuple(q.shape)}: heads and tokens are swapped. It must be (B, H, "
            "T, d) with "
            f"{shape.heads} heads.\n  Write layout='BTHd', or q.transpose(1, 2) and the same for k "
            "and v."
        )
    raise ValueError(
        f"q has {q.shape[1]} heads of width {q.shape[-1]}, but the encoding was made for "
        f"{shape.heads} heads "
        f"of width {shape.head}.\n  Make it with dim={q.shape[1] * q.shape[-1]}, "
        f"heads={q.shape[1]}."
    )


def _positions_for(
    encoding: Encoding, q: Tensor, k: Tensor, q_pos: Tensor | None, k_pos: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Check both positions. Only `none` may do without."""
    if q_pos is None or k_pos is None:
        if not isinstance(encoding, Nothing):
            raise ValueError(
                "q_pos and k_pos are needed: positions are passed, never guessed. See "
                "locant.positions."
            )
        q_pos = torch.arange(q.shape[-2], device=q.device) if q_pos is None else q_pos
        k_pos = torch.arange(k.shape[-2], device=k.device) if k_pos is None else k_pos
    for name, pos, tokens in (("q_pos", q_pos, q), ("k_pos", k_pos, k)):
        positions.check(
            pos,
            batch=q.shape[0],
            length=tokens.shape[-2],
            axes=encoding.axes,
            device=q.device,
            name=name,
        )
    return q_pos, k_pos


def _states_for(
    encoding: Encoding,
    states: tuple[Tensor | None, Tensor | None],
    sizes: tuple[int, int, int, int],
) -> States | None:
    """Check both states, which an encoding with `sense` needs and no other takes."""
    name = type(encoding).__name__
    q_state, k_state = states
    if q_state is None and k_state is None:
        if senses(encoding):
            raise ValueError(
                f"{name} needs the states of the tokens: q_state=encoding.sense(x, q_pos) and "
                "k_state=encoding.sense(x, k_pos),\n"
                "  of the input x (B,T,D) of the layer. locant.Attention and Transformer do it."
            )
        return None
    if q_state is None or k_state is None:
        raise ValueError("q_state and k_state are given together, or neither of them.")
    if not senses(encoding):
        raise ValueError(f"{name} has no states: leave out q_state and k_state.")
    given = States(q_state, k_state)
    for option, state in zip(("q_state", "k_state"), given, strict=True):
        if not isinstance(state, Tensor):
            raise ValueError(
                f"{option} must be a tensor. Got {type(state).__name__} instead.\n"
                f"  Give what the encoding returned for these tokens: {option}=encoding.sense(x, "
                f"{option[0]}_pos)"
            )
    check_states(given, sizes)
    return given


def check_mask(
    mask: Mask | None, sizes: tuple[int, int, int, int], device: torch.device
) -> Mask | None:
    """Check a mask against (B,H,Q,K); what it has of a tensor gets four dimensions."""
    if mask is None:
        return None
    if isinstance(mask, SegmentMask):
        _check_segments(mask, sizes)
        if mask.also is None:
            return mask
        return SegmentMask(mask.lengths, _check_tensor_mask(mask.also, sizes, device))
    return _check_tensor_mask(mask, sizes, device)


def _check_segments(mask: SegmentMask, sizes: tuple[int, int, int, int]) -> None:
    _, _, queries, keys = sizes
    total = sum(mask.lengths)
    if total != keys:
        raise ValueError(
            f"the sequences of the mask have {total} tokens in all, but there are {keys} keys.\n"
            "  Lengths fill the row: add one for padding at its end."
        )
    if queries > keys:
        raise ValueError(
            f"a mask by segments needs the queries to be the last of the keys. Got {queries} "
            f"queries and {keys} keys."
        )


def _check_tensor_mask(
    mask: Tensor, sizes: tuple[int, int, int, int], device: torch.device
) -> Tensor:
    """Check a mask against (B,H,Q,K) and give it four dimensions, (1|B, 1|H, 1|Q, K)."""
    if not isinstance(mask, Tensor):
        kind = type(mask).__name__
        raise ValueError(
            f"the mask must be a boolean tensor, True = may be seen, or a SegmentMask. Got {kind} "
            "instead."
        )
    if mask.dtype != torch.bool:
        raise ValueError(
            f"a mask is boolean, True = may be seen. Got {mask.dtype} instead.\n"
            "  Where 1 = may be seen write mask.bool(); where 0 = may be seen and −∞ = hidden "
            "write mask == 0."
        )
    padded = (1,) * (4 - mask.dim()) + tuple(mask.shape)
    fits = mask.dim() <= 4 and padded[-1] == sizes[-1]
    if not fits or any(m not in (1, s) for m, s in zip(padded, sizes, strict=True)):
        raise ValueError(
            f"the mask has the shape {tuple(mask.shape)}, which does not fit (B,H,Q,K) = {sizes}.\n"
            "  For padding of shape (B,K) write mask[:, None, None, :]."
        )
    if mask.device != device:
        raise ValueError(
            f"the mask is on {mask.device}, but the tokens are on {device}. Move it there."
        )
    return mask.reshape(padded)
