"""Give the tokens of a batch their positions: counted, by a clock, or destroyed on purpose as a
control."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from locant.lab.tasks.base import generator
from locant.lab.training.config import RunConfig


class TokenPositions(NamedTuple):
    """Positions (T) or (B,T), and the attention mask (T,T), True = may be seen; None lets all
    tokens see all."""

    pos: Tensor
    attn_mask: Tensor | None


class PositionPolicy:
    """The positions of a run for one purpose, such as "train" or "test".

    Scrambled positions come from random numbers of their own, so that a control sees the same data
    in the same order as the encodings it is compared with.
    """

    def __init__(self, run: RunConfig, purpose: str, *numbers: int) -> None:
        self.control = run.control
        self.positions = run.positions
        self.draw = generator(f"scramble/{purpose}", run.seed, *numbers)

    def __call__(
        self, inputs: Tensor, padding_mask: Tensor | None = None, times: Tensor | None = None
    ) -> TokenPositions:
        """Return the positions and the attention mask of inputs (B,T) or (B,T,features)."""
        rows, length = inputs.shape[:2]
        pos = torch.arange(length) if self.positions == "order" else _clock_times(times)
        if self.control == "scramble":
            pos = self._scrambled(rows, length, padding_mask)
        attn_mask = torch.eye(length, dtype=torch.bool) if self.control == "alone" else None
        return TokenPositions(pos, attn_mask)

    def _scrambled(self, rows: int, length: int, padding_mask: Tensor | None) -> Tensor:
        """Shuffle the positions of every row (B,T); padding keeps its position."""
        key = torch.rand(rows, length, generator=self.draw)
        if padding_mask is None:
            return key.argsort(-1)
        key = torch.where(padding_mask, key, 2.0)
        shuffled = key.argsort(dim=-1, stable=True)  # real tokens in random order, then the padding
        index = torch.arange(length)
        real_first = torch.where(padding_mask, index, length + index).sort(-1).values % length
        return torch.empty_like(shuffled).scatter(1, real_first, shuffled)


def _clock_times(times: Tensor | None) -> Tensor:
    if times is None:
        raise ValueError('the data of this task have no times: leave out positions = "times".')
    return times
