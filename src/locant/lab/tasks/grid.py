"""Grid: on which side of B is A, left or right and above or below? Asked again on a finer grid.

The tokens of a square grid stand in one row of tokens, line by line. Both axes decide, and each
alone tells half. On a grid of another size the same count means another line and column, while
coordinates keep their meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import torch
from torch import Tensor

from locant._internal.checks import whole_number
from locant.lab.tasks._ceilings import Arrangement
from locant.lab.tasks._token_task import TokenTask, scatter_markers
from locant.lab.tasks.base import Batch, Evaluation, Predict, Scores, generator


@dataclass(frozen=True)
class Grid(TokenTask):
    """Rows of side × side tokens with one A and one B (tokens 0, 1) in different lines and columns;
    the class counts "A below B" twice and "A right of B" once.

    finer  sides of larger grids to test on; their coordinates go on beyond those of training

    >>> rows = Grid(side=3).sample(2, generator("doctest"))
    >>> rows.inputs.shape, rows.times.shape, rows.times[0, 4].tolist()
    (torch.Size([2, 9]), torch.Size([2, 9, 2]), [1, 1])
    """

    side: int = 8
    symbols: int = 12
    finer: tuple[int, ...] = ()

    outputs = 4
    baselines = ("token counts", "token × place")

    def __post_init__(self) -> None:
        whole_number("grid", "side", self.side, least=2)
        whole_number("grid", "symbols", self.symbols, least=3)
        for side in self.finer:
            whole_number("grid", "finer", side, least=self.side + 1)

    @property
    def length(self) -> int:  # type: ignore[override]
        return self.side**2

    @property
    def longer(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(side**2 for side in self.finer)

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        tokens = torch.randint(2, self.symbols, (count, self.length), generator=draw)
        lines = torch.rand(count, self.side, generator=draw).argsort(-1)[:, :2]  # of A and B
        columns = torch.rand(count, self.side, generator=draw).argsort(-1)[:, :2]
        tokens = scatter_markers(tokens, self.side * lines + columns, [0, 1])
        below = (lines[:, 0] > lines[:, 1]).long()
        right = (columns[:, 0] > columns[:, 1]).long()
        return Batch(tokens, 2 * below + right, times=self._coordinates(count))

    def _coordinates(self, count: int) -> Tensor:
        """Return the line and column of every token: (count, side², 2)."""
        index = torch.arange(self.length)
        both = torch.stack([index // self.side, index % self.side], -1)
        return both.expand(count, -1, -1)

    def arrangements(self) -> Iterator[Arrangement]:
        cells = list(product(range(self.side), repeat=2))
        pairs = [(a, b) for a, b in product(cells, cells) if a[0] != b[0] and a[1] != b[1]]
        for a, b in pairs:
            markers = ((0, self.side * a[0] + a[1]), (1, self.side * b[0] + b[1]))
            label = 2 * (a[0] > b[0]) + (a[1] > b[1])
            yield Arrangement(markers, label, 1 / len(pairs))

    def lengthened(self, length: int) -> Any:
        """Ask the same question on a grid of so many tokens."""
        return replace(self, side=round(length**0.5), finer=())

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        rows = self.sample(count, generator("validation", seed))
        return self.score(predict(rows.inputs, None, rows.times), rows.target)

    def test(self, predict: Predict, count: int, seed: int) -> Evaluation:
        """Score grids of the trained side, and the accuracy on finer ones."""
        rows = self.sample(count, generator("test", seed))
        output = predict(rows.inputs, None, rows.times)
        scores = self.score(output, rows.target)
        columns = {"target": rows.target.tolist(), "answer": output.argmax(-1).tolist()}
        for length in self.longer:
            fewer = max(1, count * self.length // length)
            rows = self.lengthened(length).sample(fewer, generator("test", seed, length))
            output = predict(rows.inputs, None, rows.times)
            scores[f"accuracy at {length}"] = self.score(output, rows.target)["accuracy"]
        return Evaluation(scores, columns)
