"""Pictures of what runs kept: curves, scores of points, a window, attention; and the properties of certificates."""

from __future__ import annotations

import numpy as np

from locant.figures.plots.entrants import Entrant
from locant.figures.plots.frame import Array
from locant.lab.report.learning import times
from locant.lab.report.picture import Picture, capital
from locant.lab.report.shown import Shown
from locant.lab.statistics.learning import survival
from locant.lab.store.note_arrays import read_array
from locant.lab.store.record import RowRecord


def curves(shown: Shown) -> Picture | None:
    metric = str(shown.facts.get("chooses", shown.metric))
    found = [(row, *_curve(row, metric)) for row in shown.rows]
    found = [
        (row, steps, values)
        for row, steps, values in found
        if values.size and np.isfinite(values).all()
    ]
    if not found:
        return None
    rows, steps, values = (list(column) for column in zip(*found, strict=True))
    band = (
        f" and, as a band, the lowest and highest {shown.record.one}" if len(values[0]) > 1 else ""
    )
    caption = f"{capital(metric)} in validation by training step: the mean{band}, the other rows pale behind; "
    caption += f"{shown.counted(rows)}{shown.without}."
    numbers = {"steps": steps, "values": values, "metric": f"validation {metric}"}
    return Picture("curves", {"entrants": shown.entrants(rows), **numbers}, caption)


def _curve(row: RowRecord, metric: str) -> tuple[Array, Array]:
    """The steps of validation, and the values (seeds, steps); a run that ended early goes on as it was."""
    histories = [
        {entry["step"]: entry[metric] for entry in one if metric in entry} for one in row.histories
    ]
    steps = sorted(set().union(*histories)) if all(histories) else []
    values = [
        [one[max(step for step in one if step <= at)] for at in steps if at >= min(one)]
        for one in histories
    ]
    whole = all(len(one) == len(steps) for one in values)
    return np.array(steps, float), np.array(values if whole else [], float)


def learnt(shown: Shown) -> Picture | None:
    found = [
        (row, reached) for row in shown.rows if (reached := times(row, shown.record)) is not None
    ]
    if not found:
        return None
    rows = [row for row, _ in found]
    horizon = float(shown.record.study["training"]["steps"])
    steps, left = zip(*(survival(reached, horizon) for _, reached in found), strict=True)
    threshold = f"{shown.metric} {shown.facts['threshold']:g}"
    caption = f"Share of runs whose validation has not reached {threshold} yet, by training step; a bar at the end marks runs "
    caption += f"that had not when their steps were over; the other rows pale behind; {shown.counted(rows)}{shown.without}."
    numbers = {"steps": list(steps), "left": list(left), "threshold": threshold}
    return Picture("learnt", {"entrants": shown.entrants(rows), **numbers}, caption)


def spread(shown: Shown) -> Picture | None:
    rows = [
        row for row in shown.rows if row.notes and all(note.get("histogram") for note in row.notes)
    ]
    if not rows:
        return None
    histograms = [[note["histogram"] for note in row.notes] for row in rows]
    caption = "How scores are spread over normal and over faulty points, as shares of each in %, on a log scale, all "
    caption += f"{shown.record.unit} together: the less they overlap, the better; {shown.counted(rows)}{shown.without}."
    return Picture(
        "spread",
        {"entrants": shown.entrants(rows), "histograms": histograms, "every": shown.record.unit},
        caption,
    )


def reconstruction(shown: Shown) -> Picture | None:
    found, seed = shown.examples("reconstruction")
    if not found:
        return None
    target, output = (
        np.array(found[0][1][part]) for part in ("target", "output")
    )  # (T, F), (T, F); one more: hidden
    marked = target.shape[1] > output.shape[1] and shown.record.study.get("task_options", {}).get(
        "masked", True
    )
    hidden = target[:, -1] > 0 if marked else np.zeros(len(target), bool)
    which = f"feature 1 of {output.shape[1]}"
    caption = f"A window of {len(target)} steps of a test series ({which}, in {shown.unit}), and what each model made "
    caption += (
        f"of it{f'; {hidden.sum()} steps were hidden' if marked else ''}; error: root mean square"
    )
    caption += f"{' over the hidden steps' if marked else ''}; {shown.single(seed)}{shown.without}."
    numbers = {
        "target": target[:, 0],
        "outputs": [np.array(note["output"])[:, 0] for _, note in found],
    }
    numbers |= {"hidden": hidden, "what": f"one window, {which}", "unit": shown.unit}
    return Picture(
        "reconstruction", {"entrants": shown.entrants(row for row, _ in found), **numbers}, caption
    )


def attention(shown: Shown) -> Picture | None:
    found, seed = shown.examples("attention")
    if not found:
        return None
    every = [read_array(note) for _, note in found]
    chosen = [sharpest(weights) for weights in every]
    numbers = {
        "entrants": shown.entrants(row for row, _ in found),
        "weights": [weights[place] for weights, place in zip(every, chosen, strict=True)],
        "labels": [f"layer {layer + 1}, head {head + 1}" for layer, head in chosen],
    }
    caption = "What one head of each model looks at in one and the same example, each in its own scale; of all heads "
    caption += (
        f"the one whose weights are the most concentrated; {shown.single(seed)}{shown.without}."
    )
    return Picture("attention", numbers, caption)


def heads(shown: Shown) -> Picture | None:
    found, seed = shown.examples("attention")
    every = [read_array(note) for _, note in found]
    if len({weights.shape[:2] for weights in every}) != 1:
        return None
    caption = "What every head of every layer looks at in one and the same example, queries down, keys across, each in "
    caption += f"its own scale; {shown.single(seed)}{shown.without}."
    return Picture(
        "heads", {"entrants": shown.entrants(row for row, _ in found), "weights": every}, caption
    )


def sharpest(weights: Array) -> tuple[int, int]:
    """The layer and head of the weights (layers, heads, queries, keys) with the least entropy.

    >>> sharpest(np.array([[[[0.5, 0.5]], [[1.0, 0.0]]]]))
    (0, 1)
    """
    shares = weights / np.maximum(weights.sum(-1, keepdims=True), 1e-12)
    entropy = -(shares * np.log(np.maximum(shares, 1e-12))).sum(-1).mean(-1)  # (layers, heads)
    layer, head = np.unravel_index(entropy.argmin(), entropy.shape)
    return int(layer), int(head)


def properties(shown: Shown) -> Picture | None:
    papers = shown.certificates
    if not papers:
        return None
    verdicts = [{one["name"]: one["verdict"] for one in paper["findings"]} for paper in papers]
    names = [name for name in verdicts[0] if all(name in row for row in verdicts)]
    entrants = [
        Entrant(paper["encoding"].rpartition(":")[2], paper["encoding"]) for paper in papers
    ]
    numbers = {"properties": names, "verdicts": [[row[name] for name in names] for row in verdicts]}
    caption = "Which properties hold, which do not, and which are not claimed: one row an encoding, one column a "
    caption += f"property; measured once, effort {papers[0].get('effort', 'unknown')}."
    return Picture("properties", {"entrants": entrants, **numbers}, caption)
