"""Text at growing lengths: the same bytes are predicted from the trained context, and from longer
ones.

Every window ends at the same byte whatever its length, and only its last bytes are scored. So the
scores of two lengths differ by what the model makes of a longer context, and by nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from locant._internal.checks import whole_number
from locant.lab.tasks._own_data import STANDARD_LIBRARY, Bytes, read_text
from locant.lab.tasks._random_positions import check_sampler, position_limit, sampled_positions
from locant.lab.tasks.base import Batch, Evaluation, Predict, Scores
from locant.lab.tasks.own_text import BITS_PER_NAT, OwnText

MAX_SCORES = 2**22  # query–key pairs of one forward pass, which bound its memory


@dataclass(frozen=True)
class TextLengths(OwnText):
    """Windows of `length` bytes are trained; the last `scored` bytes of longer ones are judged too.

    sampler  "" or a sampler of positions, for entrants such as rotary+randomized
    """

    path: str = STANDARD_LIBRARY
    longer: tuple[int, ...] = (256, 512, 1024)
    scored: int = 64
    sampler: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sampler("text-lengths", self.sampler)
        whole_number("text-lengths", "scored", self.scored)
        if self.scored > self.length:
            raise ValueError(
                f"windows of {self.length} bytes have no {self.scored} bytes to score.\n"
                f"  Use scored ≤ {self.length}."
            )

    @property
    def max_length(self) -> int:
        return position_limit(self.sampler, max(self.length, *self.longer, 0))

    def batch(self, count: int, seed: int, step: int) -> Batch:
        rows = super().batch(count, seed, step)
        return rows._replace(times=self._times(rows.inputs, "train", seed, step))

    def validate(self, predict: Predict, count: int, seed: int) -> Scores:
        part = read_text(self.path).validation
        return {"bits a byte": float(self._bits(predict, part, count, seed, self.length).mean())}

    def test(self, predict: Predict, count: int, seed: int) -> Evaluation:
        """Score the last bytes of windows that end at the same bytes at every length."""
        part = read_text(self.path).test
        bits = self._bits(predict, part, count, seed, self.length)
        scores = {"bits a byte": float(bits.mean())}
        for length in self.longer:
            longer = self._bits(predict, part, count, seed, length)
            scores[f"bits a byte at {length}"] = float(longer.mean())
            scores[f"change to {length}"] = float(longer.mean() - bits.mean())
        columns = {"window": list(range(len(bits))), "bits a byte": bits.mean(1).tolist()}
        return Evaluation(scores, columns)

    def windows(self, part: Bytes, count: int, length: int) -> Batch:
        """Cut `count` windows (count, length) that end at bytes which no length changes."""
        first, last = max(self.length, *self.longer, 0), len(part) - 1
        ends = np.linspace(first, last, count).round().astype(np.int64)
        cut = part[ends[:, None] + np.arange(-length, 1)].astype(np.int64)  # (count, length + 1)
        windows = torch.from_numpy(cut)
        return Batch(windows[:, :-1], windows[:, 1:])

    def example(self, seed: int) -> Batch:
        rows = super().example(seed)
        return rows._replace(times=self._times(rows.inputs, "example", seed))

    def _bits(self, predict: Predict, part: Bytes, count: int, seed: int, length: int) -> Tensor:
        """Compute the bits (count, scored) of the last bytes, a few windows at a time."""
        rows = self.windows(part, count, length)
        times = self._times(rows.inputs, "test", seed, length)
        found = []
        for some in torch.arange(len(rows.inputs)).split(max(1, MAX_SCORES // length**2)):
            some_times = None if times is None else times[some]
            output = predict(rows.inputs[some], None, some_times)[:, -self.scored :]
            target = rows.target[some, -self.scored :]
            nats = cross_entropy(output.transpose(1, 2), target, reduction="none")
            found.append(nats * BITS_PER_NAT)
        return torch.cat(found)

    def _times(self, inputs: Tensor, purpose: str, *numbers: int) -> Tensor | None:
        return sampled_positions(self.sampler, inputs, self.max_length, purpose, *numbers)
