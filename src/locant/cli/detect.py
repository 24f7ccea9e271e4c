"""`locant detect`: anomalies in a series, as scores, events and a picture."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from locant._internal.checks import listed
from locant.anomaly.detector import methods
from locant.cli._detection import print_detection, print_series, progress_bar, row_printer
from locant.cli._options import SeedOption, old_spellings
from locant.cli._output import print_json

if TYPE_CHECKING:
    from locant.anomaly.detector import Detection, Detector

PIPE = "-"
WIDTH = 120  # characters, where standard output is no terminal

FileArgument = Annotated[
    str, typer.Argument(help="CSV, TSV, JSON lines or Parquet; - for rows from standard input.")
]
TrainOption = Annotated[Path | None, typer.Option(help="A clean file to learn from instead.")]
CleanOption = Annotated[
    float, typer.Option(help="The share to learn from, from the beginning; 1 is all of it.")
]
TimeOption = Annotated[str | None, typer.Option(help="The time column; found by default.")]
ColumnsOption = Annotated[
    str | None,
    typer.Option(help="The value columns, separated by commas; all that vary by default."),
]
LabelsOption = Annotated[
    str | None, typer.Option(help="A column that says which rows are anomalous.")
]
WindowsOption = Annotated[
    Path | None, typer.Option(help=r"A file of anomalous time windows, \[start, end] each.")
]
MethodOption = Annotated[
    str, typer.Option(help=f"auto (the self-test decides), {', '.join(methods.names())}.")
]
EncodingsOption = Annotated[
    str,
    typer.Option(
        "--encodings",
        help="Of the transformer, separated by commas; the self-test takes the best.",
    ),
]
ThresholdOption = Annotated[
    str,
    typer.Option(
        help="clean (the edge of clean scores), a rate of false alarms (0.5%), or a score (4)."
    ),
]
SeasonOption = Annotated[
    int | None, typer.Option(help="Rows of a season; found in the data by default.")
]
SmoothOption = Annotated[
    int | None, typer.Option(help="Rows of smoothing; 1/80 of the series by default.")
]
StepsOption = Annotated[int, typer.Option(help="Training steps of the transformer.")]
SaveOption = Annotated[Path | None, typer.Option(help="A folder to save the detector in.")]
ModelOption = Annotated[
    Path | None, typer.Option(help="A saved detector to score by; nothing is learned then.")
]
BaselinesOption = Annotated[
    bool, typer.Option("--baselines", help="Score the classical baselines beside it.")
]
LearnOption = Annotated[
    int, typer.Option(help="Rows of a pipe to learn from, before rows are scored.")
]
OutOption = Annotated[
    Path | None, typer.Option("--out", help="Folder for the files; locant-detect/NAME by default.")
]
ParquetOption = Annotated[bool, typer.Option("--parquet", help="Write the scores as Parquet too.")]
PictureOption = Annotated[
    bool, typer.Option("--picture/--no-picture", help="Whether to draw detected.png.")
]
DarkOption = Annotated[bool, typer.Option("--dark", help="Draw the picture for dark pages.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@old_spellings({"--encoding": "--encodings"})
def detect(
    file: FileArgument,
    train: TrainOption = None,
    clean: CleanOption = 1.0,
    time: TimeOption = None,
    columns: ColumnsOption = None,
    labels: LabelsOption = None,
    windows: WindowsOption = None,
    method: MethodOption = methods.AUTO,
    encodings: EncodingsOption = "rotary",
    threshold: ThresholdOption = "clean",
    season: SeasonOption = None,
    smooth: SmoothOption = None,
    steps: StepsOption = 150,
    seed: SeedOption = 0,
    save: SaveOption = None,
    model: ModelOption = None,
    baselines: BaselinesOption = False,
    learn: LearnOption = 1000,
    out: OutOption = None,
    parquet: ParquetOption = False,
    picture: PictureOption = True,
    dark: DarkOption = False,
    as_json: JsonOption = False,
) -> None:
    """Detect anomalies in a series: scores for every row, events, and a picture of both.

    Without labels the method is chosen by a self-test: known faults are put into a held-out part of
    your own data, and the method that finds them best is taken. The command writes scores.csv,
    events.csv, events.json and detected.png.

    It is good at spikes, level shifts, flat sensors and changed seasons in regular series, whatever
    share of the rows is absent. It is no judge of slow drifts, of fewer than 100 rows, or of
    anomalies that fill more than a tenth of the rows it learns from: give it clean ones (--train).

    Examples:

      locant detect mine.csv

      locant detect mine.csv --windows labels.json --baselines

      locant detect today.csv --train clean.csv --threshold 0.5% --save detector

      locant detect new.csv --model detector --out new

      tail -f rows.csv | locant detect - --model detector
    """
    console = _console(stderr=as_json or file == PIPE)
    folder = out or _default_folder(file)
    request: dict[str, Any] = {
        "method": method,
        "encodings": listed("--encodings", encodings),
        "clean": clean,
        "season": season,
        "smooth": smooth,
        "threshold": threshold,
        "steps": steps,
        "seed": seed,
        "model": model,
        "time": time,
        "columns": None if columns is None else listed("--columns", columns),
        "baselines": baselines,
        "save": save,
        "out": folder,
        "parquet": parquet,
    }
    if file == PIPE:
        if train is not None or labels is not None or windows is not None:
            raise ValueError(
                "rows from standard input have no labels and no other file: "
                "use --model, or name a file."
            )
        found = _detect_pipe(learn=learn, **request)
    else:
        found = _detect_file(file, console, train=train, labels=labels, windows=windows, **request)
    print_detection(found, console)
    files = list(found.files)
    if picture:
        files.append(_draw(found, folder, "dark" if dark else "light"))
    written = ", ".join(str(path) for path in files)
    console.print(f"\nWritten: {written}", highlight=False, soft_wrap=True)
    if save is not None:
        console.print(f"{save}: the detector", highlight=False)
    if as_json:
        print_json(found.to_dict())


def _detect_file(file: str, console: Console, **request: Any) -> Detection:
    """Detect anomalies in a file; print what was understood of it first."""
    from locant.anomaly.series.input_file import find_file

    find_file(file)  # a wrong name is reported before anything heavy is imported
    from locant.anomaly import detect

    with progress_bar() as progress:
        return detect(
            file,
            progress=progress,
            on_series=lambda series: print_series(series, console),
            **request,
        )


def _detect_pipe(**request: Any) -> Detection:
    """Score the rows of standard input as they come, each with a line on standard output."""
    if sys.stdin is None:
        raise ValueError("standard input is closed: there are no rows to score.")
    from locant.anomaly import detect_stream

    print_header, print_row = row_printer()
    with ExitStack() as bar:
        progress = bar.enter_context(progress_bar())

        def on_start(detector: Detector) -> None:
            bar.close()  # rows take over the terminal
            print_header(detector)

        return detect_stream(
            _until_interrupted(sys.stdin),
            progress=progress,
            on_start=on_start,
            on_row=print_row,
            **request,
        )


def _until_interrupted(lines: Iterable[str]) -> Iterator[str]:
    """Read lines until Ctrl-C, which ends `tail -f` too: what was read is still judged."""
    try:
        yield from lines
    except KeyboardInterrupt:
        return


def _draw(found: Detection, folder: Path, theme: str) -> Path:
    """Draw detected.png into the folder."""
    from locant.anomaly.detector.outputs import PICTURE
    from locant.figures.plots.detected import save_picture

    return save_picture(found, folder / PICTURE, theme)


def _default_folder(file: str) -> Path:
    """Return locant-detect/NAME, where NAME is the file's name without its ending."""
    name = "pipe" if file == PIPE else Path(Path(file).name.removesuffix(".gz")).stem
    return Path("locant-detect") / name


def _console(*, stderr: bool) -> Console:
    """Make the console that messages go to; without a terminal it is 120 characters wide."""
    return Console(stderr=stderr, width=None if sys.stdout.isatty() else WIDTH, markup=False)
