"""A study: what to compare, as data (results/reading.py reads it from a file)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from locant.catalog import names
from locant.training.config import ModelConfig, Plain, RunConfig, TrainingConfig

FIRST_SEARCH_SEED = 1_000_000  # search never meets a reported seed
CONTROLS = {
    "none": {"name": "none", "encoding": "none"},
    "scrambled": {"name": "scrambled", "encoding": "sinusoidal", "control": "scramble"},
    "no attention": {"name": "no attention", "encoding": "none", "control": "alone"},
}


class RowConfig(Plain):
    """One row of the table: an encoding with its options."""

    name: str
    encoding: str = "none"
    options: dict[str, Any] = {}
    control: Literal["", "scramble", "alone"] = ""
    baseline: str = ""
    match_scale: bool = True


class SearchConfig(Plain):
    """The same small search for every encoding: multiples of the rate, and of the positional tensors' own rate."""

    rate: list[float] = Field([1.0, 3.0], min_length=1)
    positional_rate: list[float] = Field([1.0, 10.0], min_length=1)
    seeds: int = Field(2, ge=1)
    widen: int = Field(2, ge=0)  # how often a choice on the edge may widen the grid


class Claim(Plain):
    """Something that was published and can be measured: a score of a row, alone or against another row's."""

    claim: str
    published: str
    metric: str
    row: str
    against: str = ""  # the difference to this row; the score itself when empty
    above: float | None = None  # holds when the interval lies above this,
    below: float | None = None  # or below this

    def bound(self) -> tuple[float, int]:
        """The bound, and on which side of it the claim holds."""
        return (self.above, 1) if self.above is not None else (self.below or 0.0, -1)


class Words(Plain):
    """What cannot be measured, said plainly at the end of a report."""

    shows: str = ""
    does_not_show: str = ""
    would_change_it: str = ""


class Study(Plain):
    """Everything a comparison needs to know."""

    name: str
    title: str
    question: str = ""
    flaws: list[str] = []  # of a published protocol that is followed to the letter
    task: str
    task_options: dict[str, Any] = {}
    encodings: list[RowConfig]
    controls: list[Literal["none", "scrambled", "no attention"]] = ["none", "scrambled"]
    baselines: list[str] = []
    seeds: int | list[int] = 10  # how many, or which
    details: list[str] = []  # further metrics that the report shows, in a second table
    published: dict[str, dict[str, float]] = {}  # row → metric → value, to stand beside ours
    claims: list[Claim] = []
    words: Words = Words()
    keep_files: bool = False  # weights, history and scores of every run as files beside the store
    device: str = "cpu"
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    search: SearchConfig | None = None

    @field_validator("search", mode="before")
    @classmethod
    def _none_at_all(cls, value: Any) -> Any:
        """`search = false` leaves it out."""
        return None if value is False else value

    @field_validator("seeds")
    @classmethod
    def _some(cls, value: int | list[int]) -> int | list[int]:
        listed = range(value) if isinstance(value, int) else value
        if not listed or min(listed) < 0 or max(listed) >= FIRST_SEARCH_SEED or len(set(listed)) < len(listed):
            raise ValueError(
                f"give how many (at least 1), or a list of different numbers from 0 to {FIRST_SEARCH_SEED - 1}"
            )
        return value

    @field_validator("encodings", mode="before")
    @classmethod
    def _spelled_out(cls, value: Any) -> Any:
        """ "all", names, or tables."""
        if value == "all":
            value = [name for name in names() if name != "none"]
        if not isinstance(value, list):
            raise ValueError('give "all", or a list of names or tables')
        return [{"name": _row_name(one), "encoding": one} if isinstance(one, str) else one for one in value]

    def rows(self) -> list[RowConfig]:
        """Every row of the table, controls first, each name once."""
        listed = [RowConfig.model_validate(CONTROLS[name]) for name in self.controls] + self.encodings
        listed += [RowConfig(name=name, baseline=name) for name in self.baselines]
        return list({row.name: row for row in listed}.values())

    def seed_list(self) -> list[int]:
        """The seeds that are reported."""
        return list(range(self.seeds)) if isinstance(self.seeds, int) else self.seeds

    def run(self, row: RowConfig, seed: int, rate: float = 1.0, positional_rate: float = 1.0) -> RunConfig:
        """One run of a row, at multiples of the study's rates."""
        training = self.training.model_copy(
            update={
                "rate": self.training.rate * rate,
                "positional_rate": self.training.positional_rate * positional_rate,
            }
        )
        return RunConfig(
            task=self.task,
            task_options=self.task_options,
            seed=seed,
            model=self.model,
            training=training,
            device=self.device,
            **row.model_dump(),
        )


def _row_name(encoding: str) -> str:
    return encoding.rpartition(":")[2] if ".py:" in encoding else encoding
