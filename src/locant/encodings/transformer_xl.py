r"""Transformer-XL: content meets content, and content meets distance, each with its own vector.

    score_h(m, n) = ((q_m + u_h)·k_n + (q_m + v_h)·W_h R(m − n))/√d
    R(x) = [sin(x·ω_c) …, cos(x·ω_c) …],      ω_c = base^(−2c/D)

Dai et al. 2019, arXiv:1901.02860, §3.3. R is sinusoidal, D wide, sines first; W, u and v are
learned. Sines and cosines of a difference are sums of products of those of m and of n, so the
second term is a dot product too: queries and keys become d + D wide, the keys by the waves of n,
and no matrix of scores is needed. That holds at real and uneven positions, where the usual shift
of a matrix does not. An odd width drops the last cosine.

When to use it: when content and distance should meet at every layer without a limit on distances,
as in speech.

Traps: queries and keys become d + D wide, so scores cost more than with rotary. The published code
shifts a matrix of scores, which is right only for consecutive positions. R has all sines first,
then all cosines.

Used by: Transformer-XL, XLNet and Conformer speech models.

>>> xl = make("transformer_xl", dim=2)
>>> xl.content.data = torch.tensor([[3.0, 0.0]])     # u
>>> xl.position.data = torch.tensor([[0.0, 1.0]])     # v
>>> xl.weight.data = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])     # W R = [sin x, cos x]
>>> def score(q, k, m, n):     # before 1/√d
...     q, k = torch.tensor(q).view(1, 1, 1, 2), torch.tensor(k).view(1, 1, 1, 2)
...     q, k = xl.rotate(q, k, torch.tensor([m]), torch.tensor([n]))
...     return round((q * k).sum().item(), 4)
>>> score([0.0, 0.0], [2.0, 5.0], 7, 7)     # u·k + v·[sin 0, cos 0] = 6 + 1
7.0
>>> score([1.0, 0.0], [2.0, 5.0], 9, 7)     # 4·2 + sin 2 + cos 2
8.4932
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from locant._internal.checks import positive
from locant.encodings._waves import angles, frequencies
from locant.encodings.base import Encoding, refuse_float8
from locant.shapes import Shape


class TransformerXL(Encoding):
    """Content and distance in four products, of which two are with learned vectors."""

    shift_invariant = True
    extrapolates = True
    real_positions = True
    cacheable_keys = True
    bounded = True
    linear_offset = True
    parameter_count = "2 * dim + dim * dim"
    paper = "Dai et al. 2019, arXiv:1901.02860"

    def __init__(self, shape: Shape, *, base: float = 10_000.0, std: float = 0.02) -> None:
        super().__init__(shape)
        self.base = positive("transformer_xl", "base", base)
        self.std = positive("transformer_xl", "std", std)
        heads, width = shape.heads, shape.head
        self.content = nn.Parameter(torch.randn(heads, width) * self.std)  # u
        self.position = nn.Parameter(torch.randn(heads, width) * self.std)  # v
        self.weight = nn.Parameter(torch.randn(heads, width, shape.dim) * self.std)  # W

    def precompute(
        self, q_pos: Tensor, k_pos: Tensor, dtype: torch.dtype
    ) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """Return the sines and cosines of query and key positions, each (…, 1, T, pairs)."""
        dtype = torch.promote_types(dtype, torch.float32)
        for_q = self._waves(q_pos, dtype)
        return for_q, for_q if k_pos is q_pos else self._waves(k_pos, dtype)

    def _waves(self, pos: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        angle = angles(pos, frequencies(self.shape.dim, self.base, pos.device)).unsqueeze(-3)
        return angle.sin().to(dtype), angle.cos().to(dtype)

    def rotate(
        self,
        q: Tensor,
        k: Tensor,
        q_pos: Tensor,
        k_pos: Tensor,
        precomputed: tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]] | None = None,
    ) -> tuple[Tensor, Tensor]:
        refuse_float8("transformer_xl", q, k)
        if precomputed is None:
            precomputed = self.precompute(q_pos, k_pos, q.dtype)
        (sin_m, cos_m), (sin_n, cos_n) = precomputed
        precise = sin_m.dtype
        q_wide = q.to(precise)
        wanted = (q_wide + self.position.to(precise)[:, None]) @ self.weight.to(precise)
        pairs = sin_m.shape[-1]
        by_sin, by_cos = wanted[..., :pairs], wanted[..., pairs:]  # (B, H, Q, pairs), and one fewer
        by_cos = nn.functional.pad(by_cos, (0, pairs - by_cos.shape[-1]))
        for_cos_n = by_sin * sin_m + by_cos * cos_m  # sin(m − n) = sin m cos n − cos m sin n
        for_sin_n = by_cos * sin_m - by_sin * cos_m  # cos(m − n) = cos m cos n + sin m sin n
        new_q = torch.cat([q_wide + self.content.to(precise)[:, None], for_cos_n, for_sin_n], -1)
        waves = torch.cat([cos_n, sin_n], -1).to(k.dtype)  # (…, 1, K, 2·pairs)
        new_k = torch.cat([k, waves.expand(*k.shape[:-1], -1)], -1)
        return new_q.to(q.dtype), new_k

    def move_keys(self, k: Tensor, old_pos: Tensor, new_pos: Tensor) -> Tensor:
        """Put the waves of the new positions in place of those of the old ones."""
        sine, cosine = self._waves(new_pos, torch.promote_types(k.dtype, torch.float32))
        waves = torch.cat([cosine, sine], -1).to(k.dtype)  # (…, 1, K, 2·pairs)
        content = k[..., : self.shape.head]
        return torch.cat([content, waves.expand(*k.shape[:-1], -1)], -1)
