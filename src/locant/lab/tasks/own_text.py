"""The next byte of a user's own text, or of any bytes: a language model without a vocabulary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from locant._internal.checks import whole_number
from locant._internal.seeds import stable_seed
from locant.lab.tasks._own import Own
from locant.lab.tasks._text import Bytes, read_text
from locant.lab.tasks.base import Batch, Predict, Scores, Tested

BITS = float(1 / np.log(2))


@dataclass(frozen=True)
class OwnText(Own):
    """Windows of `length` bytes; at each the model tells the next one. Longer windows are judged where none was trained."""

    length: int = 128
    longer: tuple[int, ...] = (256,)

    symbols = 256
    features = 0
    outputs = 256
    causal = True
    metric = "bits a byte"
    chooses = "bits a byte"
    chance = 8.0
    baselines = ("single bytes", "pairs of bytes")

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("a task on your text", "length", self.length, least=8)
        for longer in self.longer:
            whole_number("a task on your text", "longer", longer, least=self.length + 1)
        smallest = min(len(part) for part in read_text(self.path)[:3])
        if smallest < self.reach + 1:
            raise ValueError(
                f"the smallest part of {self.path} has {smallest} bytes, but windows of {self.reach} are asked for.\n"
                "  Give a longer text, or shorter windows: --train-length, --test-lengths"
            )

    @property
    def reach(self) -> int:
        return max(self.length, *self.longer) if self.longer else self.length

    def measured(self) -> str:
        return read_text(self.path).digest

    def batch(self, count: int, seed: int, step: int) -> Batch:
        part = read_text(self.path).train
        start = np.random.default_rng(stable_seed("windows", seed, step)).integers(
            len(part) - self.length, size=count
        )
        return _rows(part, start, self.length)

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(output.flatten(0, 1), target.flatten())

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        rows = _spread(read_text(self.path).validation, count, self.length)
        return {"bits a byte": float(_bits(predict(rows.inputs, None), rows.target).mean())}

    def test(self, predict: Predict, count: int, seed: int) -> Tested:
        """Also at longer windows, over the bytes beyond the length that was trained."""
        part = read_text(self.path).test
        rows = _spread(part, count, self.length)
        bits = _bits(predict(rows.inputs, None), rows.target)
        scores = {"bits a byte": float(bits.mean())}
        for length in self.longer:
            more = _spread(part, max(1, count * self.length // length), length)
            beyond = _bits(predict(more.inputs, None), more.target)[:, self.length :]
            scores[f"bits a byte at {length}"] = float(beyond.mean())
        return Tested(
            scores, {"window": list(range(len(bits))), "bits a byte": bits.mean(1).tolist()}
        )

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        text = read_text(self.path)
        before, after = text.train[:-1].astype(int), text.train[1:].astype(int)
        single = np.bincount(after, minlength=256) + 1.0
        table = np.tile(single / single.sum(), (256, 1))
        if (
            name == "pairs of bytes"
        ):  # seen pairs, leaning on single bytes as much as on one more of each
            pairs = np.bincount(before * 256 + after, minlength=256 * 256).reshape(256, 256)
            table = (pairs + 2 * table) / (pairs.sum(1, keepdims=True) + 2)
        rows = _spread(text.test, count, self.length)
        return {
            "bits a byte": float(-np.log2(table[rows.inputs.numpy(), rows.target.numpy()]).mean())
        }

    def example(self, seed: int) -> Batch:
        return _spread(read_text(self.path).test, 1, min(self.length, 64))


def _bits(output: Tensor, target: Tensor) -> Tensor:
    """Bits of every byte (N,T)."""
    return cross_entropy(output.transpose(1, 2), target, reduction="none") * BITS


def _rows(part: Bytes, start: NDArray[np.int64], length: int) -> Batch:
    windows = torch.from_numpy(part[start[:, None] + np.arange(length + 1)].astype(np.int64))
    return Batch(windows[:, :-1], windows[:, 1:])


def _spread(part: Bytes, count: int, length: int) -> Batch:
    """At most `count` windows, evenly over a part; the same for every seed."""
    most = len(part) - length
    return _rows(
        part, np.unique(np.linspace(0, most - 1, min(count, most)).round().astype(np.int64)), length
    )
