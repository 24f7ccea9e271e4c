"""A bias that is never written down whole: (Q,K) numbers a head, of which a few rows at a time are made or shown.

`ByDistance` is for a bias that depends on distance alone, at positions that are evenly spaced. Its matrix has equal
diagonals, so one line of Q + K − 1 numbers holds all of it:

    bias(i, j) = line[j − i + Q − 1]

With the queries in reverse order, row r and column j need line[j + r + const]: strides of 1 and 1 show the line to the
fused kernel as a matrix. `ByPositions` is for any other bias from positions: its rows are computed when they are needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
from torch import Tensor

from locant import positions
from locant.encodings.base import Encoding, needs_scores, overrides
from locant.paths.masks import hidden
from locant.paths.rows import Rows


class Gradient(Protocol):
    """The gradient of a few rows, given in blocks of keys."""

    def add(self, row: int, heads: slice, first: int, block: Tensor) -> None:
        """From some heads of a batch row, the keys `first` and on.

        block  (heads, rows, some); with room, (heads, rows, some + more), the last columns zero, at least as many as rows
        """

    def finish(self) -> None:
        """All of these rows and keys has been given."""


class Tiles(Protocol):
    """A bias by rows."""

    @property
    def learned(self) -> tuple[Tensor, ...]:
        """The tensors that the gradient of the bias goes to."""

    @property
    def read(self) -> tuple[Tensor, ...]:
        """The tensors that `at` reads: none may be changed between the forward and the backward pass."""

    @property
    def matrices(self) -> int:
        """How many matrices (rows, keys) `at` writes down: one for each batch row and head, fewer, or none."""

    @property
    def room(self) -> bool:
        """Whether `gradient` wants room behind the numbers of each row."""

    @property
    def told(self) -> str:
        """In words."""

    def at(self, rows: Rows) -> Tensor:
        """The rows in reverse order: (1|B, 1|H, rows, keys)."""

    def gradient(self, rows: Rows, bias: Tensor, learned: list[Tensor]) -> Gradient:
        """What gathers the gradient of these rows, and adds to `learned` what it gives to the tensors of that name.

        bias  what `at` gave, made with gradients on
        """


@dataclass(frozen=True)
class ByDistance:
    """A line of Q + K − 1 numbers: (1, 1|H, Q + K − 1)."""

    line: Tensor
    queries: int

    @property
    def learned(self) -> tuple[Tensor, ...]:
        return (self.line,)

    @property
    def read(self) -> tuple[Tensor, ...]:
        return (self.line,)

    matrices: ClassVar = 0
    room: ClassVar = True
    told: ClassVar = "shown to the kernel by distance"

    def at(self, rows: Rows) -> Tensor:
        size = (1, self.line.shape[1], rows.last - rows.first, rows.keys - rows.start)
        strides = (0, self.line.stride(1), 1, 1)
        return self.line.as_strided(size, strides, self.line.storage_offset() + self.queries - rows.last + rows.start)

    def gradient(self, rows: Rows, bias: Tensor, learned: list[Tensor]) -> Gradient:
        return _AlongDiagonals(learned[0], self.queries - rows.last)


@dataclass(frozen=True)
class _AlongDiagonals:
    """Sums along diagonals: (1, 1|H, Q + K − 1), where the first of these rows begins at `start`."""

    line: Tensor
    start: int

    def add(self, row: int, heads: slice, first: int, block: Tensor) -> None:
        many, count, wide = block.shape
        slanted = block.as_strided((many, count, wide - 1), (count * wide, wide - 1, 1), block.storage_offset())
        some = slanted.sum(1)  # row r begins r places to the left: (heads, some + more − 1)
        begin = self.start + first
        line = _of_heads(self.line[0], heads)[:, begin : begin + wide - 1]
        line += some[:, : line.shape[1]].sum_to_size(line.shape)  # what lies past the end is zero

    def finish(self) -> None:
        """Everything is where it belongs."""


@dataclass(frozen=True)
class ByPositions:
    """An encoding's bias at positions q_pos, k_pos."""

    encoding: Encoding
    batch: int
    q_pos: Tensor
    k_pos: Tensor
    causal: bool

    @property
    def learned(self) -> tuple[Tensor, ...]:
        return tuple(p for p in self.encoding.parameters() if p.requires_grad)

    @property
    def read(self) -> tuple[Tensor, ...]:
        return (*self.encoding.parameters(), *self.encoding.buffers(), self.q_pos, self.k_pos)

    room: ClassVar = False
    told: ClassVar = "computed a few rows at a time"

    @property
    def matrices(self) -> int:
        rows = max(
            pos.shape[0] if pos.dim() > (1 if self.encoding.axes == 1 else 2) else 1 for pos in (self.q_pos, self.k_pos)
        )
        return rows * self.encoding.shape.heads

    def at(self, rows: Rows) -> Tensor:
        axis, wide = (-1 if self.encoding.axes == 1 else -2), rows.keys - rows.start
        q_pos = self.q_pos.narrow(axis, rows.first, rows.last - rows.first).flip(axis)
        found = self.encoding.bias(q_pos, self.k_pos.narrow(axis, rows.start, wide))
        sizes = (self.batch, self.encoding.shape.heads, rows.last - rows.first, wide)
        bias = checked_bias(self.encoding, found, sizes)
        assert bias is not None  # or there would be no tiles
        ahead = self.k_pos.shape[axis] - self.q_pos.shape[axis]
        if not self.causal or rows.keys <= rows.first + ahead + 1:
            return bias
        query = torch.arange(rows.last - 1, rows.first - 1, -1, device=bias.device)[:, None] + ahead
        see = torch.arange(rows.start, rows.keys, device=bias.device) <= query
        return bias + hidden(see, bias.dtype)

    def gradient(self, rows: Rows, bias: Tensor, learned: list[Tensor]) -> Gradient:
        alone = (self.batch, self.encoding.shape.heads) == (1, bias.shape[1])
        return _Written(self.learned, bias, learned, alone, rows.start)


