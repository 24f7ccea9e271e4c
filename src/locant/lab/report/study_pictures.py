"""The pictures of a study: those that its runs have the numbers for, each with a caption.

`score_pictures` makes those of scores; here are those of what runs kept (curves, a window,
attention) and of certificates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from locant._internal.checks import one_of
from locant._internal.text import capitalize_first
from locant.figures.plots import FORMATS
from locant.figures.plots.entrants import Entrant
from locant.figures.plots.frame import Array
from locant.figures.plots.saving import save
from locant.figures.plots.small import shrink
from locant.lab.report import score_pictures as scores
from locant.lab.report.learning_table import learning_steps
from locant.lab.report.study_view import Certificates, Picture, StudyView
from locant.lab.statistics.survival import survival
from locant.lab.store.note_arrays import read_array
from locant.lab.store.record import EntrantRecord, StudyRecord

CLASSIFYING = ("classify",)  # tasks on numbers whose answers are classes: nothing is given back


def pictures(record: StudyRecord, certificates: Certificates = ()) -> dict[str, Picture]:
    """Collect every picture that a study has the numbers for, by name, in the order of a report.

    certificates  of the encodings, for the property matrix: a study does not measure them
    """
    view = StudyView(record, certificates)
    made = {name: make(view) for name, make in MAKERS.items()}
    return {name: picture for name, picture in made.items() if picture is not None}


def write_pictures(
    record: StudyRecord,
    folder: Path,
    formats: Iterable[str] = ("png",),
    *,
    theme: str = "light",
    certificates: Certificates = (),
) -> list[Path]:
    """Draw every picture of a study into a folder; the same record gives the same bytes."""
    endings = [one_of("write_pictures", "format", ending, FORMATS) for ending in formats]
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, picture in pictures(record, certificates).items():
        axes = picture.draw(theme)
        for ending in endings:
            path = save(axes, folder / f"{name}.{ending}", title=picture.caption)
            written.append(shrink(path))
    return written


def curves(view: StudyView) -> Picture | None:
    """Show the score that selects the best step, by training step."""
    metric = view.facts.selection_metric
    entrants, steps, values = [], [], []
    for entrant in view.complete:
        own_steps, own_values = _curve(entrant, metric)
        if own_values.size and np.isfinite(own_values).all():
            entrants.append(entrant)
            steps.append(own_steps)
            values.append(own_values)
    if not entrants:
        return None
    band = ""
    if len(values[0]) > 1:
        band = f" and, as a band, the lowest and highest {view.record.one}"
    caption = (
        f"{capitalize_first(metric)} in validation by training step: the mean{band}, the other "
        f"entrants pale behind; {view.count_words(entrants)}{view.missing_words}."
    )
    numbers = {"steps": steps, "values": values, "metric": f"validation {metric}"}
    return Picture("curves", {"entrants": view.entrants(entrants), **numbers}, caption)


def _curve(entrant: EntrantRecord, metric: str) -> tuple[Array, Array]:
    """Read the steps of validation, and the values (seeds, steps).

    A run that ended early keeps its last value.
    """
    histories = []
    for history in entrant.histories:
        histories.append({entry["step"]: entry[metric] for entry in history if metric in entry})
    steps = sorted(set().union(*histories)) if all(histories) else []
    values = []
    for by_step in histories:
        line = []
        for step in steps:
            earlier = [own for own in by_step if own <= step]
            if earlier:
                line.append(by_step[max(earlier)])
        values.append(line)
    complete = all(len(line) == len(steps) for line in values)
    return np.array(steps, float), np.array(values if complete else [], float)


def not_learned(view: StudyView) -> Picture | None:
    """Show the share of runs that have not learned the task yet, by training step."""
    horizon = float(view.record.settings.training.steps)
    entrants, steps, left = [], [], []
    for entrant in view.complete:
        reached = learning_steps(entrant, view.record)
        if reached is not None:
            own_steps, own_left = survival(reached, horizon)
            entrants.append(entrant)
            steps.append(own_steps)
            left.append(own_left)
    if not entrants:
        return None
    threshold = f"{view.metric} {view.facts.threshold:g}"
    caption = (
        f"Share of runs whose validation has not reached {threshold} yet, by training step; a bar "
        "at the end marks runs that had not reached it after their last step; the other entrants "
        f"pale behind; {view.count_words(entrants)}{view.missing_words}."
    )
    numbers = {"steps": steps, "left": left, "threshold": threshold}
    return Picture("survival", {"entrants": view.entrants(entrants), **numbers}, caption)


def reconstruction(view: StudyView) -> Picture | None:
    """Show one window of a test series, and what every model made of it."""
    found, seed = view.examples("reconstruction")
    if not found or view.record.settings.task in CLASSIFYING:
        return None
    first = found[0][1]
    target = np.array(first["target"])  # (T, F), with one more column where steps are hidden
    features = np.array(first["output"]).shape[1]  # (T, F)
    options = view.record.settings.task_options
    masked = target.shape[1] > features and options.get("masked", True)
    hidden = target[:, -1] > 0 if masked else np.zeros(len(target), bool)
    feature = f"feature 1 of {features}"
    hidden_words = f"; {hidden.sum()} steps were hidden" if masked else ""
    error_words = "root mean square over the hidden steps" if masked else "root mean square"
    caption = (
        f"A window of {len(target)} steps of a test series ({feature}, in {view.unit}), and what "
        f"each model made of it{hidden_words}; error: {error_words}; {view.single_words(seed)}"
        f"{view.missing_words}."
    )
    numbers = {
        "entrants": view.entrants(entrant for entrant, _ in found),
        "target": target[:, 0],
        "outputs": [np.array(note["output"])[:, 0] for _, note in found],
        "hidden": hidden,
        "what": f"one window, {feature}",
        "unit": view.unit,
    }
    return Picture("reconstruction", numbers, caption)


def attention(view: StudyView) -> Picture | None:
    """Show the sharpest attention head of every model in one example."""
    found, seed = view.examples("attention")
    if not found:
        return None
    weights, labels = [], []
    for _, note in found:
        every = read_array(note)
        layer, head = sharpest(every)
        weights.append(every[layer, head])
        labels.append(f"layer {layer + 1}, head {head + 1}")
    numbers = {
        "entrants": view.entrants(entrant for entrant, _ in found),
        "weights": weights,
        "labels": labels,
    }
    caption = (
        "Attention weights of one head of each model in the same example, each in its own scale; "
        "of all heads the one whose weights are the most concentrated; "
        f"{view.single_words(seed)}{view.missing_words}."
    )
    return Picture("attention", numbers, caption)


def heads(view: StudyView) -> Picture | None:
    """Show every attention head of every model in one example."""
    found, seed = view.examples("attention")
    every = [read_array(note) for _, note in found]
    if len({weights.shape[:2] for weights in every}) != 1:
        return None
    caption = (
        "Attention weights of every head of every layer in the same example, queries down, keys "
        f"across, each in its own scale; {view.single_words(seed)}{view.missing_words}."
    )
    entrants = view.entrants(entrant for entrant, _ in found)
    return Picture("heads", {"entrants": entrants, "weights": every}, caption)


def sharpest(weights: Array) -> tuple[int, int]:
    """Find the layer and head with the least entropy; weights (layers, heads, queries, keys).

    >>> sharpest(np.array([[[[0.5, 0.5]], [[1.0, 0.0]]]]))
    (0, 1)
    """
    shares = weights / np.maximum(weights.sum(-1, keepdims=True), 1e-12)
    entropy = -(shares * np.log(np.maximum(shares, 1e-12))).sum(-1).mean(-1)  # (layers, heads)
    layer, head = np.unravel_index(entropy.argmin(), entropy.shape)
    return int(layer), int(head)


def properties(view: StudyView) -> Picture | None:
    """Show which properties every encoding claims, and whether they hold."""
    certificates = view.certificates
    if not certificates:
        return None
    by_name = []
    entrants = []
    for certificate in certificates:
        by_name.append({one["name"]: one["verdict"] for one in certificate["findings"]})
        encoding = certificate["encoding"]
        entrants.append(Entrant(encoding.rpartition(":")[2], encoding))
    names = [name for name in by_name[0] if all(name in verdicts for verdicts in by_name)]
    numbers = {
        "entrants": entrants,
        "properties": names,
        "verdicts": [[verdicts[name] for name in names] for verdicts in by_name],
    }
    effort = certificates[0].get("effort", "unknown")
    caption = (
        "Which properties hold, which do not, and which are not claimed: one row per encoding, "
        f"one column per property; measured once, effort {effort}."
    )
    return Picture("properties", numbers, caption)


MAKERS: dict[str, Callable[[StudyView], Picture | None]] = {  # in the order of a report
    "metric": scores.metric,
    "forest": scores.forest,
    "kinds": scores.kinds,
    "lengths": scores.lengths,
    "changes": scores.changes,
    "spread": scores.spread,
    "reconstruction": reconstruction,
    "attention": attention,
    "heads": heads,
    "curves": curves,
    "survival": not_learned,
    "cost": scores.cost,
    "parameters": scores.parameters,
    "properties": properties,
}
