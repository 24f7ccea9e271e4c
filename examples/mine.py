"""An encoding of one's own: a bias that falls with the square root of the distance."""

from locant.encodings.base import Encoding, difference


class Mine(Encoding):
    shift_invariant = True
    extrapolates = True
    real_positions = True
    prefers_near = True
    tells_direction = False

    def bias(self, q_pos, k_pos):
        return -difference(q_pos, k_pos).abs().sqrt()  # (1|B, 1, Q, K)
