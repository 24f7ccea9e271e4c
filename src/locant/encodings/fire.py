r"""FIRE: a small network reads the distance as a share of the way back to the first token.

    score_h(m, n) = q_m·k_n/√d + MLP(ψ(m − n)/ψ(max(m, L)))_h
    ψ(x) = ln(1 + |c|·x),  L = |l|·threshold

Li et al. 2024, arXiv:2310.04418, §3. MLP = Linear → ReLU → Linear, without a constant at the end,
which the softmax would take off again. c and l are learned and start at 0.1 and 1; threshold is
512. Up to L the network reads the distance alone; past it every distance is taken as a share of
the farthest one, so that the network never reads more than it was trained on. m is the query's
own position, so positions must restart at 0 with every sequence, as `positions.packed` and
`positions.from_mask` make them. The paper is causal; for a key ahead, ψ takes the sign of m − n.
The bias depends on m as well as on m − n: it is computed in blocks of queries, with one
evaluation of the network for every pair. Over many keys only those hidden units are evaluated that
switch on or off between the smallest and the largest share; the others are one straight line.

When to use it: in a decoder that is trained on one length and used on longer ones, when distances
matter as shares of the text rather than as counts.

Traps: it is not shift-invariant: positions must count from the first token of each sequence, so
packing and left padding need `positions.packed` and `positions.from_mask`. The network is evaluated
for every pair of tokens. Ahead of the query the paper defines nothing.

Used by: the models of its paper; no widely used one that we know of.

>>> fire = make("fire", dim=2, hidden=1)
>>> for parameter in fire.mlp.parameters():
...     _ = torch.nn.init.ones_(parameter)
>>> def share(m, n):     # the network is 1 + share
...     return round(fire.bias(torch.tensor([m]), torch.tensor([n])).item() - 1, 4)
>>> share(100, 90), share(511, 411)     # ln 2/ln 52.2, ln 11/ln 52.2
(0.1753, 0.6063)
>>> share(1024, 924)     # ln 11/ln 103.4
0.5169
>>> share(1024, 0), share(9, 9), share(90, 100)
(1.0, 0.0, -0.1753)
>>> [round(number.item(), 2) for number in (fire.c, fire.l)]
[0.1, 1.0]
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from locant._internal.checks import positive, whole_number
from locant.encodings.base import Encoding, difference, through
from locant.positions import visible
from locant.shapes import Shape

MIN_DIVISOR = 1e-6  # of what is divided by, were c trained to 0
MANY_KEYS = 1024  # from which on it is worth to find the units that switch


class Fire(Encoding):
    """A learned function of the distance, measured by the query's own position."""

    extrapolates = True
    real_positions = True
    cacheable_keys = True
    bounded = True
    parameter_count = "2 + 2 * hidden + hidden * heads"
    paper = "Li et al. 2024, arXiv:2310.04418"

    def __init__(self, shape: Shape, *, hidden: int = 32, threshold: float = 512.0) -> None:
        super().__init__(shape)
        self.hidden = whole_number("fire", "hidden", hidden)
        self.threshold = positive("fire", "threshold", threshold)
        self.c = nn.Parameter(torch.full((1,), 0.1))
        self.l = nn.Parameter(torch.ones(1))
        self.mlp = nn.Sequential(
            nn.Linear(1, hidden), nn.ReLU(), nn.Linear(hidden, shape.heads, bias=False)
        )

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        precise = torch.promote_types(self.c.dtype, torch.float32)
        delta = difference(q_pos, k_pos, precise).to(precise)  # (1|B, 1, Q, K)
        slope = self.c.abs().to(precise)
        far = self.threshold * self.l.abs().to(precise)
        m = torch.maximum(q_pos.to(precise), far)  # (Q) or (B, Q)
        m = m[..., None, :, None] if m.dim() == 2 else m[:, None]
        whole = torch.log1p(slope * m).clamp_min(MIN_DIVISOR)
        share = delta.sign() * torch.log1p(slope * delta.abs()) / whole  # (1|B, 1, Q, K)
        on_cpu = share.device.type == "cpu" and visible(share)  # before any length is looked at
        if on_cpu and k_pos.shape[-1] >= MANY_KEYS and share.numel():
            return self._by_switching_units(share)
        return through(self.mlp, share[..., None])[:, 0].movedim(-1, 1)  # (1|B, H, Q, K)

    def _by_switching_units(self, share: Tensor) -> Tensor:
        """Return what the network gives at every share (1|B, 1, Q, K): (1|B, H, Q, K).

        A unit that is on, or off, at the smallest and at the largest share is so at all of them.
        """
        first, second = (layer for layer in self.mlp if isinstance(layer, nn.Linear))
        with torch.autocast("cpu", enabled=False):
            into = torch.cat([first.weight, first.bias[:, None]], -1).to(share.dtype)  # (hidden, 2)
            last = second.weight.to(share.dtype)  # (H, hidden)
            flat = share.reshape(1, -1)
            flat = torch.cat([flat, torch.ones_like(flat)])  # (2, B·Q·K)
            ends = torch.stack(share.detach().aminmax())
            found = into.detach() @ torch.stack([ends, torch.ones_like(ends)])  # (hidden, 2)
            on, off = (found > 0).all(-1), (found <= 0).all(-1)
            switches = ~(on | off)  # or is not a number
            bias = last[:, on] @ into[on] @ flat  # (H, B·Q·K)
            bias.addmm_(last[:, switches], (into[switches] @ flat).relu_())
        return bias.unflatten(-1, (-1, *share.shape[2:])).transpose(0, 1)
