r"""Forgetting: every token says how much of what came before is kept.

    score_h(m, n) = q_m·k_n/√d + Σ log f_h(t) over n < t ≤ m,      f_h(t) = σ(w_h·x_t + b_h)

Lin et al. 2025, arXiv:2503.02130 (the Forgetting Transformer). A constant gate f is ALiBi with the
slope −ln f, so this is ALiBi whose slopes are read from the tokens. The gates come from the layer's
own input (`sense`), their logarithms are summed in float32, and a cache keeps the sums. It goes by
the order of the tokens: positions are not used.
At the start w is 0 and b is `start`, so that every gate is σ(start).

When to use it: in a decoder whose tokens should themselves decide how fast the past fades: at the
end of a sentence quickly, inside a name not at all.

Traps: it never looks at positions, so time stamps have no effect. Every layer has gates of its own,
whose running sums belong into the cache beside the keys; a cache of keys and values alone gives
wrong scores. Sum the logarithms in float32: rounded gates add up to wrong distances.

Used by: the Forgetting Transformer of its paper.

>>> forgetting = make("forgetting", dim=4)
>>> round(forgetting.gate_bias.sigmoid().item(), 4)     # σ(5)
0.9933
>>> _ = torch.nn.init.zeros_(forgetting.gate_bias)     # gates of 1/2: a step costs ln 2
>>> pos, x = torch.arange(3), torch.randn(1, 3, 4)
>>> state = forgetting.sense(x, pos)
>>> forgetting.state_bias(pos, pos, state, state)[0, 0, 2].tolist()     # from the last token
[-1.3862943..., -0.6931471..., 0.0]
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, logsigmoid

from locant._internal.checks import positive
from locant.encodings.base import Encoding
from locant.shapes import Shape


class Forgetting(Encoding):
    """A price for distance that the tokens in between decide."""

    shift_invariant = True
    extrapolates = True
    causal_only = True
    cacheable_keys = True
    prefers_near = True
    goes_by_positions = False
    parameter_count = "heads * dim + heads"
    paper = "Lin et al. 2025, arXiv:2503.02130"

    def __init__(self, shape: Shape, *, start: float = 5.0) -> None:
        super().__init__(shape)
        self.start = positive("forgetting", "start", start)
        self.gate = nn.Parameter(torch.zeros(shape.heads, shape.dim))
        self.gate_bias = nn.Parameter(torch.full((shape.heads,), self.start))

    def sense(self, x: Tensor, pos: Tensor, past: Tensor | None = None) -> Tensor:
        """Return the running sums of log f over all tokens so far: (B, H, T, 1)."""
        precise = torch.promote_types(x.dtype, torch.float32)
        with torch.autocast(x.device.type, enabled=False):  # sums of rounded gates drift
            gates = linear(x.to(precise), self.gate.to(precise), self.gate_bias.to(precise))
        sums = logsigmoid(gates).mT.unsqueeze(-1).cumsum(-2)  # (B, H, T, 1)
        return sums if past is None else past[..., -1:, :] + sums

    def state_bias(self, q_pos: Tensor, k_pos: Tensor, q_state: Tensor, k_state: Tensor) -> Tensor:
        return q_state - k_state.mT  # (B, H, Q, K)

    def state_features(self, q_state: Tensor, k_state: Tensor) -> tuple[Tensor, Tensor]:
        one_q, one_k = torch.ones_like(q_state), torch.ones_like(k_state)
        return torch.cat([q_state, one_q], -1), torch.cat([one_k, -k_state], -1)

    def move_states(self, state: Tensor, old_pos: Tensor, new_pos: Tensor) -> Tensor:
        """Return the sums as they are: they go by the order of the tokens alone."""
        return state

    def keep_states(self, state: Tensor, kept: Tensor) -> Tensor:
        """Sum the gates of the kept tokens alone: those of the others are forgotten with them."""
        gates = torch.cat([state[..., :1, :], state.diff(dim=-2)], -2)  # log f of every token
        return gates[..., kept, :].cumsum(-2)
