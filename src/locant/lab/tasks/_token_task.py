"""Classification of token rows: fresh rows for every step, validation and test, and linear
baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from locant.lab.tasks import UNSEEN
from locant.lab.tasks._ceilings import Arrangement, ceilings
from locant.lab.tasks.base import Batch, Evaluation, Predict, Scores, generator

BASELINE_ROWS = 4000  # rows that a linear baseline is fitted on
RIDGE = 1e-3


class TokenTask:
    """Rows of tokens drawn by `sample`, with one class a row.

    A subclass is a frozen dataclass with `length` and `longer`, the lengths of further test rows.
    """

    length: int
    longer: tuple[int, ...]
    outputs: int

    features = 0
    pool = True
    causal = False
    metric = "accuracy"
    higher_is_better = True
    tested_on = UNSEEN
    selection_metric = "loss"  # accuracy saturates, and ties
    selects_higher = False
    threshold = 0.9
    oracles: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ("token counts", "token × place")

    def sample(self, count: int, draw: torch.Generator) -> Batch:
        """Draw rows, all from the generator: inputs (count, length), targets (count,)."""
        raise NotImplementedError

    def arrangements(self) -> Iterator[Arrangement]:
        """Enumerate every arrangement of the tokens that decide."""
        raise NotImplementedError

    @property
    def chance(self) -> float:
        return 1 / self.outputs

    @property
    def max_length(self) -> int:
        return max(self.length, *self.longer) if self.longer else self.length

    def ceilings(self) -> Scores:
        return ceilings(self.arrangements(), self.length)

    def batch(self, count: int, seed: int, step: int) -> Batch:
        return self.sample(count, generator("data", seed, step))

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(output, target)

    def score(self, output: Tensor, target: Tensor) -> Scores:
        """Compute accuracy and loss of outputs (B, classes)."""
        right = (output.argmax(-1) == target).double().mean().item()
        return {"accuracy": right, "loss": cross_entropy(output, target).item()}

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        batch = self.sample(count, generator("validation", seed))
        return self.score(predict(batch.inputs, batch.padding_mask), batch.target)

    def test(self, predict: Predict, count: int, seed: int) -> Evaluation:
        """Score rows of the trained length, and the accuracy of longer rows."""
        batch = self.sample(count, generator("test", seed))
        output = predict(batch.inputs, batch.padding_mask)
        scores = self.score(output, batch.target)
        columns = {
            "target": batch.target.flatten().tolist(),
            "answer": output.argmax(-1).flatten().tolist(),
        }
        for length in self.longer:
            batch = self.lengthened(length).sample(count, generator("test", seed, length))
            output = predict(batch.inputs, batch.padding_mask)
            scores[f"accuracy at {length}"] = self.score(output, batch.target)["accuracy"]
        return Evaluation(scores, columns)

    def lengthened(self, length: int) -> Any:
        """Ask the same question in rows of another length."""
        return replace(self, length=length, longer=())  # type: ignore[type-var]

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        train = self.sample(BASELINE_ROWS, generator("baseline", seed))
        test = self.sample(count, generator("test", seed))
        return linear_baseline(name, train, test, self.outputs)

    def example(self, seed: int) -> Batch:
        return self.sample(1, generator("example", seed))


def scatter_markers(tokens: Tensor, pos: Tensor, markers: list[int]) -> Tensor:
    """Write marker tokens into tokens (B,T) at positions pos (B, number of markers)."""
    return tokens.scatter(1, pos, torch.tensor([markers]).expand(len(tokens), -1))


def distinct_positions(count: int, length: int, each: int, draw: torch.Generator) -> Tensor:
    """Draw `each` different positions for each of `count` rows, uniformly: (count, each)."""
    return torch.rand(count, length, generator=draw).argsort(-1)[:, :each]


def _token_counts(tokens: Tensor, symbols: int) -> Tensor:
    return one_hot(tokens, symbols).sum(1).double()  # (B, symbols)


def _token_at_position(tokens: Tensor, symbols: int) -> Tensor:
    return one_hot(tokens, symbols).flatten(1).double()  # (B, T·symbols)


LINEAR_FEATURES: dict[str, Callable[[Tensor, int], Tensor]] = {
    "token counts": _token_counts,
    "token × place": _token_at_position,
}


def linear_baseline(name: str, train: Batch, test: Batch, classes: int) -> Scores:
    """Fit ridge regression on the training rows and return its accuracy on the test rows."""
    symbols = int(max(train.inputs.max(), test.inputs.max())) + 1
    features = LINEAR_FEATURES[name]
    x = _with_intercept(features(train.inputs, symbols))
    x_test = _with_intercept(features(test.inputs, symbols))
    y = one_hot(train.target, classes).double()
    ridge = RIDGE * len(x) * torch.eye(x.shape[1]).double()
    weights = torch.linalg.solve(x.T @ x + ridge, x.T @ y)
    right = ((x_test @ weights).argmax(-1) == test.target).double().mean().item()
    return {"accuracy": right}


def _with_intercept(features: Tensor) -> Tensor:
    return torch.cat([features, torch.ones(len(features), 1).double()], 1)
