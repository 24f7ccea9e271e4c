r"""DeBERTa: content meets distance twice, once for the query and once for the key.

    score_h(m, n) = (q_m·k_n + q_m·K_h[δ(m − n)] + k_n·Q_h[δ(m − n)])/√(3d)
    δ(x) = x for |x| ≤ mid, else sign(x)·(mid + ⌈(mid − 1)·ln(|x|/mid)/ln((max_distance − 1)/mid)⌉)
    mid = buckets/2

He et al. 2021, arXiv:2006.03654, §3.1; the buckets are those of DeBERTa-v3, arXiv:2111.09543. K and
Q have a learned vector for each bucket from −buckets to buckets − 1, in each head; farther
distances share the last one. With max_distance=None every distance is a bucket, δ(x) = x, as in the
first DeBERTa. There the tables are projections of embeddings that all layers share;
here they are what comes out. Only 2·buckets products with each query and each key are formed and
then looked up, but all scores are materialized. The third term takes 1/√d, whatever `scale` is.

When to use it: in an encoder for understanding text, where the content of a token should decide
which distances matter to it, for the query and for the key alike.

Traps: it works on all scores, (Q, K) numbers a head, so memory grows with the square of the length
and a step costs more than with any bias by distance. Beside plain attention the scores are divided
by √(3d), not by √d. The third term is easily read at the mirrored distance: published code looks it
up by the key's row and transposes.

Used by: DeBERTa, DeBERTa-v2 and DeBERTa-v3.

>>> deberta = make("deberta", dim=1)
>>> deberta.bucket(torch.tensor([5, 128, 200, 256, 400, 511, 10_000, -300])).tolist()
[5, 128, 169, 192, 233, 255, 255, -207]
>>> deberta = make("deberta", dim=1, buckets=4, max_distance=8)
>>> deberta.to_keys.data = torch.arange(-4.0, 4)[:, None, None]     # K is the bucket
>>> deberta.to_queries.data = 10 * deberta.to_keys.data
>>> q, k = torch.full((1, 1, 1, 1), 2.0), torch.tensor([[[[1.0], [3.0]]]])
>>> m, n = torch.tensor([6]), torch.tensor([5, 7])     # distances 1 and −1
>>> scores = deberta.rescore(q @ k.mT, q, k, m, n) * 3**0.5
>>> [round(score, 4) for score in scores.flatten().tolist()]     # 2 + 2·1 + 1·10, 6 − 2·1 − 3·10
[14.0, -26.0]
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from locant._internal.checks import positive, whole_number
from locant.encodings._tables import need_whole_numbers
from locant.encodings.base import Encoding, difference, refuse_float8
from locant.shapes import Shape


class Deberta(Encoding):
    """Learned vectors by distance that meet the queries, and others that meet the keys."""

    shift_invariant = True
    extrapolates = True
    cacheable_keys = True
    bounded = True
    parameter_count = "4 * buckets * dim"
    paper = "He et al. 2021, arXiv:2006.03654"

    def __init__(
        self, shape: Shape, *, buckets: int = 256, max_distance: int | None = 512, std: float = 0.02
    ) -> None:
        super().__init__(shape)
        self.buckets = whole_number("deberta", "buckets", buckets, least=2)
        self.max_distance = max_distance
        if max_distance is not None:
            whole_number("deberta", "max_distance", max_distance, least=2)
        if max_distance is not None and max_distance - 1 <= buckets // 2:
            raise ValueError(
                f"deberta needs max_distance > buckets/2 + 1. Got max_distance={max_distance!r} "
                f"and buckets={buckets!r} instead."
            )
        self.std = positive("deberta", "std", std)
        size = (2 * buckets, shape.heads, shape.head)
        self.to_keys = nn.Parameter(torch.randn(size) * self.std)  # K
        self.to_queries = nn.Parameter(torch.randn(size) * self.std)  # Q

    def bucket(self, distance: Tensor) -> Tensor:
        """Return δ of distances m − n, clipped to the tables: whole numbers of the same shape."""
        if self.max_distance is None:
            return distance.clamp(-self.buckets, self.buckets - 1)
        middle = self.buckets // 2
        far = distance.abs().clamp_min(middle).double()
        steps = torch.log(far / middle) / math.log((self.max_distance - 1) / middle)
        log_bucket = middle + torch.ceil(steps * (middle - 1) - 1e-9).long()  # 1e-9: rounding
        bucket = torch.where(distance.abs() <= middle, distance, distance.sign() * log_bucket)
        return bucket.clamp(-self.buckets, self.buckets - 1)

    def rescore(
        self,
        scores: Tensor,
        q: Tensor,
        k: Tensor,
        q_pos: Tensor,
        k_pos: Tensor,
        may_see: Tensor | None = None,
    ) -> Tensor:
        refuse_float8("deberta", q, k)
        need_whole_numbers("deberta", q_pos, k_pos)
        row = self.bucket(difference(q_pos, k_pos)) + self.buckets  # (1|B, 1, Q, K)
        by_query = q @ self.to_keys.to(q.dtype).permute(1, 2, 0)  # (B, H, Q, rows)
        by_key = k @ self.to_queries.to(k.dtype).permute(1, 2, 0)  # (B, H, K, rows)
        for_query = by_query.gather(-1, row.expand(*by_query.shape[:3], -1))
        for_key = by_key.gather(-1, row.mT.expand(*by_key.shape[:3], -1)).mT
        return (scores + for_query + for_key * self.shape.head**-0.5) / math.sqrt(3)
