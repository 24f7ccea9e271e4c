"""A study: what to compare, as data (study_files.py reads it from a TOML file)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from locant.encodings.registry import canonical, names
from locant.lab.field_errors import describe_problem
from locant.lab.tasks import SAMPLERS
from locant.lab.training.config import ModelConfig, Plain, RunConfig, TrainingConfig

FIRST_SEARCH_SEED = 1_000_000  # search never meets a reported seed,
FIRST_CHECK_SEED = 2_000_000  # nor what is run to check it,
FIRST_LONGER_SEED = 3_000_000  # nor the longer runs
SEEDS_OF_A_SEARCH = 1_000  # one for each reported seed
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
    # Counted; the times in the data; or drawn by a sampler, where the task offers it.
    positions: Literal["order", "times", "randomized", "skips"] = "order"

    @field_validator("encoding")
    @classmethod
    def _known(cls, value: str) -> str:
        """Two words for one encoding are one run."""
        return canonical(value)


class SearchConfig(Plain):
    """The same small search for every row and every reported seed, by seeds that are not reported
    (engine/rate_search.py)."""

    rate: list[float] = Field([1.0, 3.0], min_length=1)  # multiples of the learning rate
    positional_rate: list[float] = Field(
        [1.0, 10.0, 100.0], min_length=1
    )  # and of the positional tensors' own
    judged_by: Literal["second half", "best step"] = (
        "second half"  # the mean of validation there, or its best
    )
    number: int = Field(0, ge=0)  # another number is another search, by other seeds
    check: int = Field(
        4, ge=0
    )  # fresh seeds on which fixed points of the grid are held against what was chosen

    @field_validator("rate", "positional_rate")
    @classmethod
    def _multiples(cls, value: list[float]) -> list[float]:
        if min(value) <= 0 or len(set(value)) < len(value):
            raise ValueError("give different multiples above 0")
        return value


class SharedSearch(SearchConfig):
    """The search of records of earlier versions: one choice for all reported seeds."""

    seeds: int = 1
    widen: int = 0


class LongerConfig(Plain):
    """A second look at rows that were not learned: more steps, a few rates, fresh seeds."""

    times: int = Field(8, ge=2)  # the steps of the study
    rate: list[float] = Field([1 / 3, 1.0, 3.0], min_length=1)


class Claim(Plain):
    """Something that was published and can be measured: a score of a row, alone or against another
    row's."""

    claim: str
    published: str
    metric: str
    row: str
    against: str = ""  # the difference to this row; the score itself when empty
    above: float | None = None  # holds when the interval lies above this,
    below: float | None = None  # or below this

    @model_validator(mode="after")
    def _one_side(self) -> Claim:
        if (self.above is None) == (self.below is None):
            raise ValueError("a claim has a bound on one side: give above, or below")
        return self

    def bound(self) -> tuple[float, int]:
        """The bound, and on which side of it the claim holds."""
        if self.above is not None:
            return self.above, 1
        assert self.below is not None
        return self.below, -1


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
    # the name of a study that this one repeats with other settings: their rows are held side by
    # side
    repeats: str = ""
    flaws: list[str] = []  # of a published protocol that is followed to the letter
    task: str
    task_options: dict[str, Any] = {}
    encodings: list[RowConfig]
    controls: list[Literal["none", "scrambled", "no attention"]] = ["none", "scrambled"]
    baselines: list[str] = []
    seeds: int | list[int] | Literal["all"] = 10  # how many, or which, or all that the task has
    unit: Literal["seeds", "series"] = "seeds"  # what a run's seed numbers, as a report calls it
    matters: float | None = Field(
        None, gt=0
    )  # a difference that would matter: how many runs would see it is told
    margin: float | None = Field(None, gt=0)  # two rows that surely differ by less are called equal
    details: list[str] = []  # further metrics that the report shows, in a second table
    published: dict[str, dict[str, float]] = {}  # row → metric → value, to stand beside ours
    claims: list[Claim] = []
    words: Words = Words()
    recommends: bool = False  # ends in an encoding to take: for a user's own data
    keep_files: bool = False  # weights, history and scores of every run as files beside the store
    device: str = "cpu"
    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()
    search: SearchConfig | None = None
    longer: LongerConfig | None = None

    def __init__(self, **fields: Any) -> None:
        """Take the fields by name; a wrong one is a ValueError that says what is allowed."""
        try:
            super().__init__(**fields)
        except ValidationError as problem:
            name = str(fields.get("name", "without a name"))
            raise ValueError(describe_problem(name, problem, Study)) from None

    @field_validator("search", "longer", mode="before")
    @classmethod
    def _none_at_all(cls, value: Any) -> Any:
        """`search = false` leaves it out."""
        return None if value is False else value

    @field_validator("seeds")
    @classmethod
    def _some(cls, value: int | list[int] | Literal["all"]) -> int | list[int] | Literal["all"]:
        if value == "all":
            return value
        listed = range(value) if isinstance(value, int) else value
        if (
            not listed
            or min(listed) < 0
            or max(listed) >= FIRST_SEARCH_SEED
            or len(set(listed)) < len(listed)
        ):
            raise ValueError(
                "give how many (at least 1), or a list of different numbers from 0 to "
                f"{FIRST_SEARCH_SEED - 1}"
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
        value = [sampled_row(one) or canonical(one) for one in value]
        texts = list(dict.fromkeys(one for one in value if isinstance(one, str)))
        return [
            {"name": _row_name(one, texts), "encoding": one} if isinstance(one, str) else one
            for one in value
        ]

    @model_validator(mode="after")
    def _different(self) -> Study:
        """Rows of one name are one row."""
        named = {row.name: row for row in self.rows()}
        clash = next((row for row in self._listed() if row != named[row.name]), None)
        if clash is not None:
            raise ValueError(
                f"two different rows are called {clash.name!r}: give one of them another name"
            )
        return self

    def rows(self) -> list[RowConfig]:
        """Every row of the table, controls first, each name once."""
        return list({row.name: row for row in self._listed()}.values())

    def _listed(self) -> list[RowConfig]:
        listed = [
            RowConfig.model_validate(CONTROLS[name]) for name in self.controls
        ] + self.encodings
        return listed + [RowConfig(name=name, baseline=name) for name in self.baselines]

    def seed_list(self) -> list[int]:
        """The seeds that are reported."""
        if self.seeds == "all":
            raise ValueError('seeds = "all" are counted when the study is bound to its data.')
        return list(range(self.seeds)) if isinstance(self.seeds, int) else self.seeds

    def run(
        self, row: RowConfig, seed: int, rate: float = 1.0, positional_rate: float = 1.0
    ) -> RunConfig:
        """One run of a row, at multiples of the study's rates."""
        training = self.training.model_copy(
            update={
                "rate": self.training.rate * rate,
                "positional_rate": self.training.positional_rate * positional_rate,
            }
        )
        options, fields = self.task_options, row.model_dump()
        if row.positions in SAMPLERS:  # the task draws them, and tells them as the rows' times
            options, fields["positions"] = {**options, "sampler": row.positions}, "times"
        return RunConfig(
            task=self.task,
            task_options=options,
            seed=seed,
            model=self.model,
            training=training,
            device=self.device,
            **fields,
        )

    def trial(
        self, row: RowConfig, number: int, point: tuple[float, float], bound: float | None = None
    ) -> RunConfig:
        """One run of a search: by a seed that is not reported, and hardly tested, since its
        validation alone counts.

        bound  the best value of this search so far; a run that can only come out worse is abandoned
        """
        assert self.search is not None
        run = self.run(
            row, FIRST_SEARCH_SEED + SEEDS_OF_A_SEARCH * self.search.number + number, *point
        )
        return _trained(run, test=1, abandon_above=bound)

    def longer_run(self, row: RowConfig, number: int, point: tuple[float, float]) -> RunConfig:
        """The same row with more steps."""
        assert self.longer is not None
        run, times = self.run(row, FIRST_LONGER_SEED + number, *point), self.longer.times
        return _trained(
            run,
            steps=times * run.training.steps,
            validate_every=times * run.training.validate_every,
        )


def sampled_row(word: Any) -> dict[str, str] | None:
    """Read `rotary+randomized`: an encoding, trained at random positions; None for other words.

    >>> sampled_row("RoPE+randomized")
    {'name': 'rotary+randomized', 'encoding': 'rotary', 'positions': 'randomized'}
    >>> sampled_row("rotary") is sampled_row("mine.py:Mine") is None
    True
    """
    encoding, plus, sampler = str(word).rpartition("+")
    if not isinstance(word, str) or not plus or sampler not in SAMPLERS:
        return None
    name = canonical(encoding)
    return {"name": f"{name}+{sampler}", "encoding": name, "positions": sampler}


def read_stored_study(stored: dict[str, Any]) -> Study:
    """Read the settings of a study as a record keeps them, of earlier versions too."""
    known = {name: value for name, value in stored.items() if name in Study.model_fields}
    search = known.get("search")
    if not search or "judged_by" in search:
        return Study.model_validate(known)
    study = Study.model_validate({**known, "search": None})
    return study.model_copy(update={"search": SharedSearch.model_validate(search)})


def _trained(run: RunConfig, **changes: Any) -> RunConfig:
    """A run with another training."""
    return run.model_copy(update={"training": run.training.model_copy(update=changes)})


def _row_name(encoding: str, others: list[str]) -> str:
    """The class alone of a user's encoding; with its file, or its whole path, where another would
    be called the same.

    >>> mine, other = "a/mine.py:Mine", "b/my.py:Mine"
    >>> _row_name(mine, [mine]), _row_name(mine, [mine, other])
    ('Mine', 'mine.py:Mine')
    """
    taken = [*names(), *CONTROLS]
    for way in (
        lambda text: text.rpartition(":")[2],
        lambda text: text.replace("\\", "/").rpartition("/")[2],
    ):
        if (
            ".py:" in encoding
            and [*map(way, others)].count(way(encoding)) == 1
            and way(encoding) not in taken
        ):
            return way(encoding)
    return encoding
