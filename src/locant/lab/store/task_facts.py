"""What a report knows of a task: how it is scored, and what a model of it looks like. No torch."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from locant.lab.tasks import UNSEEN

if TYPE_CHECKING:
    from locant.lab.tasks.base import Task

STORED = {  # fields that records call otherwise
    "selection_metric": "chooses",
    "selects_higher": "chooses_higher",
    "max_length": "reach",
}


@dataclass(frozen=True)
class TaskFacts:
    """Facts of a task, stored with every study so that a report needs neither the task nor torch.

    metric            the score that decides, and whether higher_is_better
    selection_metric  the validation score that selects the best step, and whether selects_higher
    threshold         the score at which the task counts as learned
    oracles           baselines that know what no method can know
    ceilings          the best possible scores by what a model can see
    names             what the series of a task on given series are called, by seed

    The last seven describe a model of the task; records of earlier versions lack them.
    """

    metric: str
    higher_is_better: bool
    selection_metric: str
    selects_higher: bool
    chance: float
    threshold: float
    tested_on: str = UNSEEN
    oracles: tuple[str, ...] = ()
    ceilings: dict[str, float] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    length: int | None = None
    max_length: int | None = None
    symbols: int | None = None
    features: int | None = None
    outputs: int | None = None
    pool: bool | None = None
    causal: bool | None = None

    @classmethod
    def of(cls, task: Task) -> TaskFacts:
        """Read the facts of a task."""
        from locant.lab.tasks.base import EnumeratedTask

        return cls(
            metric=task.metric,
            higher_is_better=task.higher_is_better,
            selection_metric=task.selection_metric,
            selects_higher=task.selects_higher,
            chance=task.chance,
            threshold=task.threshold,
            tested_on=task.tested_on,
            oracles=tuple(task.oracles),
            ceilings=task.ceilings(),
            names=tuple(task.names()) if isinstance(task, EnumeratedTask) else (),
            length=task.length,
            max_length=task.max_length,
            symbols=task.symbols,
            features=task.features,
            outputs=task.outputs,
            pool=task.pool,
            causal=task.causal,
        )

    @classmethod
    def from_stored(cls, stored: dict[str, Any]) -> TaskFacts:
        """Read facts as they are stored in a record; those that it lacks get their defaults."""
        found: dict[str, Any] = {}
        for one in fields(cls):
            key = STORED.get(one.name, one.name)
            if key in stored:
                value = stored[key]
                found[one.name] = tuple(value) if isinstance(value, list) else value
        return cls(**found)

    def to_stored(self) -> dict[str, Any]:
        """Return the facts as they are stored in a record; unknown ones are left out."""
        listed = {one.name: getattr(self, one.name) for one in fields(self)}
        if not self.names:
            del listed["names"]
        stored = {}
        for name, value in listed.items():
            if value is not None:
                stored[STORED.get(name, name)] = list(value) if isinstance(value, tuple) else value
        return stored

    @property
    def sign(self) -> int:
        """1 where a higher score is better, −1 where a lower one is."""
        return 1 if self.higher_is_better else -1

    # What report/ still asks for by the stored names.

    def __getitem__(self, key: str) -> Any:
        return self.to_stored()[key]

    def __contains__(self, key: str) -> bool:
        return key in self.to_stored()

    def get(self, key: str, default: Any = None) -> Any:
        return self.to_stored().get(key, default)
