"""Tasks of fresh rows: every step draws its own, and so do validation and test; longer rows may be asked in the test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from locant.lab.tasks import UNSEEN
from locant.lab.tasks._ceilings import Placement, ceilings
from locant.lab.tasks._linear import fit_and_score
from locant.lab.tasks.base import Batch, Predict, Scores, Tested, generator

FIT = 4000  # rows that a linear baseline is fitted on


class Rows:
    """A class for every row, of tokens drawn by `sample`. A subclass is a frozen dataclass with `length` and `longer`."""

    length: int
    longer: tuple[int, ...]
    outputs: int

    features = 0
    pool = True
    causal = False
    metric = "accuracy"
    higher_is_better = True
    tested_on = UNSEEN
    chooses = "loss"  # accuracy saturates, and ties
    chooses_higher = False
    threshold = 0.9
    oracles: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ("token counts", "token × place")

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        """So many rows, all from the generator."""
        raise NotImplementedError

    def placements(self) -> Iterator[Placement]:
        """Every way to place the tokens that decide."""
        raise NotImplementedError

    @property
    def chance(self) -> float:
        return 1 / self.outputs

    @property
    def reach(self) -> int:
        return max(self.length, *self.longer) if self.longer else self.length

    def ceilings(self) -> Scores:
        return ceilings(self.placements(), self.length)

    def batch(self, count: int, seed: int, step: int) -> Batch:
        return self.sample(count, generator("data", seed, step))

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(output, target)

    def score(self, output: Tensor, target: Tensor) -> Scores:
        right = (output.argmax(-1) == target).double().mean().item()
        return {"accuracy": right, "loss": cross_entropy(output, target).item()}

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        rows = self.sample(count, generator("validation", seed))
        return self.score(predict(rows.inputs, rows.real), rows.target)

    def test(self, predict: Predict, count: int, seed: int) -> Tested:
        rows = self.sample(count, generator("test", seed))
        output = predict(rows.inputs, rows.real)
        scores = self.score(output, rows.target)
        columns = {
            "target": rows.target.flatten().tolist(),
            "answer": output.argmax(-1).flatten().tolist(),
        }
        for length in self.longer:
            rows = self.lengthened(length).sample(count, generator("test", seed, length))
            scores[f"accuracy at {length}"] = self.score(
                predict(rows.inputs, rows.real), rows.target
            )["accuracy"]
        return Tested(scores, columns)

    def lengthened(self, length: int) -> Any:
        """The same question in longer rows."""
        return replace(self, length=length, longer=())  # type: ignore[type-var]

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        seen = self.sample(FIT, generator("baseline", seed))
        rows = self.sample(count, generator("test", seed))
        return fit_and_score(name, seen, rows, self.outputs)

    def example(self, seed: int) -> Batch:
        return self.sample(1, generator("example", seed))


def scatter_markers(tokens: Tensor, places: Tensor, marks: list[int]) -> Tensor:
    """tokens (B,T) with the marks written at places (B, number of marks)."""
    return tokens.scatter(1, places, torch.tensor([marks]).expand(len(tokens), -1))


def distinct_places(count: int, length: int, many: int, draw: torch.Generator) -> Tensor:
    """For each of `count` rows, `many` different places drawn uniformly: (count, many)."""
    return torch.rand(count, length, generator=draw).argsort(-1)[:, :many]
