"""What `locant detect` tells and draws of what it found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from locant.anomaly.detector import Detection
    from locant.anomaly.series import Series

SHOWN = 20  # events in the terminal


def tell_series(series: Series, console: Console) -> None:
    """What was understood of a file, and every repair."""
    from locant.anomaly.series import summary_table

    grid = Table.grid(padding=(0, 2))
    for what, value in summary_table(series):
        grid.add_row(what, value)
    console.print(grid, highlight=False)
    for sentence in series.repairs:
        console.print(f"  {sentence}", highlight=False, markup=False)


def tell_found(found: Detection, scores: dict[str, float], console: Console) -> None:
    """The self-test, what was chosen, the events, and how they agree with the labels."""
    from locant.anomaly.detector.tables import events_table

    _say(
        console,
        "\nSelf-test: average precision on faults put into held-out data",
        tell_trials(found),
    )
    for reason in found.chosen.why:
        console.print(reason, highlight=False, markup=False)
    console.print(found.threshold.sentence, highlight=False)
    rows = events_table(found.events)
    if not rows:
        console.print("\nNo event: no score is above the threshold.", highlight=False)
    else:
        grid = Table(
            "event",
            "start",
            "end",
            "score",
            "columns",
            "value",
            "expected",
            box=None,
            padding=(0, 2, 0, 0),
        )
        for row in sorted(rows, key=lambda row: -row["score"])[:SHOWN]:
            numbers = [
                f"{row['score']:.3g}",
                row["columns"],
                f"{row['value']:.6g}",
                f"{row['expected']:.6g}",
            ]
            grid.add_row(str(row["event"]), str(row["start"]), str(row["end"]), *numbers)
        more = f", the {SHOWN} with the highest scores" if len(rows) > SHOWN else ""
        _say(console, f"\n{headline(found)}{more}", grid)
    if scores:
        from locant.anomaly.detector.against import NOT_ADJUSTED, forgiven

        grid = Table.grid(padding=(0, 2))
        for name, score in scores.items():
            grid.add_row(name, f"{score:.3f}")
        _say(console, "\nAgainst the labels", grid)
        console.print(forgiven(found), highlight=False)
        console.print(NOT_ADJUSTED, highlight=False)


def tell_trials(found: Detection) -> Table:
    """The self-test as a table, the best first."""
    kinds = list(dict.fromkeys(kind for trial in found.self_test for kind in trial.found))
    grid = Table("", *kinds, "mean", "seconds", box=None, padding=(0, 2, 0, 0))
    for trial in found.self_test:
        numbers = [f"{trial.found[kind]:.2f}" if kind in trial.found else "" for kind in kinds]
        grid.add_row(trial.name, *numbers, f"{trial.mean:.2f}", f"{trial.seconds:.1f}")
    return grid


def tell_baselines(by_name: dict[str, float], own: float, console: Console) -> None:
    """VUS-PR of the plain methods at the same smoothing, and a sentence when one of them is better."""
    grid = Table("", "VUS-PR", box=None, padding=(0, 2, 0, 0))
    for name, score in sorted({**by_name, "this detector": own}.items(), key=lambda pair: -pair[1]):
        grid.add_row(name, f"{score:.3f}")
    _say(console, "\nPlain methods beside it, at the same smoothing", grid)
    better = [name for name, score in by_name.items() if score > own]
    if better:
        best = max(better, key=by_name.__getitem__)
        console.print(
            f"On these labels the plain method {best} is better: {by_name[best]:.3f}.",
            highlight=False,
        )


def headline(found: Detection) -> str:
    """What was found, in one line."""
    from locant.anomaly.detector.tables import events_table

    file, count = found.series.summary.file, len(found.events)
    if not count:
        return f"no event in {file}"
    rows = events_table(found.events)
    top = max(rows, key=lambda row: row["score"])
    where = f"{top['columns'].split(', ')[0]} = {top['value']:.6g}, expected {top['expected']:.6g}"
    strongest = f"at {str(top['peak']).replace('T', ' ')}: {where}"
    return (
        f"{count} event{'s' * (count > 1)} in {file}; {'the strongest ' * (count > 1)}{strongest}"
    )


def draw(found: Detection, path: Path, theme: str) -> Path:
    """The picture of the series with its events."""
    from locant._internal.files import write_atomically
    from locant.figures.plots import detected
    from locant.figures.plots.frame import Frame
    from locant.figures.plots.saving import save

    series = found.series
    worst = np.sort(np.argsort(-found.by_column.max(0), kind="stable")[: detected.MOST_COLUMNS])
    shown = (
        f" (the {len(worst)} most at fault of {len(series.names)} columns)"
        if len(worst) < len(series.names)
        else ""
    )
    labels = (
        None if series.windows is None else [detected.Span(a, b - 1) for a, b in series.windows]
    )
    title = headline(found) + shown
    axes = detected.draw(
        series.values[:, worst],
        names=[series.names[place] for place in worst],
        expected=found.expected[:, worst],
        scores=found.scores,
        threshold=found.threshold.value,
        events=[detected.Span(event.start, event.stop - 1) for event in found.events],
        labels=labels,
        times=series.times,
        title=title[0].upper() + title[1:],
        frame=Frame(theme=theme, note=f"by {found.self_test[0].name}"),
    )
    with write_atomically(path) as half:
        save(axes, half, title=title)
    return path


def _say(console: Console, title: str, table: Table) -> None:
    console.print(title, highlight=False, markup=False)
    console.print(table, highlight=False)
