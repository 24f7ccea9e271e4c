"""How a study was done, in sentences made from its settings. No torch."""

from __future__ import annotations

from typing import Any

from locant.report.details import Table
from locant.results.record import StudyRecord
from locant.tasks import UNLABELLED, UNSEEN

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


def chosen(record: StudyRecord) -> Table | None:
    """The multiples of the rates that the search found best."""
    if not record.study["search"]:
        return None
    listed = [row for row in record.rows if row.costs]
    cells = [[row.name, *[_multiple(row.chosen[key]) for key in ("rate", "positional_rate")]] for row in listed]
    return ["", "rate ×", "positional rate ×"], cells


def _multiple(value: float) -> str:
    """Three figures, and no exponent where there need be none.

    >>> _multiple(1 / 3), _multiple(1000.0)
    ('0.333', '1,000')
    """
    return f"{float(f'{value:.3g}'):,g}"


def edges(record: StudyRecord) -> list[str]:
    """The rows whose best rate may lie beyond what was tried."""
    if not record.edges:
        return []
    return [
        f"Still on the edge of what was tried when the search ended, so that more may be possible: {', '.join(record.edges)}."
    ]


def _choice(facts: dict[str, Any]) -> str:
    if facts["tested_on"] == UNSEEN:
        return f"The best step is chosen by {facts['chooses']} on validation data alone, and tested once."
    if facts["tested_on"] == UNLABELLED:
        return f"The best step is chosen by {facts['chooses']}, without any label."
    return f"The best step is chosen by {facts['chooses']} on {facts['tested_on']}, as published."


def _codes(record: StudyRecord) -> list[str]:
    """Runs of one row that different versions of the code computed."""
    mixed = [row.name for row in record.rows if len(set(row.codes)) > 1]
    return [f"Runs of these rows come from different versions of the code: {', '.join(mixed)}."] if mixed else []


def _model(model: dict[str, Any], facts: dict[str, Any]) -> str:
    dropout = f", dropout {model['dropout']:g} ({DRAWN[model['dropout_from']]})" if model["dropout"] else ", no dropout"
    return (
        f"A transformer of {model['layers']} {model['norm']}-norm layers, width {model['dim']}, {model['heads']} heads, "
        f"feed-forward {model['ffn']} ({model['activation']}){dropout}; training length {facts.get('length', '?')}."
    )


def _training(training: dict[str, Any]) -> str:
    return (
        f"AdamW, rate {training['rate']:g} ({training['schedule']}, warm-up {training['warm_up']} steps), weight decay "
        f"{training['weight_decay']:g} and none on positional tensors, gradients clipped at {training['clip']:g}, "
        f"{training['steps']} steps of {training['batch']} rows."
    )


def _seeds(record: StudyRecord) -> str:
    seeds = record.study["seeds"]
    return (
        f"{seeds} {record.unit}."
        if isinstance(seeds, int)
        else f"{record.unit.capitalize()} {', '.join(map(str, seeds))}."
    )


def _search(search: dict[str, Any] | None) -> str:
    if not search:
        return "No search: one rate for all."
    rates, own = (", ".join(f"{value:g}" for value in search[key]) for key in ("rate", "positional_rate"))
    judges = "one seed that is" if search["seeds"] == 1 else f"{search['seeds']} seeds that are"
    return (
        f"Every row has the same search at full budget: the rate times {rates} and, where something positional is learnt, "
        f"its own rate times {own}; judged by {judges} not reported; then what lies beside the best point (a wider grid "
        f"where that is its edge), in {search['widen']} more rounds at most."
    )
