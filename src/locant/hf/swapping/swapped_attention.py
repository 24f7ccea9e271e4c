"""Locant's attention behind transformers' own attention interface.

A swapped model has `config._attn_implementation` = "locant". Its layers then call `attend_swapped`,
and its masks come from `visible_keys`. Without the second, transformers would drop the padding mask
of an attention function that it does not know, in silence.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import (
    bidirectional_mask_function,
    causal_mask_function,
    prepare_padding_mask,
    sdpa_mask,
)

from locant.attention import calls
from locant.attention.inputs import prepare
from locant.attention.validation import check_mask
from locant.encodings.base import Encoding
from locant.encodings.hooks import States, rotate, sense
from locant.hf.swapping.key_positions import with_positions

NAME = "locant"  # the attention implementation
ALWAYS_A_MASK = "locant-mask"  # the same for models that cannot do without a mask tensor
LAYER = "_locant_layer"  # the attribute of an attention module that holds its SwappedLayer
CACHES = ("past_key_values", "layer_past")  # how attention modules call their cache


class SwappedLayer:
    """The encoding of one attention module, and where the tokens of the present call are."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        self.x = torch.zeros(0)  # the layer's own input (B,T,D)
        self.q_pos = self.k_pos = torch.arange(0)
        self.states: States | None = None
        self.rotated_keys = False  # whether the keys that arrive were rotated before caching
        self._state_heads: int | None = None

    def begin(self, x: Tensor, pos: Tensor, cache: Any) -> Any:
        """Start a call for tokens x (B,T,D) at pos (T) or (1|B,T); return the cache, wrapped."""
        self.x, self.q_pos, self.rotated_keys = x, _shared(pos), False
        self.k_pos = self.q_pos
        if cache is not None:
            return with_positions(cache, self)
        self.states = sense(self.encoding, x, self.q_pos)
        return None

    def rotate_keys(self, keys: Tensor) -> Tensor:
        """Rotate new keys (B,G,T,d) before they are stored, if the encoding lets them be kept."""
        if not self.encoding.cacheable_keys:
            return keys
        self.rotated_keys = True
        heads = self.encoding.shape.heads
        no_queries = keys.new_zeros(keys.shape[0], heads, 0, keys.shape[-1])
        nowhere = _none_of(self.q_pos)
        precomputed = self.encoding.precompute(nowhere, self.q_pos, keys.dtype)
        return rotate(self.encoding, no_queries, keys, nowhere, self.q_pos, precomputed)[1]

    def new_states(self, past: Tensor | None) -> Tensor | None:
        """Return the states of the new tokens, given those of the tokens in the cache."""
        self.states = sense(self.encoding, self.x, self.q_pos, past)
        if self.states is None:
            return None
        if self.x.dtype.itemsize < 4:
            raise ValueError(
                f"{type(self.encoding).__name__} keeps states of tokens in the cache, which "
                f"{self.x.dtype} would round: cast the model to float32, or pass use_cache=False."
            )
        return self.states.q

    def state_heads(self) -> int:
        """Return how many heads the states have: 1, or as many as the queries."""
        if self._state_heads is None:
            found = sense(self.encoding, self.x[:, :1], self.q_pos[..., :1])
            self._state_heads = 1 if found is None else found.q.shape[1]
        return self._state_heads

    def set_keys(self, pos: Tensor, states: Tensor | None) -> None:
        """Take the positions (B,K) and states of all keys that came back from the cache."""
        self.k_pos = _shared(pos)
        if self.states is not None and states is not None:
            self.states = States(self.states.q, states)

    def attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        *,
        mask: Tensor | None,
        causal: bool,
        scale: float | None,
        dropout: float,
    ) -> Tensor:
        """Attend from queries (B,H,Q,d) to keys and values (B,G,K,·): (B,H,Q,·)."""
        q_pos, k_pos = _alike(self.q_pos, self.k_pos, q.shape[0])
        scale = q.shape[-1] ** -0.5 if scale is None else scale
        seen = check_mask(mask, (*q.shape[:3], k.shape[2]), q.device)
        new_keys, new_pos = k, k_pos
        if self.rotated_keys:
            new_keys, new_pos = k.new_zeros(*k.shape[:2], 0, q.shape[-1]), _none_of(k_pos)
        inputs = prepare(
            self.encoding,
            q_pos,
            k_pos,
            like=q,
            causal=causal,
            mask=seen,
            states=self.states,
            rotated_pos=new_pos,
        )
        q, new_keys = rotate(self.encoding, q, new_keys, q_pos, new_pos, inputs.precomputed)
        k = k if self.rotated_keys else new_keys
        drop = nn.Dropout(dropout) if dropout else None
        return calls.run(q, k, v, inputs, scale=scale, drop=drop)


