"""The interface of a detection method: learn from clean rows, then predict every row of a series.

A new method is one file in this folder with one subclass of `Method` that has a `name`. It then
takes part in the self-test and can be asked for: `locant detect mine.csv --method NAME`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from locant.anomaly.detector.time_grid import Flags, Floats, Segment

if TYPE_CHECKING:
    from torch import Tensor

CONTEXT_ROWS = 128  # rows, at least, that a row of a stream is predicted from

Progress = Callable[[str, float], None]  # the current step, and the share of it that is done


class TrainingData(NamedTuple):
    """The facts about the clean rows from which a method chooses its options."""

    rows: int
    columns: int
    season: int | None  # in steps: given by the user, or found in the data
    given_season: int | None  # the same when the user gave it
    irregular: bool  # whether rows are sampled at irregular times, or more than a few are absent
    steps: int  # of training, for methods that train
    seed: int


class Method(ABC):
    """One way to detect anomalies. What it learns are tensors by name, so that it can be saved."""

    name: ClassVar[str]  # as users type it
    takes_encoding: ClassVar[bool] = False  # then it is made with encoding= and progress= too
    takes_times: bool = False  # whether it reads the times of rows by itself, without a grid
    min_rows: int  # rows that a segment must have, to learn from it or to be scored

    @classmethod
    def options(cls, data: TrainingData, encoding: str) -> dict[str, Any]:
        """Choose constructor options for a series: plain values, so that they can be saved."""
        return {}

    @abstractmethod
    def fit(self, clean: Segment) -> None:
        """Learn what is normal."""

    @abstractmethod
    def predict(self, series: Segment, hidden: Flags) -> Floats:
        """Predict every row, (T,F), without using the rows that are hidden, (T,)."""

    def context_rows(self) -> int:
        """Return the rows, at least, from which a row of a stream is predicted."""
        return max(self.min_rows, CONTEXT_ROWS)

    @abstractmethod
    def state(self) -> dict[str, Tensor]:
        """Return everything that was learned."""

    @abstractmethod
    def restore(self, state: dict[str, Tensor]) -> None:
        """Continue from a state that was saved."""
