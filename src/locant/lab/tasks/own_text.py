"""Predict the next byte of a user's own text, or of any bytes: a language model without a
vocabulary."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from locant._internal.checks import whole_number
from locant._internal.seeds import stable_seed
from locant.lab.tasks._own_data import Bytes, OwnTask, read_text
from locant.lab.tasks.base import Batch, Evaluation, Predict, Scores

BITS_PER_NAT = float(1 / np.log(2))
PAIR_PRIOR = 2  # single bytes count as so many pairs in the baseline of pairs
MAX_EXAMPLE_LENGTH = 64


@dataclass(frozen=True)
class OwnText(OwnTask):
    """Windows of `length` bytes; at each byte the model predicts the next one. Longer windows are
    only tested."""

    length: int = 128
    longer: tuple[int, ...] = (256,)

    symbols = 256
    features = 0
    outputs = 256
    causal = True
    metric = "bits a byte"
    selection_metric = "bits a byte"
    chance = 8.0
    baselines = ("single bytes", "pairs of bytes")

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("a task on your text", "length", self.length, least=8)
        for longer in self.longer:
            whole_number("a task on your text", "longer", longer, least=self.length + 1)
        smallest = min(len(part) for part in read_text(self.path)[:3])
        if smallest < self.max_length + 1:
            raise ValueError(
                f"the smallest part of {self.path} has {smallest} bytes, but windows of "
                f"{self.max_length} are asked for.\n"
                "  Give a longer text, or shorter windows: train_length (--train-length), "
                "test_lengths (--test-lengths)"
            )

    @property
    def max_length(self) -> int:
        return max(self.length, *self.longer) if self.longer else self.length

    def current_digest(self) -> str:
        return read_text(self.path).digest

    def batch(self, count: int, seed: int, step: int) -> Batch:
        part = read_text(self.path).train
        draw = np.random.default_rng(stable_seed("windows", seed, step))
        start = draw.integers(len(part) - self.length, size=count)
        return _next_byte_batch(part, start, self.length)

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(output.flatten(0, 1), target.flatten())

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        batch = _even_windows(read_text(self.path).validation, count, self.length)
        bits = _bits(predict(batch.inputs, None), batch.target)
        return {"bits a byte": float(bits.mean())}

    def test(self, predict: Predict, count: int, seed: int) -> Evaluation:
        """Score windows of the trained length, and the bytes of longer windows that lie beyond
        it."""
        part = read_text(self.path).test
        batch = _even_windows(part, count, self.length)
        bits = _bits(predict(batch.inputs, None), batch.target)
        scores = {"bits a byte": float(bits.mean())}
        for length in self.longer:
            batch = _even_windows(part, max(1, count * self.length // length), length)
            beyond = _bits(predict(batch.inputs, None), batch.target)[:, self.length :]
            scores[f"bits a byte at {length}"] = float(beyond.mean())
        columns = {"window": list(range(len(bits))), "bits a byte": bits.mean(1).tolist()}
        return Evaluation(scores, columns)

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        text = read_text(self.path)
        before, after = text.train[:-1].astype(int), text.train[1:].astype(int)
        single = np.bincount(after, minlength=256) + 1.0
        table = np.tile(single / single.sum(), (256, 1))
        if name == "pairs of bytes":  # counts of pairs, smoothed by the single bytes
            pairs = np.bincount(before * 256 + after, minlength=256 * 256).reshape(256, 256)
            table = (pairs + PAIR_PRIOR * table) / (pairs.sum(1, keepdims=True) + PAIR_PRIOR)
        batch = _even_windows(text.test, count, self.length)
        probability = table[batch.inputs.numpy(), batch.target.numpy()]
        return {"bits a byte": float(-np.log2(probability).mean())}

    def example(self, seed: int) -> Batch:
        length = min(self.length, MAX_EXAMPLE_LENGTH)
        return _even_windows(read_text(self.path).test, 1, length)


def _bits(output: Tensor, target: Tensor) -> Tensor:
    """Compute the bits of every byte (N,T) from logits (N,T,256)."""
    return cross_entropy(output.transpose(1, 2), target, reduction="none") * BITS_PER_NAT


def _next_byte_batch(part: Bytes, start: NDArray[np.int64], length: int) -> Batch:
    """Cut windows (N,length) at `start`; the target of a byte is the byte after it."""
    windows = torch.from_numpy(part[start[:, None] + np.arange(length + 1)].astype(np.int64))
    return Batch(windows[:, :-1], windows[:, 1:])


def _even_windows(part: Bytes, count: int, length: int) -> Batch:
    """Cut at most `count` windows evenly over a part; the same for every seed."""
    most = len(part) - length
    start = np.linspace(0, most - 1, min(count, most)).round().astype(np.int64)
    return _next_byte_batch(part, np.unique(start), length)
