"""Whether a run has learned its task, and which runs cannot: by thresholds and exact ceilings.

No torch.
"""

from __future__ import annotations

from locant.lab.store.task_facts import TaskFacts
from locant.lab.study import RowConfig
from locant.lab.training.run_result import History


def first_reached(history: History, task: TaskFacts) -> float | None:
    """Return the first step at which validation reached the task's threshold; None if it did not.

    >>> task = TaskFacts("accuracy", True, "loss", False, chance=0.5, threshold=0.9)
    >>> first_reached([{"step": 25, "accuracy": 0.5}, {"step": 50, "accuracy": 0.95}], task)
    50
    """
    for entry in history:
        if entry.get(task.metric, float("-inf")) >= task.threshold:
            return entry["step"]
    return None


def has_learned(history: History, task: TaskFacts) -> bool | None:
    """Say whether validation ever reached the threshold; None where it measures another score."""
    if not task.higher_is_better or not any(task.metric in entry for entry in history):
        return None
    return first_reached(history, task) is not None


def ceiling_of(
    entrant: RowConfig, ceilings: dict[str, float], *, tells_direction: bool
) -> float | None:
    """Return the exact ceiling of an entrant that is blind to positions or to their direction.

    >>> entrant = RowConfig(name="alibi", encoding="alibi")
    >>> ceiling_of(entrant, {"blind to direction": 0.5}, tells_direction=False)
    0.5
    """
    if entrant.encoding == "none" or entrant.control == "scramble":
        return ceilings.get("without positions")
    return None if tells_direction else ceilings.get("blind to direction")
