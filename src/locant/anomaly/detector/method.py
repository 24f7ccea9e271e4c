"""What every way of detecting offers: it learns from a clean stretch, and then says what it expects of a series."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Stretch(NamedTuple):
    """A part of a series in units of its clean part: values (T,F), and where they are in usual steps, (T,)."""

    values: Floats
    at: Floats

    def part(self, start: int, stop: int) -> Stretch:
        """The rows start..stop−1."""
        return Stretch(self.values[start:stop], self.at[start:stop])


class Method(Protocol):
    """One way of detecting. What it has learnt are tensors by name, so that it can be kept in a file."""

    least: int  # points that a stretch must have, to learn from it or to be judged

    def fit(self, clean: Stretch) -> None:
        """Learn what is normal."""

    def expect(self, series: Stretch, hidden: Flags) -> Floats:
        """What should stand at each point, (T,F); hidden (T,) are points that must not be believed."""

    def state(self) -> dict[str, Tensor]:
        """All that was learnt."""

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from what was learnt before."""
