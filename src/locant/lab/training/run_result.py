"""What a run came to: one value on its way from the process that computes it to the report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from locant.lab.training.config import RunConfig

History = list[dict[str, float]]  # one entry for each validation


@dataclass(frozen=True)
class RunResult:
    """The scores of a run that has ended, or its error, what it cost, and which run it is.

    digest, config  name and hold its settings; `of` fills them in
    code            names the code that ran them; the driver fills it in
    status          "done"; "failed", with its error; or "refused" when the system would not write
                    a file, which is no fault of the run: a refused result is never stored
    notes           what pictures are made from
    """

    digest: str = ""
    code: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    status: str = "done"
    metrics: dict[str, float] = field(default_factory=dict)
    history: History = field(default_factory=list)
    cost: dict[str, float] = field(default_factory=dict)
    error: str = ""
    notes: dict[str, Any] = field(default_factory=dict)

    def of(self, run: RunConfig) -> RunResult:
        """Return the result with the settings of the run that it belongs to."""
        return replace(self, digest=run.digest(), config=run.model_dump())

    @classmethod
    def done(
        cls,
        run: RunConfig,
        metrics: dict[str, float],
        history: History | None = None,
        cost: dict[str, float] | None = None,
        notes: dict[str, Any] | None = None,
    ) -> RunResult:
        """Return the result of a run that has its scores, for an engine that computes them."""
        parts: dict[str, Any] = {"history": history, "cost": cost, "notes": notes}
        given = {name: value for name, value in parts.items() if value is not None}
        return cls(metrics=metrics, **given).of(run)

    @classmethod
    def failed(cls, run: RunConfig, error: str, *, status: str = "failed") -> RunResult:
        """Return the result of a run that has an error instead of scores."""
        return cls(status=status, error=error).of(run)