class _Written:
    """All numbers of a few rows, and what they give to an encoding's parameters."""

    def __init__(
        self, tensors: tuple[Tensor, ...], bias: Tensor, totals: list[Tensor], alone: bool, start: int
    ) -> None:
        self.tensors, self.bias, self.start = tensors, bias, start  # bias (1|B, 1|H, rows, keys)
        self.totals = totals  # one for each of the tensors
        self.alone = alone  # each of its numbers is used by one batch row and head
        self.numbers: Tensor | None = None  # its gradient; None is 0

    def add(self, row: int, heads: slice, first: int, block: Tensor) -> None:
        if self.alone and block.shape == self.bias.shape[1:]:
            self.numbers = block[None]  # there is no other, and it is taken before its memory is written again
            return
        if self.numbers is None:
            self.numbers = torch.zeros_like(self.bias, memory_format=torch.contiguous_format)
        numbers = _of_heads(self.numbers[row % len(self.numbers)], heads)[..., first - self.start :]
        numbers = numbers[..., : block.shape[-1]]
        numbers += block.sum_to_size(numbers.shape)

    def finish(self) -> None:
        if self.numbers is None or not self.bias.requires_grad:  # what an encoding learns may act through another door
            return
        given = torch.autograd.grad(self.bias, self.tensors, self.numbers, allow_unused=True)
        for total, part in zip(self.totals, given, strict=True):
            if part is not None:
                total += part


def _of_heads(numbers: Tensor, heads: slice) -> Tensor:
    """Those of some heads; what all heads share is all there is."""
    return numbers if len(numbers) == 1 else numbers[heads]


def make_tiles(
    encoding: Encoding, q_pos: Tensor, k_pos: Tensor, *, batch: int, causal: bool, dtype: torch.dtype
) -> Tiles | None:
    """The bias of an encoding by its distances where they say it all, by its positions elsewhere; None when it has none."""
    spaced = positions.evenly_spaced(q_pos, k_pos) if encoding.axes == 1 and encoding.shift_invariant else None
    if spaced is None:
        any_pair = (pos.narrow(-1 if encoding.axes == 1 else -2, 0, 1) for pos in (q_pos, k_pos))
        none = encoding.bias(*any_pair) is None
        return None if none else ByPositions(encoding, batch, q_pos, k_pos, causal)
    queries, keys = q_pos.shape[-1], k_pos.shape[-1]
    count = queries + keys - 1
    start = spaced.ahead + spaced.step * (queries - 1)
    offsets = torch.arange(count, device=k_pos.device) * spaced.step
    bias = checked_bias(encoding, encoding.bias(start.reshape(1), offsets), (1, encoding.shape.heads, 1, count))
    if bias is None:
        return None
    line = bias[:, :, 0].to(dtype)  # (1, 1|H, Q + K − 1)
    if causal:
        line = line.masked_fill(torch.arange(count, device=line.device) >= keys, float("-inf"))
    return ByDistance(line.contiguous(), queries)


def has_tiles(encoding: Encoding) -> bool:
    """Whether attention with this encoding is plain attention and a bias."""
    return overrides(encoding, "bias") and not needs_scores(encoding)


def checked_bias(encoding: Encoding, bias: Tensor | None, sizes: tuple[int, int, int, int]) -> Tensor | None:
    """The bias with four dimensions, (1|B, 1|H, Q, K)."""
    if bias is None:
        return None
    batch, heads, queries, keys = sizes
    bias = bias if bias.is_floating_point() else bias.float()
    full = bias.reshape((1,) * (4 - bias.dim()) + tuple(bias.shape)) if bias.dim() < 4 else bias
    fits = full.dim() == 4 and full.shape[0] in (1, batch) and full.shape[1] in (1, heads)
    if not fits or tuple(full.shape[2:]) != (queries, keys):
        raise ValueError(
            f"{type(encoding).__name__}.bias gave the shape {tuple(bias.shape)}.\n"
            f"  Allowed: (1 or {batch}, 1 or {heads}, {queries}, {keys}); `difference(q_pos, k_pos)` gives such a shape."
        )
    return full
