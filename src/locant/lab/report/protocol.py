"""How a study was done, in sentences made from its settings."""

from __future__ import annotations

from locant._internal.text import counted
from locant.lab.store.record import StudyRecord
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study import SearchConfig, SharedSearch
from locant.lab.tasks import UNLABELLED, UNSEEN
from locant.lab.training.config import ModelConfig, TrainingConfig

DROPOUT_SOURCES = {
    "fresh": "by torch's own random numbers",
    "bits": "by 16 random bits per number",
    "pool": "from a pool of random numbers",
}
JUDGED_BY = {
    "second half": "its mean over the second half of the run",
    "best step": "its best step",
}


def protocol_notes(record: StudyRecord) -> list[str]:
    """Describe model, training, seeds, search and selection, each in a sentence."""
    study = record.settings
    return [
        _model(study.model, record.facts),
        _training(study.training),
        _seeds(record),
        _search(study.search),
        _selection(record.facts),
        f"For one {record.one} every entrant starts from the same shared weights and sees the same "
        "data in the same order.",
        *_code_versions(record),
    ]


def _selection(facts: TaskFacts) -> str:
    start = f"The best step is selected by {facts.selection_metric}"
    if facts.tested_on == UNSEEN:
        return f"{start} on validation data alone, and tested once."
    if facts.tested_on == UNLABELLED:
        return f"{start}, without any label."
    return f"{start} on {facts.tested_on}, as published."


def _code_versions(record: StudyRecord) -> list[str]:
    """Name the entrants whose runs different versions of the code computed."""
    mixed = [entrant.name for entrant in record.entrants if len(set(entrant.codes)) > 1]
    if not mixed:
        return []
    return [f"Runs of these entrants come from different versions of the code: {', '.join(mixed)}."]


def _model(model: ModelConfig, facts: TaskFacts) -> str:
    dropout = "no dropout"
    if model.dropout:
        dropout = f"dropout {model.dropout:g} ({DROPOUT_SOURCES[model.dropout_from]})"
    length = "?" if facts.length is None else facts.length
    return (
        f"A transformer of {model.layers} {model.norm}-norm layers, width {model.dim}, "
        f"{model.heads} heads, feed-forward {model.ffn} ({model.activation}), {dropout}; "
        f"training length {length}."
    )


def _training(training: TrainingConfig) -> str:
    early = ""
    if training.stop_below:
        threshold = f"{training.stop_below:g}"
        early = f"; it stops early when three validations in a row lie below {threshold}"
    return (
        f"AdamW, learning rate {training.rate:g} ({training.schedule}, warm-up "
        f"{training.warm_up} steps), weight decay {training.weight_decay:g} and none on "
        f"positional tensors, gradients clipped at {training.clip:g}, {training.steps} steps "
        f"of {training.batch} sequences{early}."
    )


def _seeds(record: StudyRecord) -> str:
    seeds = record.settings.seeds
    if isinstance(seeds, int):
        return f"{counted(seeds, record.unit)}."
    return f"{record.unit.capitalize()} {', '.join(map(str, seeds))}."


def _search(search: SearchConfig | None) -> str:
    if not search:
        return "No search: one learning rate for all."
    rates = ", ".join(f"{value:g}" for value in search.rate)
    own = ", ".join(f"{value:g}" for value in search.positional_rate)
    if isinstance(search, SharedSearch):
        return (
            f"Every entrant has the same search: the learning rate times {rates} and, where "
            f"positional parameters are learned, their own rate times {own}, then the neighbors of "
            f"the best point; judged by {counted(search.seeds, 'seeds')} not reported. One "
            "choice serves all reported seeds, so the intervals do not contain the luck of the "
            "search."
        )
    tries = len(search.rate) + len(search.positional_rate) - 1
    return (
        f"Every reported run has a search of its own, by a seed that is not reported, with {tries} "
        f"tries for every entrant: the learning rate of positional parameters times {own} and the "
        f"learning rate times {rates}, or as many learning rates where no positional parameters "
        f"are learned; judged by validation, {JUDGED_BY[search.judged_by]}. A try that can no "
        "longer win is abandoned. So the luck of the search is in every interval and test."
    )
