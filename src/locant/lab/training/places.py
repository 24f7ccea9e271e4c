"""Where the tokens of a batch are said to be: in order, or by a clock; or scrambled, or each alone, which are controls."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from locant.lab.tasks.base import generator
from locant.lab.training.config import RunConfig


class Place(NamedTuple):
    """Positions (T) or (B,T), and who may see whom (T,T), everyone by default."""

    pos: Tensor
    see: Tensor | None


class Places:
    """Places for one purpose. A control has random numbers of its own, so that data stay paired with the others'."""

    def __init__(self, run: RunConfig, purpose: str, *numbers: int) -> None:
        self.control, self.positions = run.control, run.positions
        self.draw = generator(f"scramble/{purpose}", run.seed, *numbers)

    def __call__(
        self, inputs: Tensor, real: Tensor | None = None, times: Tensor | None = None
    ) -> Place:
        rows, length = inputs.shape[:2]
        pos = torch.arange(length) if self.positions == "order" else _by_clock(times)
        if self.control == "scramble":
            pos = self._scrambled(rows, length, real)
        see = torch.eye(length, dtype=torch.bool) if self.control == "alone" else None
        return Place(pos, see)

    def _scrambled(self, rows: int, length: int, real: Tensor | None) -> Tensor:
        """The same positions in another order for every row; what is padding stays where it is."""
        key = torch.rand(rows, length, generator=self.draw)
        if real is None:
            return key.argsort(-1)
        key = torch.where(real, key, 2.0)
        order = key.argsort(dim=-1, stable=True)  # the real ones, shuffled, then the others
        spots = (
            torch.where(real, torch.arange(length), length + torch.arange(length)).sort(-1).values
            % length
        )
        return torch.empty_like(order).scatter(1, spots, order)


def _by_clock(times: Tensor | None) -> Tensor:
    if times is None:
        raise ValueError('this task tells no times: leave out positions = "times".')
    return times
