"""Print what `locant detect` reads, chooses and finds; and each row of a pipe as it is scored."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

if TYPE_CHECKING:
    from locant.anomaly.detector import Detection, Detector
    from locant.anomaly.detector.stream import ScoredRow
    from locant.anomaly.series import Row, Series

MAX_EVENTS = 20  # that the terminal shows
EVENT_COLUMNS = ("event", "start", "end", "score", "columns", "value", "expected")
ROW_COLUMNS = ("line", "time", "score", "event", "column", "value", "expected")


def print_series(series: Series, console: Console) -> None:
    """Print what was understood of a file, and every repair."""
    from locant.anomaly.series import summary_table

    _print_grid(console, summary_table(series))
    for sentence in series.repairs:
        _print_line(console, f"  {sentence}")


def print_detection(found: Detection, console: Console) -> None:
    """Print the self-test, the choices, the events, and the evaluation against labels."""
    from locant.anomaly.detector.outputs import describe_gaps

    _print_line(console, "\nSelf-test: average precision on faults put into held-out data")
    _print_trials(found, console)
    for reason in found.chosen.why:
        _print_line(console, reason)
    _print_line(console, found.threshold.sentence)
    if found.gaps:
        _print_line(console, describe_gaps(found))
    _print_events(found, console)
    if found.evaluation:
        _print_evaluation(found, console)
    if found.baseline_evaluation:
        _print_baselines(found, console)


def _print_trials(found: Detection, console: Console) -> None:
    """Print the self-test as a table, the best candidate first."""
    kinds = list(dict.fromkeys(kind for trial in found.self_test for kind in trial.found))
    rows = []
    for trial in found.self_test:
        scores = [f"{trial.found[kind]:.2f}" if kind in trial.found else "" for kind in kinds]
        rows.append([trial.name, *scores, f"{trial.mean:.2f}", f"{trial.seconds:.1f}"])
    _print_table(console, ["", *kinds, "mean", "seconds"], rows)


def _print_events(found: Detection, console: Console) -> None:
    """Print the events with the highest scores."""
    from locant.anomaly.detector.outputs import events_table

    if not found.events:
        _print_line(console, "\nNo event: no score is above the threshold.")
        return
    events = sorted(events_table(found.events), key=lambda event: -event["score"])
    more = f", the {MAX_EVENTS} with the highest scores" if len(events) > MAX_EVENTS else ""
    _print_line(console, f"\n{found.headline()}{more}")
    rows = []
    for event in events[:MAX_EVENTS]:
        event["score"] = f"{event['score']:.3g}"
        event["value"] = f"{event['value']:.6g}"
        event["expected"] = f"{event['expected']:.6g}"
        rows.append([str(event[column]) for column in EVENT_COLUMNS])
    _print_table(console, EVENT_COLUMNS, rows)


def _print_evaluation(found: Detection, console: Console) -> None:
    """Print every metric against the labels."""
    from locant.anomaly.detector.evaluation import NOT_ADJUSTED, describe_window

    _print_line(console, "\nAgainst the labels")
    _print_grid(console, [(name, f"{score:.3f}") for name, score in found.evaluation.items()])
    _print_line(console, describe_window(found))
    _print_line(console, NOT_ADJUSTED)


def _print_baselines(found: Detection, console: Console) -> None:
    """Print VUS-PR of the baselines, and a sentence when one of them is better."""
    own, by_name = found.evaluation["VUS-PR"], found.baseline_evaluation
    ranked = sorted({**by_name, "this detector": own}.items(), key=lambda item: -item[1])
    _print_line(console, "\nPlain methods beside it, at the same smoothing")
    _print_table(console, ["", "VUS-PR"], [[name, f"{score:.3f}"] for name, score in ranked])
    best = max(by_name, key=by_name.__getitem__)
    if by_name[best] > own:
        score = f"{by_name[best]:.3f}"
        _print_line(console, f"On these labels the plain method {best} is better: {score}.")


def row_printer() -> tuple[Callable[[Detector], None], Callable[[Row, ScoredRow], None]]:
    """Return two functions: one prints the header of a stream, the other a line for each row."""
    writer = csv.writer(sys.stdout)
    threshold = float("inf")

    def start(detector: Detector) -> None:
        nonlocal threshold
        threshold = detector.calibration.threshold.value
        writer.writerow(ROW_COLUMNS)

    def print_row(row: Row, scored: ScoredRow) -> None:
        writer.writerow(_row(row, scored, threshold))
        sys.stdout.flush()
        for sentence in row.notes:
            print(sentence, file=sys.stderr)

    return start, print_row


def _row(row: Row, scored: ScoredRow, threshold: float) -> list[Any]:
    """Return the cells of a scored row: its worst column with its value and prediction."""
    worst = int(scored.by_column.argmax())
    time = row.time
    if hasattr(time, "astype"):
        time = str(time.astype("datetime64[ms]")) if time.dtype.kind == "M" else time
    return [
        row.line,
        time,
        f"{scored.score:.4g}",
        int(scored.score > threshold),
        row.names[worst],
        f"{row.values[worst]:.6g}",
        f"{scored.expected[worst]:.6g}",
    ]


@contextmanager
def progress_bar() -> Iterator[Callable[[str, float], None]]:
    """Show a bar on standard error from the first report on; nothing where it is no terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
    task = bar.add_task("", total=1.0)

    def report(step: str, share: float) -> None:
        bar.start()
        bar.update(task, description=step, completed=share)

    try:
        yield report
    finally:
        bar.stop()


def _print_line(console: Console, text: str) -> None:
    console.print(text, highlight=False, markup=False)


def _print_grid(console: Console, rows: Sequence[Sequence[str]]) -> None:
    grid = Table.grid(padding=(0, 2))
    for row in rows:
        grid.add_row(*row)
    console.print(grid, highlight=False)


def _print_table(console: Console, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = Table(*header, box=None, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*row)
    console.print(table, highlight=False)
