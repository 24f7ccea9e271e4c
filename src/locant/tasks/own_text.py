"""The next byte of a user's own text, or of any bytes: a language model without a vocabulary.

One file is cut into parts that train (eight tenths), choose and decide (a tenth each). Of a folder every file belongs to
one part, by the hash of its name, so that no part holds a piece of another's file.
"""

from __future__ import annotations

import hashlib
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from locant.errors import whole_number
from locant.seeds import stable_seed
from locant.tasks import UNSEEN
from locant.tasks._own import need_path
from locant.tasks.base import Batch, Predict, Scores, Tested

STANDARD_LIBRARY = "python:standard-library"  # a text that is always there: the sources of Python itself
BITS = float(1 / np.log(2))
Bytes = NDArray[np.uint8]


class Text(NamedTuple):
    """Training, validation and test parts, and the digest of all."""

    train: Bytes
    validation: Bytes
    test: Bytes
    digest: str


@dataclass(frozen=True)
class OwnText:
    """Windows of `length` bytes; at each the model tells the next one. Longer windows are judged where none was trained."""

    path: str = ""
    digest: str = ""  # of the bytes: another text is another task
    length: int = 128
    longer: tuple[int, ...] = (256,)

    symbols = 256
    features = 0
    outputs = 256
    pool = False
    causal = True
    metric = "bits a byte"
    higher_is_better = False
    tested_on = UNSEEN
    chooses = "bits a byte"
    chooses_higher = False
    chance = 8.0
    threshold = 0.0
    baselines = ("single bytes", "pairs of bytes")
    oracles: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        need_path(self.path)
        whole_number("a task on your text", "length", self.length, least=8)
        for longer in self.longer:
            whole_number("a task on your text", "longer", longer, least=self.length + 1)
        text = _text(self.path)
        smallest = min(len(part) for part in text[:3])
        if smallest < self.reach + 1:
            raise ValueError(
                f"the smallest part of {self.path} has {smallest} bytes, but windows of {self.reach} are asked for.\n"
                "  Give a longer text, or shorter windows: --train-length, --test-lengths"
            )
        if self.digest and text.digest != self.digest:
            raise ValueError(f"{self.path} does not hold the bytes that it held when the study began.")

    @property
    def reach(self) -> int:
        return max(self.length, *self.longer) if self.longer else self.length

    def ceilings(self) -> Scores:
        """None is known: a causal model finds its way to some extent without positions."""
        return {}

    def measured(self) -> str:
        """The digest of the bytes that are there now."""
        return _text(self.path).digest

    def batch(self, count: int, seed: int, step: int) -> Batch:
        part = _text(self.path).train
        start = np.random.default_rng(stable_seed("windows", seed, step)).integers(len(part) - self.length, size=count)
        return _rows(part, start, self.length)

    def loss(self, output: Tensor, target: Tensor) -> Tensor:
        return cross_entropy(output.flatten(0, 1), target.flatten())

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        rows = _spread(_text(self.path).validation, count, self.length)
        return {"bits a byte": float(_bits(predict(rows.inputs, None), rows.target).mean())}

    def test(self, predict: Predict, count: int, seed: int) -> Tested:
        """Also at longer windows, over the bytes beyond the length that was trained."""
        part = _text(self.path).test
        rows = _spread(part, count, self.length)
        bits = _bits(predict(rows.inputs, None), rows.target)
        scores = {"bits a byte": float(bits.mean())}
        for length in self.longer:
            more = _spread(part, max(1, count * self.length // length), length)
            beyond = _bits(predict(more.inputs, None), more.target)[:, self.length :]
            scores[f"bits a byte at {length}"] = float(beyond.mean())
        return Tested(scores, {"window": list(range(len(bits))), "bits a byte": bits.mean(1).tolist()})

    def baseline(self, name: str, count: int, seed: int) -> Scores:
        text = _text(self.path)
        before, after = text.train[:-1].astype(int), text.train[1:].astype(int)
        single = np.bincount(after, minlength=256) + 1.0
        table = np.tile(single / single.sum(), (256, 1))
        if name == "pairs of bytes":  # seen pairs, leaning on single bytes as much as on one more of each
            pairs = np.bincount(before * 256 + after, minlength=256 * 256).reshape(256, 256)
            table = (pairs + 2 * table) / (pairs.sum(1, keepdims=True) + 2)
        rows = _spread(text.test, count, self.length)
        return {"bits a byte": float(-np.log2(table[rows.inputs.numpy(), rows.target.numpy()]).mean())}

    def example(self, seed: int) -> Batch:
        return _spread(_text(self.path).test, 1, min(self.length, 64))


def _bits(output: Tensor, target: Tensor) -> Tensor:
    """Bits of every byte (N,T)."""
    return cross_entropy(output.transpose(1, 2), target, reduction="none") * BITS


def _rows(part: Bytes, start: NDArray[np.int64], length: int) -> Batch:
    windows = torch.from_numpy(part[start[:, None] + np.arange(length + 1)].astype(np.int64))
    return Batch(windows[:, :-1], windows[:, 1:])


def _spread(part: Bytes, count: int, length: int) -> Batch:
    """At most `count` windows, evenly over a part; the same for every seed."""
    most = len(part) - length
    return _rows(part, np.unique(np.linspace(0, most - 1, min(count, most)).round().astype(np.int64)), length)


@lru_cache(maxsize=1)
def _text(path: str) -> Text:
    """What a file or a folder holds, in parts."""
    place = Path(sysconfig.get_paths()["stdlib"] if path == STANDARD_LIBRARY else path).expanduser()
    if place.is_dir():
        parts: tuple[list[bytes], ...] = ([], [], [])
        for name, content in _files(place):
            parts[(0, 0, 0, 0, 0, 0, 0, 0, 1, 2)[stable_seed(name) % 10]].append(content)
        train, validation, test = (b"".join(part) for part in parts)
    else:
        whole = place.read_bytes()
        chooses, decides = (int(share * len(whole)) for share in (0.8, 0.9))
        train, validation, test = whole[:chooses], whole[chooses:decides], whole[decides:]
    digest = hashlib.sha256(b"\0".join((train, validation, test))).hexdigest()[:16]
    first, second, third = (np.frombuffer(part, np.uint8) for part in (train, validation, test))
    return Text(first, second, third, digest)


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The readable texts in a folder, in a fixed order; Python's own packages of other people are not its library."""
    for path in sorted(folder.rglob("*")):
        within = path.relative_to(folder)
        if path.is_file() and not {"site-packages", "test", "__pycache__"} & set(within.parts):
            content = path.read_bytes()
            if b"\0" not in content[:4096]:
                yield within.as_posix(), content
