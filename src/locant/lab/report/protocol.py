"""How a study was done, in sentences made from its settings. No torch."""

from __future__ import annotations

from typing import Any

from locant.lab.store.record import StudyRecord
from locant.lab.store.task_facts import TaskFacts
from locant.lab.tasks import UNLABELLED, UNSEEN

DRAWN = {
    "fresh": "by torch's own random numbers",
    "bits": "by 16 random bits a number",
    "pool": "by numbers from a pool of random ones",
}


def told(record: StudyRecord) -> list[str]:
    """Model, training, seeds, search and choice, each in a sentence."""
    study, facts = record.study, record.facts
    return [
        _model(study["model"], facts),
        _training(study["training"]),
        _seeds(record),
        _search(study["search"]),
        _choice(facts),
        f"For one {record.one} every row starts from the same shared weights and meets the same data in the same order.",
        *_codes(record),
    ]


def _choice(facts: TaskFacts) -> str:
    if facts["tested_on"] == UNSEEN:
        return f"The best step is chosen by {facts['chooses']} on validation data alone, and tested once."
    if facts["tested_on"] == UNLABELLED:
        return f"The best step is chosen by {facts['chooses']}, without any label."
    return f"The best step is chosen by {facts['chooses']} on {facts['tested_on']}, as published."


def _codes(record: StudyRecord) -> list[str]:
    """Runs of one row that different versions of the code computed."""
    mixed = [row.name for row in record.rows if len(set(row.codes)) > 1]
    return (
        [f"Runs of these rows come from different versions of the code: {', '.join(mixed)}."]
        if mixed
        else []
    )


def _model(model: dict[str, Any], facts: TaskFacts) -> str:
    dropout = (
        f", dropout {model['dropout']:g} ({DRAWN[model['dropout_from']]})"
        if model["dropout"]
        else ", no dropout"
    )
    return (
        f"A transformer of {model['layers']} {model['norm']}-norm layers, width {model['dim']}, {model['heads']} heads, "
        f"feed-forward {model['ffn']} ({model['activation']}){dropout}; training length {facts.get('length', '?')}."
    )


def _training(training: dict[str, Any]) -> str:
    return (
        f"AdamW, learning rate {training['rate']:g} ({training['schedule']}, warm-up {training['warm_up']} steps), weight decay "
        f"{training['weight_decay']:g} and none on positional tensors, gradients clipped at {training['clip']:g}, "
        f"{training['steps']} steps of {training['batch']} rows{_early(training)}."
    )


def _early(training: dict[str, Any]) -> str:
    low = training.get("stop_below")
    return f"; it ends early when three validations in a row lie below {low:g}" if low else ""


def _seeds(record: StudyRecord) -> str:
    seeds = record.study["seeds"]
    return (
        f"{seeds} {record.unit}."
        if isinstance(seeds, int)
        else f"{record.unit.capitalize()} {', '.join(map(str, seeds))}."
    )


def _search(search: dict[str, Any] | None) -> str:
    if not search:
        return "No search: one learning rate for all."
    rates, own = (
        ", ".join(f"{value:g}" for value in search[key]) for key in ("rate", "positional_rate")
    )
    if "judged_by" not in search:  # a record of one search for all
        return (
            f"Every row has the same search: the learning rate times {rates} and, where something positional is learned, "
            f"its own rate times {own}, then what lies beside the best point; judged by {search['seeds']} seed(s) that "
            "are not reported, one choice for all reported seeds, so that the intervals do not know the luck of it."
        )
    tries = len(search["rate"]) + len(search["positional_rate"]) - 1
    by = {"second half": "its mean over the second half of the run", "best step": "its best step"}[
        search["judged_by"]
    ]
    return (
        f"Every reported run has a search of its own, by a seed that is not reported, {tries} tries for every row: the "
        f"positional tensors' own rate times {own} and the learning rate times {rates}, or as many learning rates where "
        f"nothing positional is learned; judged by validation, {by}. A try that can no longer win is abandoned. So the luck "
        "of the search is in every interval and test."
    )
