"""`locant detect`: what is odd in a series, as scores, events and a picture."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from locant._internal.checks import listed, whole_number
from locant._internal.files import check_folder

if TYPE_CHECKING:
    from locant.anomaly.detector import Detection, Settings
    from locant.anomaly.detector.progress import Tell

PIPE = "-"
WRITTEN = ("scores.csv", "scores.parquet", "events.csv", "events.json", "detected.png")


def detect(
    file: Annotated[
        str, typer.Argument(help="CSV, TSV, JSON lines or Parquet; - for rows from standard input.")
    ],
    train: Annotated[
        Path | None, typer.Option(help="Another file to learn from, all of it clean.")
    ] = None,
    clean: Annotated[
        float, typer.Option(help="The share to learn from, from the beginning; 1 is all of it.")
    ] = 1.0,
    time: Annotated[
        str | None, typer.Option(help="The time column; found by itself by default.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="The value columns, with commas; all that vary by default.")
    ] = None,
    labels: Annotated[
        str | None, typer.Option(help="A column that says which rows are anomalous.")
    ] = None,
    windows: Annotated[
        Path | None, typer.Option(help=r"A file of anomalous stretches, \[start, end] each.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="auto (the self-test decides), transformer, harmonic, sub-pca, nearest-window."
        ),
    ] = "auto",
    encoding: Annotated[
        str,
        typer.Option(
            help="Of the transformer; of several, with commas, the self-test takes the best."
        ),
    ] = "rotary",
    threshold: Annotated[
        str,
        typer.Option(
            help="clean (the edge of clean scores), a rate of false alarms (0.5%), or a score (4)."
        ),
    ] = "clean",
    season: Annotated[
        int | None, typer.Option(help="Rows of a season; found in the data by default.")
    ] = None,
    smooth: Annotated[
        int | None, typer.Option(help="Rows of smoothing; 1/80 of the series by default.")
    ] = None,
    steps: Annotated[int, typer.Option(help="Training steps of the transformer.")] = 150,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.")] = 0,
    save: Annotated[Path | None, typer.Option(help="A folder to keep the detector in.")] = None,
    model: Annotated[
        Path | None, typer.Option(help="A kept detector to judge by; nothing is learnt then.")
    ] = None,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Run the plain methods beside it.")
    ] = False,
    learn: Annotated[
        int, typer.Option(help="Rows of a pipe to learn from, before rows are judged.")
    ] = 1000,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the files; locant-detect/NAME by default.")
    ] = None,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Write the scores as Parquet too.")
    ] = False,
    picture: Annotated[
        bool, typer.Option("--picture/--no-picture", help="Whether to draw.")
    ] = True,
    dark: Annotated[bool, typer.Option("--dark", help="A picture for dark pages.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Find what is odd in a series: scores for every row, events, and a picture of both.

    Without labels the method is chosen by a self-test: known faults are put into a held-out part of your own data, and
    the method that finds them best is taken. It writes scores.csv, events.csv, events.json and detected.png.

    Examples:

      locant detect mine.csv

      locant detect mine.csv --windows labels.json --baselines

      locant detect today.csv --train clean.csv --threshold 0.5% --save detector

      locant detect new.csv --model detector --out new

      tail -f rows.csv | locant detect - --model detector
    """
    names = None if columns is None else listed("--columns", columns)
    folder = out or Path("locant-detect") / (
        "pipe" if file == PIPE else Path(Path(file).name.removesuffix(".gz")).stem
    )
    _check_combination(file, train, model, labels, windows)
    if file != PIPE:
        from locant.anomaly.series.input_file import find_file

        find_file(
            file
        )  # what is wrong with the file's name is told before anything heavy is imported
    from locant.anomaly.detector.settings import Settings

    encodings = tuple(listed("--encoding", encoding))
    settings = Settings(method, encodings, clean, season, smooth, threshold, steps, seed)
    if model is not None and settings != Settings(threshold=threshold):
        raise ValueError(
            "of a kept detector (--model) the threshold alone can be changed: the rest was learnt with it."
        )
    whole_number("detect", "--learn", learn, least=100)
    for place in (folder, save):
        if place is not None:
            check_folder("--out", place)
    if file != PIPE and Path(file).resolve() in [(folder / name).resolve() for name in WRITTEN]:
        raise ValueError(
            f"{file} would be overwritten by what is found in it. Give another --out than {folder}."
        )
    console = Console(
        stderr=as_json or file == PIPE, width=None if sys.stdout.isatty() else 120, markup=False
    )
    if file == PIPE:
        from locant.cli.piped import judge_pipe

        found = judge_pipe(settings, model, learn, time=time, columns=names)
    else:
        source = {"time": time, "columns": names}
        found = _judge_file(
            file, settings, train, model, {**source, "label": labels, "windows": windows}, console
        )
    _give(
        found,
        folder,
        console,
        baselines=baselines,
        parquet=parquet,
        theme=_theme(picture, dark),
        as_json=as_json,
    )
    if save is not None:
        from locant.anomaly.detector import save as keep

        console.print(f"{keep(found.detector, save)}: the detector", highlight=False)