def attend_swapped(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    is_causal: bool | None = None,
    **more: Any,
) -> tuple[Tensor, None]:
    """Attend as transformers asks: queries (B,H,Q,d), output (B,Q,H,d) and no weights."""
    for word in ("softcap", "s_aux"):
        if more.get(word) is not None:
            raise ValueError(
                f"{type(module).__name__} attends with {word}, which a swapped encoding would "
                "drop: such a model cannot be swapped."
            )
    layer = getattr(module, LAYER, None)
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    if layer is None:  # cross-attention has no positions of its own
        more.pop("position_bias", None)
        more |= {"scaling": scaling, "dropout": dropout, "is_causal": causal}
        return sdpa_attention_forward(module, query, key, value, attention_mask, **more)
    mask = as_boolean(attention_mask)
    holds_order = mask is not None and mask.shape[-2] == query.shape[-2] > 1
    out = layer.attend(
        query,
        key,
        value,
        mask=mask,
        causal=causal and not holds_order,
        scale=scaling,
        dropout=dropout,
    )
    return out.transpose(1, 2), None


def visible_keys(
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: int = 0,
    kv_offset: int = 0,
    mask_function: Any = causal_mask_function,
    attention_mask: Tensor | None = None,
    **more: Any,
) -> Tensor | None:
    """Make the mask of a forward pass, True = may be seen; None when nothing but order hides keys.

    Plain causal and plain two-sided attention need only the padding, (B,1,1,K): the layer knows its
    order. Windows, packing and fixed-size caches are materialized, (B,1,Q,K).
    """
    aligned = isinstance(q_offset, int) and q_offset + q_length == kv_offset + kv_length
    two_sided = mask_function is bidirectional_mask_function
    if two_sided or (mask_function is causal_mask_function and aligned):
        padding = prepare_padding_mask(attention_mask, kv_length, kv_offset)
        if padding is None or bool(padding.all()):
            return None
        return padding[:, None, None, kv_offset : kv_offset + kv_length]
    more["allow_is_causal_skip"] = more["allow_is_bidirectional_skip"] = False
    sizes = (batch_size, q_length, kv_length, q_offset, kv_offset)
    return sdpa_mask(*sizes, mask_function=mask_function, attention_mask=attention_mask, **more)


def visible_keys_always(batch_size: int, q_length: int, kv_length: int, **more: Any) -> Tensor:
    """Make the mask of `visible_keys`; all True, (1,1,1,K), where that has none."""
    mask = visible_keys(batch_size, q_length, kv_length, **more)
    if mask is None:
        return torch.ones(1, 1, 1, kv_length, dtype=torch.bool, device=more.get("device"))
    return mask


def as_boolean(mask: Tensor | None) -> Tensor | None:
    """Read a mask that a user gave: boolean, or numbers to add that are 0 or hide altogether."""
    if mask is None or mask.dtype == torch.bool:
        return mask
    if not mask.is_floating_point():
        return mask.bool()
    seen = mask == 0
    if bool((~seen & (mask > torch.finfo(mask.dtype).min / 2)).any()):
        raise ValueError(
            "a swapped model takes masks that show or hide. Got numbers between: pass a boolean "
            "mask (True = may be seen), or 0 and torch.finfo(dtype).min."
        )
    return seen


def register() -> None:
    """Make both implementations known to transformers; doing it twice changes nothing."""
    for name, mask in ((NAME, visible_keys), (ALWAYS_A_MASK, visible_keys_always)):
        AttentionInterface.register(name, attend_swapped)
        AttentionMaskInterface.register(name, mask)


def _shared(pos: Tensor) -> Tensor:
    """Drop the batch dimension of positions that all rows share: (T), else (B,T)."""
    if pos.dim() == 2 and (pos.shape[0] == 1 or bool((pos == pos[:1]).all())):
        return pos[0]
    return pos


def _alike(q_pos: Tensor, k_pos: Tensor, batch: int) -> tuple[Tensor, Tensor]:
    """Give both positions one dimension, or both two."""
    if q_pos.dim() == k_pos.dim():
        return q_pos, k_pos
    q_pos = q_pos.expand(batch, q_pos.shape[-1])
    return q_pos, k_pos.expand(batch, k_pos.shape[-1])


def _none_of(pos: Tensor) -> Tensor:
    """Return the positions of no token."""
    return pos[..., :0]
