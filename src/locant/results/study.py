"""A study: what to compare, as data. Shipped ones are TOML files in `studies/`; a user's own is given by its path."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from locant.catalog import describe, names
from locant.errors import did_you_mean
from locant.training.config import ModelConfig, Plain, RunConfig, TrainingConfig

FOLDER = Path(__file__).parent.parent / "studies"
FIRST_SEARCH_SEED = 1_000_000  # search never meets a reported seed
CONTROLS = {
    "none": {"name": "none", "encoding": "none"},
    "scrambled": {"name": "scrambled", "encoding": "sinusoidal", "sampler": "scramble"},
}


class RowConfig(Plain):
    """One row of the table: an encoding with its options."""

    name: str
    encoding: str
    options: dict[str, Any] = {}
    sampler: Literal["", "scramble"] = ""
    match_scale: bool = True


class SearchConfig(Plain):
    """The same small search for every encoding: multiples of the rate, and of the positional tensors' own rate."""

    rate: list[float] = Field([1.0, 3.0], min_length=1)
    positional_rate: list[float] = Field([1.0, 10.0], min_length=1)
    seeds: int = Field(2, ge=1)
    widen: int = Field(2, ge=0)  # how often a choice on the edge may widen the grid


class Study(Plain):
    """Everything a comparison needs to know."""

    name: str
    title: str
    question: str = ""
    task: str
    task_options: dict[str, Any] = {}
    encodings: list[RowConfig]
    controls: list[Literal["none", "scrambled"]] = ["none", "scrambled"]
    seeds: int = Field(10, ge=1)
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    search: SearchConfig | None = None

    @field_validator("search", mode="before")
    @classmethod
    def _none_at_all(cls, value: Any) -> Any:
        """`search = false` leaves it out."""
        return None if value is False else value

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
        listed = [RowConfig(**CONTROLS[name]) for name in self.controls] + self.encodings
        return list({row.name: row for row in listed}.values())

    def run(self, row: RowConfig, seed: int, rate: float = 1.0, positional_rate: float = 1.0) -> RunConfig:
        """One run of a row, at multiples of the study's rates."""
        training = self.training.model_copy(
            update={
                "rate": self.training.rate * rate,
                "positional_rate": self.training.positional_rate * positional_rate,
            }
        )
        fields = row.model_dump()
        return RunConfig(
            task=self.task, task_options=self.task_options, seed=seed, model=self.model, training=training, **fields
        )


def _row_name(encoding: str) -> str:
    return encoding.rpartition(":")[2] if ".py:" in encoding else encoding


def study_names() -> list[str]:
    """The studies that come with locant.

    >>> study_names()
    ['order']
    """
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_study(name: str, *, quick: bool = False, changes: dict[str, Any] | None = None) -> Study:
    """A study by name or path; `changes` are dotted fields with new values, such as {"training.steps": 100}.

    >>> read_study("order", changes={"seeds": 3}).seeds
    3
    """
    path = Path(name).expanduser() if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(study_names())
        raise ValueError(
            f"no study is called {name!r}.{did_you_mean(name, study_names())}\n  Known: {known}; or give a path.toml"
        )
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ValueError(f"{path.name} is not a TOML file that can be read: {problem}") from None
    shortcuts = fields.pop("quick", {})
    for field, value in {**(shortcuts if quick else {}), **(changes or {})}.items():
        _set(fields, field, value)
    fields = {"name": path.stem, **fields}
    try:
        study = Study(**fields)
    except ValidationError as problem:
        raise ValueError(_told(path.name, problem)) from None
    for row in study.rows():
        describe(row.encoding)  # a wrong name is told before anything trains
    return study


def _set(fields: dict[str, Any], dotted: str, value: Any) -> None:
    *path, last = dotted.split(".")
    inner = fields
    for part in path:
        inner = inner.setdefault(part, {})
        if not isinstance(inner, dict):
            raise ValueError(f"{dotted!r} goes through {part!r}, which holds no fields.")
    inner[last] = value


def _told(file: str, problem: ValidationError) -> str:
    """What is wrong, field by field, and what is allowed."""
    lines = [f"the study {file} does not say what is needed:"]
    for error in problem.errors():
        where = ".".join(str(part) for part in error["loc"])
        lines.append(f"  {where}: {error['msg']}. Got {error['input']!r}.")
        if error["type"] == "extra_forbidden":
            lines.append(f"    Allowed there: {', '.join(_allowed(error['loc']))}")
    return "\n".join(lines)


def _allowed(location: tuple[Any, ...]) -> list[str]:
    homes: dict[str, type[Plain]] = {"model": ModelConfig, "training": TrainingConfig, "search": SearchConfig}
    home = (
        RowConfig if location[0] == "encodings" else homes.get(str(location[0]), Study) if len(location) > 1 else Study
    )
    return list(home.model_fields)
