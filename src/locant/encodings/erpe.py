r"""eRPE: after the softmax, every weight gets a learned number for the distance.

    out_h(m) = Σ_n (w_mn + b_h[m − n])·v_n      over the keys that the query may see

Foumani et al. 2024, arXiv:2305.16642, §4.2 (efficient relative position encoding, of ConvTran).
The scores stay as they are, and so do their weights w = softmax(q·kᵀ/√d); but after the table is
added the sum of the weights is no longer one. The table has one number for each head and each
distance below `length` and starts at 0; a longer distance is refused. ConvTran divides by √D, the
width of the model: pass scale=dim**-0.5 to `attend` for its numbers. All weights are materialized.

When to use it: for classifying time series of one known length.

Traps: it starts at 0, so a fresh model sees no order. The weights of a query no longer sum to one.
A distance past its table is refused. Added before the softmax it would be another encoding.

Used by: ConvTran, the classifier of time series in its paper.

>>> erpe = make("erpe", dim=1, length=3)
>>> erpe.table.flatten().tolist()
[0.0, 0.0, 0.0, 0.0, 0.0]
>>> erpe.table.data = torch.tensor([-2.0, -1.0, 0.0, 10.0, 20.0])[:, None]     # b[−2] … b[2]
>>> weights, v = torch.full((1, 1, 1, 2), 0.5), torch.tensor([[[[1.0], [100.0]]]])
>>> m, n = torch.tensor([1]), torch.tensor([0, 2])     # distances 1 and −1
>>> erpe.mix(weights, v, m, n).item()     # (0.5 + 10)·1 + (0.5 − 1)·100
-39.5
>>> may_see = torch.tensor([True, False])     # a hidden key has no weight, and gets none
>>> erpe.mix(torch.tensor([1.0, 0.0]).view(1, 1, 1, 2), v, m, n, may_see).item()
11.0
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from locant.encodings._tables import bias_from_rows, need_whole_numbers
from locant.encodings.base import Encoding, difference, refuse_float8
from locant.encodings.registry import claiming
from locant.positions import visible
from locant.shapes import Shape


class Erpe(Encoding):
    """Learned numbers by distance, added to the attention weights."""

    shift_invariant = True
    cacheable_keys = True
    bounded = True
    parameter_count = "heads * (2 * length - 1)"
    paper = "Foumani et al. 2024, arXiv:2305.16642"

    def __init__(self, shape: Shape) -> None:
        super().__init__(shape)
        self.table = nn.Parameter(torch.zeros(2 * shape.length - 1, shape.heads))  # b

    def mix(
        self,
        weights: Tensor,
        v: Tensor,
        q_pos: Tensor,
        k_pos: Tensor,
        may_see: Tensor | None = None,
    ) -> Tensor:
        refuse_float8("erpe", v)
        need_whole_numbers("erpe", q_pos, k_pos)
        distance = difference(q_pos, k_pos)  # (1|B, 1, Q, K)
        self._need_inside(distance if may_see is None else distance.where(may_see, 0))
        far = self.shape.length - 1
        row = (distance + far).clamp(0, 2 * far)
        added = bias_from_rows(self.table.to(weights.dtype), row)  # (1|B, H, Q, K)
        if may_see is not None:
            added = added.masked_fill(~may_see, 0.0)
        return (weights + added) @ v

    def _need_inside(self, distance: Tensor) -> None:
        """Refuse distances that have no number, where they can be looked at."""
        if not visible(distance) or not distance.numel():
            return
        farthest = int(distance.abs().max())
        if farthest >= self.shape.length:
            others = ", ".join(other for other in claiming("extrapolates") if other != "none")
            raise ValueError(
                f"erpe has numbers for distances up to {self.shape.length - 1}, but a query may "
                f"see a key that is {farthest} away.\n"
                f"  Make it with length > {farthest}, hide far keys with a mask, or use an "
                f"encoding that has a value everywhere: {others}"
            )