def _check_combination(
    file: str, train: Path | None, model: Path | None, labels: str | None, windows: Path | None
) -> None:
    """What cannot be asked for together is told before anything runs."""
    if train is not None and model is not None:
        raise ValueError(
            "--train and --model exclude each other: a kept detector learns nothing more."
        )
    if file == PIPE and (train is not None or labels is not None or windows is not None):
        raise ValueError(
            "rows from standard input have no labels and no other file: use --model, or name a file."
        )


def _judge_file(
    file: str,
    settings: Settings,
    train: Path | None,
    model: Path | None,
    source: dict[str, Any],
    console: Console,
) -> Detection:
    """Read a file, say what was understood, and judge it."""
    from locant.anomaly.detector import detect, load
    from locant.anomaly.series import read_series
    from locant.cli.detected import tell_series

    detector = None if model is None else load(model)
    if detector is not None and source["columns"] is None:
        source["columns"] = list(detector.names)
    series = read_series(file, **source)
    tell_series(series, console)
    other = None
    if train is not None:
        other = read_series(train, time=source["time"], columns=list(series.names))
        tell_series(other, console)
    with progress() as tell:
        if detector is None:
            return detect(series, settings, train=other, progress=tell)
        again = (
            detector
            if settings.threshold == "clean"
            else detector.with_threshold(settings.threshold)
        )
        return again.detect(series)


def _give(
    found: Detection,
    folder: Path,
    console: Console,
    *,
    baselines: bool,
    parquet: bool,
    theme: str | None,
    as_json: bool,
) -> None:
    """Tell what was found and write the files."""
    from locant.anomaly.detector.against import against_labels
    from locant.anomaly.detector.beside import baseline_scores
    from locant.anomaly.detector.tables import summary, write_tables
    from locant.anomaly.metrics.vus_pr import vus_pr
    from locant.anomaly.metrics.vus_window import vus_window
    from locant.cli.detected import draw, tell_baselines, tell_found

    scores, plain = against_labels(found), baseline_scores(found) if baselines else {}
    told = summary(found) | {"against_labels": scores}
    if scores:
        told["vus_pr_window"] = vus_window(found.series.values)
    tell_found(found, scores, console)
    if plain and scores and found.series.labels is not None:
        labels, window = found.series.labels, told["vus_pr_window"]
        told["baselines"] = {
            name: vus_pr(labels, values, window=window) for name, values in plain.items()
        }
        tell_baselines(told["baselines"], scores["VUS-PR"], console)
    written = write_tables(found, folder, parquet=parquet, told=told, baselines=plain)
    if theme is not None:
        written.append(draw(found, folder / "detected.png", theme))
    console.print(
        "\nWritten: " + ", ".join(str(path) for path in written), highlight=False, soft_wrap=True
    )
    if as_json:
        print(json.dumps(told, indent=2, ensure_ascii=False))


def _theme(picture: bool, dark: bool) -> str | None:
    return None if not picture else "dark" if dark else "light"


@contextmanager
def progress() -> Iterator[Tell]:
    """A bar on standard error; nothing where nobody watches."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=console, disable=not console.is_terminal, transient=True
    ) as bar:
        task = bar.add_task("reading", total=1.0)
        yield lambda what, share: bar.update(task, description=what, completed=share)
