r"""CoPE: a key is as far away as the tokens in between that matter to the query.

    score(m, n) = q_m·(k_n + e[p_mn])/√d,      p_mn = min(Σ g_mt over n ≤ t ≤ m, max_position)
    g_mt = σ(q_m·k_t/√d), 0 for keys that the query may not see

Golovneva et al. 2024, arXiv:2405.18719, eq. 3–5 (contextual position encoding). Each gate g says
how much a token counts for this query, so a position can be the number of words or of sentences
since. Between whole numbers the learned vectors e are interpolated; they are shared by the heads.
It goes by the order of the tokens: positions are not used. The paper is causal; where keys ahead
are seen too, the sum goes on to the last of them. The code in its appendix adds q·e without 1/√d,
which is the same with e √d times as large, and starts e at 0. All scores are materialized.

When to use it: in a decoder that should count things, such as sentences, instead of tokens.

Traps: a position needs the gates of all keys in between, so memory grows with the square of the
length. Gates of masked keys must not count, or padding moves every position. Whatever lies past
max_position shares the last vector.

Used by: the models of its paper.

>>> cope = make("cope", dim=1, max_position=2)
>>> cope.vectors.data = torch.tensor([[0.0], [10.0], [30.0]])     # e[0], e[1], e[2]
>>> q, k = torch.ones(1, 1, 1, 1), torch.zeros(1, 1, 5, 1)     # every gate is σ(0) = 1/2
>>> pos = torch.arange(5)
>>> cope.rescore(q @ k.mT, q, k, pos[4:], pos).flatten().tolist()     # p: 2.5 → 2, 2, 1.5, 1, 0.5
[30.0, 30.0, 20.0, 10.0, 5.0]
>>> may_see = torch.tensor([True, True, False, True, False])     # what is hidden does not count
>>> cope.rescore(q @ k.mT, q, k, pos[4:], pos, may_see).flatten()[may_see].tolist()
[20.0, 10.0, 5.0]
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from locant._internal.checks import positive, whole_number
from locant.encodings.base import Encoding, refuse_float8
from locant.shapes import Shape


class Cope(Encoding):
    """Learned vectors by the number of tokens since that matter to the query."""

    shift_invariant = True
    extrapolates = True
    cacheable_keys = True
    bounded = True
    goes_by_positions = False
    parameter_count = "(max_position + 1) * head"
    paper = "Golovneva et al. 2024, arXiv:2405.18719"

    def __init__(self, shape: Shape, *, max_position: int = 64, std: float = 0.02) -> None:
        super().__init__(shape)
        self.max_position = whole_number("cope", "max_position", max_position)
        self.std = positive("cope", "std", std)
        self.vectors = nn.Parameter(torch.randn(max_position + 1, shape.head) * self.std)  # e

    def rescore(
        self,
        scores: Tensor,
        q: Tensor,
        k: Tensor,
        q_pos: Tensor,
        k_pos: Tensor,
        may_see: Tensor | None = None,
    ) -> Tensor:
        refuse_float8("cope", q, k)
        precise = torch.promote_types(scores.dtype, torch.float32)
        gates = scores.to(precise).sigmoid()  # (B, H, Q, K)
        if may_see is not None:
            gates = gates.masked_fill(~may_see, 0.0)
        position = gates.flip(-1).cumsum(-1).flip(-1).clamp_max(self.max_position)
        below = position.detach().long().clamp_max(self.max_position - 1)
        by_row = q.to(precise) @ self.vectors.to(precise).T  # (B, H, Q, max_position + 1)
        by_row = by_row.to(precise)  # autocast has multiplied in half precision
        low, high = by_row.gather(-1, below), by_row.gather(-1, below + 1)
        return scores + torch.lerp(low, high, position - below).to(scores.dtype)
