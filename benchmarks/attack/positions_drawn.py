"""Draw positions of every kind, and the masks that go with them."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import torch
from draws import REAL
from torch import Tensor

import locant


class Places(NamedTuple):
    """Positions as the library is given them, as they are known otherwise, and their own mask."""

    given: Tensor
    known: Tensor
    mask: Tensor | None
    kind: str


# ---- sizes ----


def draw_places(rng: Random, name: str, axes: int, batch: int, length: int) -> Places:
    """Draw positions that an encoding takes; on several axes each has its own."""
    tabled = name in ("learned", "hybrid")
    kinds = ["consecutive"] * 3 + ["offset", "rows", "random", "uneven", "spaced"]
    kinds += ["padded", "packed"]
    kinds += ["real", "real rows", "real even"] if name in REAL else []
    kind = rng.choice(kinds)
    found = [_places(rng, kind, batch, length, tabled) for _ in range(axes)]
    if axes == 1:
        return found[0]
    given = torch.stack(torch.broadcast_tensors(*(one.given for one in found)), -1)
    known = torch.stack(torch.broadcast_tensors(*(one.known for one in found)), -1)
    return Places(given, known, found[0].mask, kind)


def _places(rng: Random, kind: str, batch: int, length: int, tabled: bool) -> Places:
    if kind == "padded":
        return _padded(rng, batch, length)
    if kind == "packed":
        return _packed(rng, length)
    if kind.startswith("real"):
        given = _real(rng, kind, batch, length)
        return Places(given, rows(given.double()), None, kind)
    low = 0 if tabled else rng.choice((-3000, 0, 0))
    start = rng.randint(low, 3000) if kind != "consecutive" else 0
    counted = torch.arange(length)
    if kind == "random":
        shape = rng.choice(((length,), (1, length), (batch, length)))
        given = torch.randint(start, start + rng.choice((20, 2000)), shape)
    elif kind == "rows":
        given = torch.stack([counted + rng.randint(low, 500) for _ in range(batch)])
    elif kind == "uneven":
        given = start + torch.randint(1, 5, (length,)).cumsum(0)
    elif kind == "spaced":
        step = rng.choice((2, 7, -1, 0))
        given = start + counted * step - min(0, step * length)
    elif kind == "offset":
        given = locant.positions.consecutive(length, start=start)
        return Places(given, counted_from(start, length), None, kind)
    else:
        given = locant.positions.consecutive(length)
        return Places(given, counted_from(0, length), None, kind)
    narrow = rng.choice((torch.int64, torch.int64, torch.int32, torch.int16))
    return Places(given.to(narrow), rows(given.double()), None, kind)


def counted_from(start: int, length: int) -> Tensor:
    """Count from a number on: (1,T)."""
    return torch.tensor([[start + t for t in range(length)]], dtype=torch.float64)


def rows(pos: Tensor, axes: int = 1) -> Tensor:
    """Give positions a dimension of rows."""
    return pos[None] if pos.dim() == (1 if axes == 1 else 2) else pos


def _padded(rng: Random, batch: int, length: int) -> Places:
    """Pad rows on the left (some on the right); each counts its own tokens."""
    left = rng.random() < 0.7
    table, known = [], []
    for _ in range(batch):
        real = rng.randint(0 if rng.random() < 0.1 else 1, length)
        there = [False] * (length - real) + [True] * real
        counts = [0.0] * (length - real) + [float(t) for t in range(real)]
        table.append(there if left else there[::-1])
        known.append(counts if left else [float(t) for t in range(real)] + [0.0] * (length - real))
    mask = torch.tensor(table)
    given = locant.positions.from_mask(mask)
    return Places(given, torch.tensor(known, dtype=torch.float64), mask[:, None, None, :], "padded")


def _packed(rng: Random, length: int) -> Places:
    """Pack several sequences into one row."""
    lengths: list[int] = []
    while sum(lengths) < length:
        lengths.append(rng.randint(1, length - sum(lengths)))
    packed = locant.positions.packed(lengths)
    owner = [index for index, size in enumerate(lengths) for _ in range(size)]
    known = [float(t) for size in lengths for t in range(size)]
    mask = torch.tensor(owner)[:, None] == torch.tensor(owner)[None, :]
    return Places(packed.positions, torch.tensor([known], dtype=torch.float64), mask, "packed")


def _real(rng: Random, kind: str, batch: int, length: int) -> Tensor:
    """Draw real positions: stamps of time, rows of them, or evenly spaced ones."""
    if kind == "real even":
        return torch.arange(length) * rng.choice((0.5, 0.25, 3.0)) + rng.choice((0.0, 17.5))
    shape = (batch, length) if kind == "real rows" else (length,)
    stamps = torch.rand(shape, dtype=torch.float64).mul(3).cumsum(-1) + rng.uniform(-50, 50)
    return stamps.to(rng.choice((torch.float64, torch.float32)))
