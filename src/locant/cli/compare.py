"""`locant compare`: train every encoding of a study over paired seeds; print table and verdict."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from locant import lab
from locant._internal.assignments import parse_assignment
from locant._internal.checks import listed
from locant.cli._completion import complete_encoding, complete_study
from locant.cli._options import JsonOption, StoreOption
from locant.cli._output import print_json
from locant.cli.report import show, show_together
from locant.lab.store import STORE
from locant.lab.study_files import about, study_names


def compare(
    study: Annotated[
        str | None,
        typer.Argument(
            help="A study by name, or a path to your own .toml.", autocompletion=complete_study
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Your own series or text instead of a study.")
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(help="Of your data: masked, forecast (series) or text; by the file's name."),
    ] = None,
    train_length: Annotated[
        int | None, typer.Option(help="Steps or bytes in a training window of your data.")
    ] = None,
    test_lengths: Annotated[
        str | None, typer.Option(help="Longer windows to judge a text at: 256,512")
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="The time column of your series; found by itself.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="The value columns of your series, with commas.")
    ] = None,
    nab: Annotated[
        Path | None,
        typer.Option(help="The folder of real series of real-anomalies; LOCANT_NAB by default."),
    ] = None,
    encodings: Annotated[
        str | None,
        typer.Option(
            autocompletion=complete_encoding,
            help="Names or path.py:Class, with commas; the study's by default.",
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="How many seeds, or series; a claim needs 10.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes; one a core by default.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="The study's short version.")] = False,
    design: Annotated[
        str | None, typer.Option(help="Variations that the study offers, such as full.")
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, cuda:1, …; the study's (cpu) by default.")
    ] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="Any field: --set training.steps=100")
    ] = None,
    store: StoreOption = STORE,
    engine: Annotated[
        str, typer.Option(help="local (one process a core) or ray (a cluster).")
    ] = "local",
    address: Annotated[
        str | None, typer.Option(help="The Ray cluster; a new one on this machine by default.")
    ] = None,
    gpus_per_run: Annotated[
        float, typer.Option(help="Share of a GPU that each run takes on a Ray cluster.")
    ] = 0.0,
    any_code: Annotated[
        bool, typer.Option("--any-code", help="Accept runs that older code left.")
    ] = False,
    retry: Annotated[bool, typer.Option("--retry-failed", help="Try failed runs again.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare encodings over paired seeds, with controls, intervals and costs; end in a verdict.

    Every run is kept. The same command again trains nothing; after Ctrl-C or a crash it goes on.

    Examples:

      locant compare

      locant compare order --quick

      locant compare order --encodings rotary,alibi,mine.py:Mine --seeds 10 --workers 2

      locant compare order --set training.steps=500 --set model.layers=3

      locant compare --data load.csv --objective forecast --quick

      locant compare --data book.txt --train-length 128 --test-lengths 256,512

      locant compare real-anomalies --nab nab

      locant compare order --device cuda --workers 4

      locant compare order --engine ray --address auto

      locant compare order --quick --json > order.json
    """
    if study is None and data is None and nab is None:
        _list(as_json)
        return
    value_columns = None if columns is None else listed("--columns", columns)
    if data is not None:
        _describe_series(data, objective, time, value_columns)
    try:
        result = lab.compare(
            study,
            encodings=None if encodings is None else listed("--encodings", encodings),
            seeds=seeds,
            quick=quick,
            design=design,
            device=device,
            changes=dict(parse_assignment(text) for text in change or []),
            data=data,
            objective=objective,
            train_length=train_length,
            test_lengths=_lengths(test_lengths),
            time=time,
            columns=value_columns,
            nab=nab,
            store=store,
            workers=workers,
            engine=engine,
            address=address,
            gpus_per_run=gpus_per_run,
            any_code=any_code,
            retry_failed=retry,
            command=shlex.join(["locant", *sys.argv[1:]]),
        )
    except KeyboardInterrupt as stopped:
        print(f"\n{stopped}", file=sys.stderr)
        raise typer.Exit(130) from None
    if as_json:
        print_json(result.to_dict())
    else:
        for record in result.records:
            show(record)
            again = f"locant report {record.id} (--csv, --json, --parquet, --markdown)"
            print(f"\nKept in {store} as {record.id}. Again: {again}")
        show_together(result.records)
    for record in result.records:
        if not any(entrant.seeds for entrant in record.entrants if entrant.costs):
            raise typer.Exit(1)  # every model failed; the reasons are printed above


def _lengths(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in listed("--test-lengths", text)]
    except ValueError:
        raise ValueError(
            f"--test-lengths needs whole numbers with commas, such as 256,512. Got {text!r}."
        ) from None


def _describe_series(
    data: Path, objective: str | None, time: str | None, columns: list[str] | None
) -> None:
    """Print how a file of series was read; a text needs no such words."""
    from locant.lab.own_data import objective_of

    if objective_of(data, objective) != "text":
        from locant.anomaly.series import read_series
        from locant.cli._detection import print_series

        print_series(
            read_series(data, time=time, columns=columns), Console(stderr=True, markup=False)
        )


def _list(as_json: bool) -> None:
    studies = {name: about(name) for name in study_names()}
    if as_json:
        print_json([{"study": name, "about": text} for name, text in studies.items()])
        return
    for name, text in studies.items():
        print(f"{name:17} {text}")
