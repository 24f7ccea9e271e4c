"""The letters used everywhere, and the three numbers that every encoding is built from.

    B  batch        T  time (tokens)        D  model width (dim)
    H  heads        d  width of one head    Q, K  queries and keys

Tensors in attention have the one layout (B, H, T, d).
"""

from __future__ import annotations

from dataclasses import dataclass

from locant._internal.checks import whole_number


@dataclass(frozen=True)
class Shape:
    """Model width, number of heads, and the length (in positions) an encoding is made for.

    >>> Shape(dim=64, heads=4, length=512).head
    16
    """

    dim: int
    heads: int = 1
    length: int = 512

    def __post_init__(self) -> None:
        for name in ("dim", "heads", "length"):
            whole_number("Shape", name, getattr(self, name))
        if self.dim % self.heads:
            fits = [h for h in range(1, self.dim + 1) if self.dim % h == 0]
            near = sorted(sorted(fits, key=lambda h: abs(h - self.heads))[:6])
            raise ValueError(
                f"dim={self.dim} cannot be shared among heads={self.heads}: each head needs the "
                "same width.\n"
                f"  Head counts that fit dim={self.dim}: {', '.join(map(str, near))}"
            )

    @property
    def head(self) -> int:
        """Width of one head, d = D / H."""
        return self.dim // self.heads
