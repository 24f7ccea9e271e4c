"""What a run has learnt, and what no training could: by its validations, and by the exact ceilings of a task. No torch."""

from __future__ import annotations

from typing import Any

from locant.lab.store.study import RowConfig

History = list[dict[str, float]]


def first_reached(history: History, facts: dict[str, Any]) -> float | None:
    """The first step at which validation reached the threshold of the score that decides; None when it did not.

    >>> first_reached([{"step": 25, "accuracy": 0.5}, {"step": 50, "accuracy": 0.95}], {"metric": "accuracy", "threshold": 0.9})
    50
    """
    metric, threshold = facts["metric"], facts["threshold"]
    return next(
        (entry["step"] for entry in history if entry.get(metric, float("-inf")) >= threshold), None
    )


def has_learnt(history: History, facts: dict[str, Any]) -> bool | None:
    """Whether validation ever reached the threshold; None where validation does not measure what decides."""
    known = facts["higher_is_better"] and any(facts["metric"] in entry for entry in history)
    return first_reached(history, facts) is not None if known else None


def barred(row: RowConfig, ceilings: dict[str, float], *, tells_direction: bool) -> float | None:
    """The exact ceiling that no training of a row can pass: what is blind to positions, or to their direction.

    >>> barred(RowConfig(name="alibi", encoding="alibi"), {"blind to direction": 0.5}, tells_direction=False)
    0.5
    """
    if row.encoding == "none" or row.control == "scramble":
        return ceilings.get("without positions")
    return None if tells_direction else ceilings.get("blind to direction")
