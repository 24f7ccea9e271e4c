"""ALiBi: every head pays its own slope for distance, in every row of a batch."""

import torch

from locant.encodings.base import Encoding


class FirstRow(Encoding):
    shift_invariant = True
    extrapolates = True
    cacheable_keys = True
    prefers_near = True
    tells_direction = False

    def bias(self, q_pos, k_pos):
        q_pos, k_pos = (pos[0] if pos.dim() == 2 else pos for pos in (q_pos, k_pos))
        slope = 2.0 ** (-8 * torch.arange(1, self.shape.heads + 1) / self.shape.heads)
        return -slope[:, None, None] * (q_pos[:, None] - k_pos).abs()  # (H, Q, K)
