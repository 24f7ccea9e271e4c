r"""Learned: a table with one vector for each position, added to the input.

    x_p + E[p],      E ~ N(0, std²) at the start

Devlin et al. 2019 (BERT), arXiv:1810.04805. There is nothing past the table's end, and it says so.
With grid=[h, w] positions are points of a grid and each of the h·w points has its vector (ViT,
Dosovitskiy et al. 2021, arXiv:2010.11929); `resample` gives the encoding of another resolution.

When to use it: when the length is fixed and known, data are plentiful, and absolute slots mean
something, as the first token or the cells of a fixed layout do.

Traps: it ends at its last row, and in practice at the last row that training visited. At the start
it knows nothing of neighbors. Its scale at the start (0.02 in BERT) differs from the sinusoid's
(0.71): compare encodings at equal scales. Some models count from 2 (RoBERTa, OPT):
`positions.from_mask(…, start=2)`.

Used by: BERT, RoBERTa, GPT-2, OPT, ViT and CLIP.

>>> learned = make("learned", dim=8, length=64)
>>> bool((learned.embed(torch.ones(1, 64, 8), torch.arange(64)) == 1 + learned.table).all())
True
>>> round(make("learned", dim=64).table.std().item(), 3)
0.02
>>> learned.embed(torch.zeros(1, 1, 8), torch.tensor([700]))
Traceback (most recent call last):
ValueError: learned has vectors for positions 0..63, but position 700 was asked for.
  Make it with length > 700, or use an encoding that has a value everywhere: ...
>>> image = make("learned", dim=1, grid=[1, 2])
>>> image.table.data = torch.tensor([[0.0], [8.0]])     # linear between the centers 1/4 and 3/4
>>> image.resample([1, 4], method="bilinear").table.flatten().tolist()
[0.0, 2.0, 6.0, 8.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from locant._internal.checks import one_of, positive, whole_number
from locant.encodings._tables import look_up, need_whole_numbers
from locant.encodings.base import Encoding, refuse_float8
from locant.positions import visible
from locant.shapes import Shape

METHODS: dict[str, dict[str, Any]] = {  # how vectors are read between the points
    "bicubic": {"mode": "bicubic"},
    "antialiased": {"mode": "bicubic", "antialias": True},
    "bilinear": {"mode": "bilinear"},
}


class Learned(Encoding):
    """One learned vector a position."""

    cacheable_keys = True
    bounded = True
    parameter_count = "length * dim"
    paper = "Devlin et al. 2019, arXiv:1810.04805"

    def __init__(
        self, shape: Shape, *, std: float = 0.02, grid: Sequence[int] | None = None
    ) -> None:
        super().__init__(shape)
        self.std = positive("learned", "std", std)
        self.grid = None if grid is None else _check_grid("grid", grid)
        rows = shape.length
        if self.grid is not None:
            self.axes, rows = 2, self.grid[0] * self.grid[1]
            self.parameter_count = f"{rows} * dim"
            self.shape = Shape(shape.dim, shape.heads, min(self.grid))  # on every axis
        self.table = nn.Parameter(torch.randn(rows, shape.dim) * self.std)

    def embed(self, x: Tensor, pos: Tensor) -> Tensor:
        refuse_float8("learned", x)
        if self.grid is not None:
            pos = _row_of_point(pos, self.grid)
        return x + look_up("learned", self.table, pos).to(x.dtype)

    @torch.no_grad()
    def resample(self, grid: Sequence[int], method: str = "bicubic") -> Learned:
        """Return the encoding of a grid with another resolution, its vectors read between ours.

        method  "bicubic" as transformers' vision models, "antialiased" as timm, "bilinear"
        """
        if self.grid is None:
            raise ValueError(
                "learned.resample needs an encoding of a grid; this one has a row of positions.\n"
                '  Make it with grid=[h, w]: locant.make("learned", dim=…, grid=[14, 14]).'
            )
        how = METHODS[one_of("learned.resample", "method", method, METHODS)]
        sizes = _check_grid("resample", grid)
        points = self.table.T.reshape(1, -1, *self.grid)  # (1, D, h, w)
        precise = points.to(torch.promote_types(points.dtype, torch.float32))
        read = nn.functional.interpolate(precise, sizes, align_corners=False, **how)
        other = Learned(self.shape, std=self.std, grid=sizes)
        other.table = nn.Parameter(
            read[0].flatten(1).T.contiguous().to(self.table), self.table.requires_grad
        )
        return other.train(self.training)


def _check_grid(option: str, grid: Any) -> tuple[int, int]:
    """The number of points on each of two axes."""
    if not isinstance(grid, list | tuple) or len(grid) != 2:
        raise ValueError(
            f"learned needs two whole numbers, [h, w], for {option}. Got {grid!r} instead."
        )
    h, w = (whole_number("learned", f"{option}={grid!r}", size) for size in grid)
    return h, w


def _row_of_point(pos: Tensor, grid: tuple[int, int]) -> Tensor:
    """The row of the table for each point (…, T, 2) of the grid: (…, T)."""
    need_whole_numbers("learned", pos)
    pos = pos.long()
    if visible(pos) and pos.numel():
        outside = (pos < 0) | (pos >= torch.tensor(grid, device=pos.device))
        if outside.any():
            point = pos[outside.any(-1)][0].tolist()
            raise ValueError(
                f"learned has vectors for the points of a grid of {grid[0]} × {grid[1]}, from "
                f"[0, 0] on, but point {point} was asked for.\n"
                "  Give a larger image its own resolution: encoding.resample([h, w])."
            )
    return pos[..., 0] * grid[1] + pos[..., 1]
