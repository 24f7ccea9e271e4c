"""A layer that fits where nn.TransformerEncoderLayer fits, with an encoding in its attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, relu

from locant import positions
from locant.attention.functional import attend
from locant.attention.validation import check_tokens, need_encoding
from locant.encodings.base import Encoding, overrides, senses
from locant.encodings.none import Nothing
from locant.nn.float_mask import AddedMask, Shapes, TorchMask, read_mask
from locant.shapes import Shape


class EncoderLayer(nn.TransformerEncoderLayer):
    """nn.TransformerEncoderLayer with an encoding: the same constructor, weights and outputs.

    It runs inside nn.TransformerEncoder and takes the state dict of torch's layer; only the
    encoding's own parameters are added, as "encoding.…". Masks follow torch.nn: True or −inf
    means hidden. A query that sees nothing gives attention of 0, where torch gives NaN.

    encoding  for this width and these heads; none by default. One that acts on the input is
              called once before the encoder instead: x = encoding(x, pos). nn.TransformerEncoder
              copies the layer, so that each layer learns an encoding of its own.

    torch's encoder hands no positions to its layers. Then tokens are counted from 0, those hidden
    by src_key_padding_mask left out; a loop of your own passes `pos`.

    >>> rope = make("rotary", dim=32, heads=4)
    >>> layer = locant.nn.EncoderLayer(32, 4, batch_first=True, encoding=rope)
    >>> _ = layer.load_state_dict(torch.nn.TransformerEncoderLayer(32, 4).state_dict())
    >>> torch.nn.TransformerEncoder(layer, num_layers=2)(torch.randn(2, 5, 32)).shape
    torch.Size([2, 5, 32])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        encoding: Encoding | None = None,
    ) -> None:
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        shape = Shape(d_model, nhead)
        super().__init__(
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
            **factory,
        )
        self.encoding = Nothing(shape) if encoding is None else encoding
        need_encoding("EncoderLayer", self.encoding)
        made_for = self.encoding.shape
        if (made_for.dim, made_for.heads) != (d_model, nhead):
            raise ValueError(
                f"the encoding was made for dim={made_for.dim}, heads={made_for.heads}, but the "
                f"layer has d_model={d_model}, nhead={nhead}.\n  Make it with dim={d_model}, "
                f"heads={nhead}."
            )
        if overrides(self.encoding, "embed"):
            raise ValueError(
                f"{type(self.encoding).__name__} acts on the input, and every layer of an encoder "
                "would add it again.\n"
                "  Call it once before the encoder, x = encoding(x, pos), and make the layers "
                "without an encoding."
            )

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
        *,
        pos: Tensor | None = None,
    ) -> Tensor:
        """Return what src (T,B,D), or (B,T,D) with batch_first, or (T,D), becomes.

        src_mask              (T,T) or (B·H,T,T), boolean (True = hidden) or added to the scores
        src_key_padding_mask  (B,T), or (T) beside (T,D): tokens that nobody sees
        is_causal             a hint that src_mask is the causal order; it serves without a mask too
        pos                   (T) or (B,T), with a last dimension for axes; counted when left out
        """
        if src.is_nested:
            return self._nested(src, src_mask, src_key_padding_mask, is_causal, pos)
        x = src
        if src.dim() == 2:
            x = src.unsqueeze(0)
            if src_key_padding_mask is not None:
                src_key_padding_mask = src_key_padding_mask.unsqueeze(0)
        elif not self.self_attn.batch_first:
            x = src.transpose(0, 1)
        x = self._layer(x, src_mask, src_key_padding_mask, is_causal, pos)
        if src.dim() == 2:
            return x.squeeze(0)
        return x if self.self_attn.batch_first else x.transpose(0, 1)

    def _nested(
        self,
        src: Tensor,
        src_mask: Tensor | None,
        padding: Tensor | None,
        is_causal: bool,
        pos: Tensor | None,
    ) -> Tensor:
        """Pad rows of different lengths, and cut the outputs to those lengths again."""
        if src_mask is not None or padding is not None:
            raise ValueError(
                "a nested tensor has no padding: give it without src_mask and "
                "src_key_padding_mask, or pad it first."
            )
        lengths = [len(row) for row in src.unbind()]
        x = src.to_padded_tensor(0.0)
        length = torch.tensor(lengths, device=x.device)
        hidden = torch.arange(x.shape[1], device=x.device) >= length[:, None]  # (B, T)
        x = self._layer(x, None, hidden, is_causal, pos)
        rows = [row[:count] for row, count in zip(x.unbind(), lengths, strict=True)]
        return torch.nested.as_nested_tensor(rows)

    def _layer(
        self,
        x: Tensor,
        src_mask: Tensor | None,
        padding: Tensor | None,
        is_causal: bool,
        pos: Tensor | None,
    ) -> Tensor:
        """Run attention and feed-forward network on x (B,T,D), each with its norm and residual."""
        mask = self._mask(x, None if is_causal else src_mask, padding)
        if pos is None:
            pos = self._count(x, padding)
        check_tokens(self.encoding, x, pos)
        if self.norm_first:
            x = x + self._attend(self.norm1(x), pos, mask, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._attend(x, pos, mask, is_causal))
        return self.norm2(x + self._ff_block(x))

    def _mask(self, x: Tensor, src_mask: Tensor | None, padding: Tensor | None) -> TorchMask:
        batch, length, _ = x.shape
        heads, square = self.self_attn.num_heads, (length, length)
        every: Shapes = {
            square: (1, 1, *square),
            (batch * heads, *square): (batch, heads, *square),
        }
        keys: Shapes = {(batch, length): (batch, 1, 1, length)}
        among = read_mask("src_mask", src_mask, every)
        return among & read_mask("src_key_padding_mask", padding, keys)

    def _count(self, x: Tensor, padding: Tensor | None) -> Tensor:
        """Count the tokens of every row from 0; those that padding hides are not counted."""
        if self.encoding.axes > 1:
            raise ValueError(
                f"{type(self.encoding).__name__} has {self.encoding.axes} axes, and tokens can "
                "only be counted along one. Call the layers in a loop of your own, with pos=…"
            )
        if padding is None:
            return positions.consecutive(x.shape[1], device=x.device)
        hidden = padding if padding.dtype == torch.bool else padding == -torch.inf
        return positions.from_mask(~hidden)

    def _attend(self, x: Tensor, pos: Tensor, mask: TorchMask, is_causal: bool) -> Tensor:
        """Attend with torch's projections: (B,T,D)."""
        own, encoding = self.self_attn, self.encoding
        assert own.in_proj_weight is not None  # queries, keys and values have one width
        projected = linear(x, own.in_proj_weight, own.in_proj_bias)
        parts = projected.unflatten(-1, (3, own.num_heads, -1)).permute(2, 0, 3, 1, 4)
        q, k, v = parts.unbind()  # (B, H, T, d)
        q_state = k_state = None
        if mask.added is not None:
            encoding = AddedMask(self.encoding)
            q_state, k_state = encoding.states(x, pos, mask.added)
        elif senses(encoding):
            q_state = k_state = encoding.sense(x, pos)
        out = attend(
            q,
            k,
            v,
            encoding=encoding,
            q_pos=pos,
            k_pos=pos,
            causal=is_causal,
            mask=mask.seen,
            dropout=own.dropout if self.training else 0.0,
            q_state=q_state,
            k_state=k_state,
        )
        return self.dropout1(own.out_proj(out.transpose(1, 2).flatten(2)))
