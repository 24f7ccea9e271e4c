"""`locant compare`: train every encoding of a study over paired seeds, and end in a table and a verdict."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from locant._internal.assignments import parse_assignment
from locant._internal.checks import listed, one_of, whole_number
from locant.cli._options import STORE, StoreOption
from locant.cli.nab import TASK, name_folder
from locant.cli.own import own_study
from locant.cli.report import show, show_together
from locant.lab.engine.attempt import RunFiles
from locant.lab.engine.driver import Compute, Driver, Watch
from locant.lab.store.store import Store
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study_files import about, read_studies, study_names
from locant.lab.training.config import RunConfig
from locant.lab.training.run_result import RunResult

if TYPE_CHECKING:
    from locant.lab.store.record import StudyRecord


def compare(
    study: Annotated[
        str | None, typer.Argument(help="A study by name, or a path to your own .toml.")
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
        typer.Option(help="Names or path.py:Class, with commas; the study's by default."),
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
) -> None:
    """Compare encodings so that the answer can be trusted: paired seeds, controls, intervals, cost, a verdict.

    Every run is kept. The same command again trains nothing; after Ctrl-C or a crash it goes on where it was.

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
    """
    if study is None and data is None and nab is None:
        _list()
        return
    changes: dict[str, Any] = {}
    if data is not None:
        if study is not None:
            raise ValueError(
                f"--data brings a study of its own: leave out {study!r}, or leave out --data."
            )
        study, changes = own_study(
            data,
            objective=objective,
            train_length=train_length,
            test_lengths=test_lengths,
            time=time,
            columns=columns,
        )
    else:
        own = {"objective": objective, "train-length": train_length, "test-lengths": test_lengths}
        own |= {"time": time, "columns": columns}
        if given := [f"--{name}" for name, value in own.items() if value is not None]:
            raise ValueError(
                f"{', '.join(given)}: for your own data alone. Give --data FILE, or leave this out."
            )
    study = study or TASK
    changes |= dict(parse_assignment(text) for text in change or [])
    if encodings is not None:
        changes["encodings"] = listed("--encodings", encodings)
    if seeds is not None:
        changes["seeds"] = seeds
    if device is not None:
        changes["device"] = device
    one_of("compare", "engine", engine, ("local", "ray"))
    whole_number("compare", "--workers", workers, least=0)
    if store.suffix == ".gz":
        raise ValueError(
            f"{store} would be a packed file, which takes no more runs. Give --store a name such as runs.sqlite."
        )
    from locant.cli.binding import identified, known_facts

    read = read_studies(study, quick=quick, design=design, changes=changes)
    for where in {plan.device for plan in read} - {"cpu"}:
        _check_device(where)
    if nab is not None:
        name_folder(nab, read)
    plans = [identified(plan) for plan in read]
    facts = [
        known_facts(plan) for plan in plans
    ]  # what is wrong in the last is told before the first trains
    runs = Store(store)
    command = shlex.join(["locant", *sys.argv[1:]])
    records = []
    for plan, known in zip(plans, facts, strict=True):
        files = RunFiles(str(store.resolve().parent / "files"), plan.keep_files)
        if engine == "ray":
            from locant.lab.engine import ray

            compute: Compute = partial(
                ray.compute, address=address, gpus_per_run=gpus_per_run, files=files
            )
        else:
            from locant.lab.engine import local

            compute = partial(local.compute, workers=workers or os.cpu_count() or 1, files=files)
        driver = partial(Driver, plan, runs, compute, any_code=any_code, retry=retry)
        records.append(_finish(driver, runs, known, command))
    show_together(records)
    if not all(any(row.seeds for row in record.rows if row.costs) for record in records):
        raise typer.Exit(1)  # every model failed; why is told above


def _check_device(device: str) -> None:
    """Whether torch can use it here, and gives numbers back."""
    import torch

    try:
        torch.zeros(1, device=device).item()
    except Exception as problem:  # each kind of device fails in its own way
        first = (str(problem) or type(problem).__name__).splitlines()[0]
        raise ValueError(
            f"the device {device!r} cannot be used here: {first}\n  Try --device cpu."
        ) from None


def _finish(
    driver: Callable[..., Driver], store: Store, facts: TaskFacts, command: str
) -> StudyRecord:
    from locant.lab.store.record import read_record

    console = Console(stderr=True)
    with Display(console) as display:
        display.sign = 1 if facts.selects_higher else -1
        try:
            study_id = driver(watch=display).finish(facts, command)
        except KeyboardInterrupt:
            display.stop()
            print(
                f"\nStopped. Every finished run is kept in {store.path}; the same command goes on from here.",
                file=sys.stderr,
            )
            raise typer.Exit(130) from None
    record = read_record(store, study_id)
    show(record)
    print(
        f"\nKept in {store.path} as {study_id}. Again: locant report {study_id} (--csv, --json, --parquet, --markdown)"
    )
    return record


class Display(Watch):
    """Runs done and failed, time left, and the best so far; where there is no terminal, one line a tenth of the runs."""

    def __init__(self, console: Console) -> None:
        self.sign = 1
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        rest = (TimeRemainingColumn(), TextColumn("{task.fields[note]}"))
        self.progress = Progress(*columns, *rest, console=console, disable=not console.is_terminal)
        self.best: tuple[float, str] = (float("-inf"), "")
        self.failed = 0

    def __enter__(self) -> Display:
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def stop(self) -> None:
        self.progress.stop()

    def planned(self, phase: str, runs: int, known: list[RunResult]) -> None:
        for kept in known:
            self._note(kept)
        note = f"{len(known)} known" if known else ""
        self.task = self.progress.add_task(phase, total=runs, completed=len(known), note=note)

    def _note(self, kept: RunResult) -> None:
        if kept.status != "done":
            self.failed += 1
        elif "validation" in kept.metrics and self.sign * kept.metrics["validation"] > self.best[0]:
            self.best = (self.sign * kept.metrics["validation"], kept.config["name"])

    def ended(self, run: RunConfig, kept: RunResult) -> None:
        self._note(kept)
        note = f"best so far {self.best[1]} {abs(self.best[0]):.3f}" + (
            f", {self.failed} failed" if self.failed else ""
        )
        self.progress.update(self.task, advance=1, note=note)
        now = self.progress.tasks[-1]
        done, runs = int(now.completed), int(now.total or 0)
        if self.progress.disable and done * 10 // runs > (done - 1) * 10 // runs:
            print(f"{now.description}: {done} of {runs} runs, {note}", file=sys.stderr, flush=True)


def _list() -> None:
    for name in study_names():
        print(f"{name:17} {about(name)}")
