"""Call an encoding's hooks, and check what they return before torch broadcasts it."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from locant.encodings.base import Encoding, senses


class States(NamedTuple):
    """What an encoding's `sense` returned for the queries (B,1|H,Q,·) and the keys (B,1|H,K,·)."""

    q: Tensor
    k: Tensor


def sense(encoding: Encoding, x: Tensor, pos: Tensor, past: Tensor | None = None) -> States | None:
    """Return the states of a layer's tokens x (B,T,D), or None when the encoding has no `sense`.

    past  the states of the tokens in the cache; those of x follow them
    """
    if not senses(encoding):
        return None
    state = encoding.sense(x, pos, past)
    if state is None:
        raise ValueError(f"{type(encoding).__name__}.sense returned None for some tokens.")
    states = States(state, state if past is None else torch.cat([past, state], -2))
    before = 0 if past is None else past.shape[-2]
    queries = x.shape[1]
    check_states(states, (x.shape[0], encoding.shape.heads, queries, before + queries))
    return states


def check_states(states: States, sizes: tuple[int, int, int, int]) -> None:
    """Refuse states of a wrong shape; sizes are (B,H,Q,K)."""
    batch, heads, queries, keys = sizes
    for option, state, count in zip(("q_state", "k_state"), states, (queries, keys), strict=True):
        fits = state.dim() == 4 and state.shape[0] == batch and state.shape[1] in (1, heads)
        if not fits or state.shape[2] != count:
            raise ValueError(
                f"{option} has the shape {tuple(state.shape)}.\n"
                f"  Allowed: ({batch}, 1 or {heads}, {count}, any width)"
            )


def rotate(
    encoding: Encoding,
    q: Tensor,
    k: Tensor,
    q_pos: Tensor,
    k_pos: Tensor,
    precomputed: Any = None,
) -> tuple[Tensor, Tensor]:
    """Rotate queries (B,H,Q,d) and keys (B,G,K,d) by their positions; temperatures go into q."""
    if precomputed is None:
        q, k = encoding.rotate(q, k, q_pos, k_pos)
    else:
        q, k = encoding.rotate(q, k, q_pos, k_pos, precomputed)
    temperature = encoding.temperature(q_pos)
    if temperature is None:
        return q, k
    return q * temperature[..., None, :, None].to(q.dtype), k


def compute_bias(
    encoding: Encoding,
    q_pos: Tensor,
    k_pos: Tensor,
    sizes: tuple[int, int, int, int],
    states: States | None = None,
) -> Tensor | None:
    """Compute what an encoding adds to the scores, from positions and states: (1|B, 1|H, Q, K)."""
    bias = check_bias(encoding, encoding.bias(q_pos, k_pos), sizes)
    if states is None:
        return bias
    found = encoding.state_bias(q_pos, k_pos, states.q, states.k)
    more = check_bias(encoding, found, sizes, hook="state_bias")
    if bias is None or more is None:
        return more if bias is None else bias
    return bias + more


def check_bias(
    encoding: Encoding,
    bias: Tensor | None,
    sizes: tuple[int, int, int, int],
    hook: str = "bias",
) -> Tensor | None:
    """Check what an encoding's hook returned against (B,H,Q,K) and give it four dimensions."""
    if bias is None:
        return None
    batch, heads, queries, keys = sizes
    bias = bias if bias.is_floating_point() else bias.float()
    full = bias.reshape((1,) * (4 - bias.dim()) + tuple(bias.shape)) if bias.dim() < 4 else bias
    fits = full.dim() == 4 and full.shape[0] in (1, batch) and full.shape[1] in (1, heads)
    if not fits or tuple(full.shape[2:]) != (queries, keys):
        raise ValueError(
            f"{type(encoding).__name__}.{hook} gave the shape {tuple(bias.shape)}.\n"
            f"  Allowed: (1 or {batch}, 1 or {heads}, {queries}, {keys}); "
            "`difference(q_pos, k_pos)` gives such a shape."
        )
    return full
