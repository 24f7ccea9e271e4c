"""A study's training against a textbook loop, two workers against one, and the engine's cost."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from locant.bench import textbook
from locant.bench.alone import Unmeasured, alone, as_started
from locant.bench.bench_options import BenchOptions
from locant.bench.ratio import Ratio, summarize, timed
from locant.bench.result_table import Cell, Table
from locant.lab.engine import local
from locant.lab.engine.driver import Compute, Driver
from locant.lab.store.store import Store
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study import Study
from locant.lab.study_files import read_study
from locant.lab.tasks.base import make_task
from locant.lab.training.config import RunConfig
from locant.lab.training.evaluate import execute
from locant.lab.training.run_result import RunResult

RUNS, TURNS = 2, 3
PUBLISHED = {  # study, and the number of steps that it is shortened to
    "study A": ("anomaly-faithful", 30),
    "study B": ("slots-faithful", 157),
}


def tables(options: BenchOptions) -> list[Table]:
    rows: list[tuple[str, list[Cell]]] = []
    for name, (study, run) in published(options.quick).items():
        options.report(f"the sweep of {name}")
        found = _against_textbook(study, run, options.threads, 1 if options.quick else TURNS)
        rows += [(f"{name}, {which}", [ratio]) for which, ratio in found.items()]
    title = (
        "A textbook loop's time, × ours with the same protocol: training, validation and test, "
        "shortened"
    )
    several = f"{RUNS} models: one after the other there, by {options.threads} workers here."
    memory = (
        "Memory is kept here between steps (settings of glibc); there it is as Python starts, if "
        "not said."
    )
    note = f"{several} Dropout: torch's there, by 16 random bits here. {memory}"
    options.report("workers and engine")
    return [Table("sweep", title, ["× as fast"], rows, note), _engine(options)]


def published(quick: bool) -> dict[str, tuple[Study, RunConfig]]:
    """Each published study, shortened, and a run of it with the sinusoid."""
    studies = {name: _study(name, quick) for name in PUBLISHED}
    return {name: (study, _runs(study, "sinusoidal", 1)[0]) for name, study in studies.items()}


def _study(name: str, quick: bool) -> Study:
    study, steps = PUBLISHED[name]
    shorter = (
        {"training.steps": 4, "model.layers": 1, "model.ffn": 16}
        if quick
        else {"training.steps": steps}
    )
    return read_study(study, changes={**shorter, "keep_files": False})


def _runs(study: Study, name: str, count: int) -> list[RunConfig]:
    row = next(row for row in study.rows() if row.name == name)
    return [study.run(row, seed) for seed in range(count)]


def _against_textbook(study: Study, run: RunConfig, threads: int, times: int) -> dict[str, Ratio]:
    """Return the textbook's seconds over ours, by turns.

    One model is trained on one core, then several: there on one core and by threads.
    """
    found: dict[str, list[float]] = {}
    for _ in range(times):
        book = as_started(_textbook_cpu, 1, study)
        kept = alone(_textbook_cpu, 1, study)
        ours = alone(_ours_cpu, 1, run)
        swept = _through_workers(_runs(study, "sinusoidal", RUNS), threads)
        several = as_started(_textbooks, threads, study, RUNS)
        for which, ratio in {
            "a model, both on one core": book / ours,
            "the same, memory kept there too": kept / ours,
            f"{RUNS} models, there on one core": RUNS * book / swept,
            f"{RUNS} models, there by {threads} threads": several / swept,
        }.items():
            found.setdefault(which, []).append(ratio)
    return {which: summarize(ratios) for which, ratios in found.items()}


def _textbook_cpu(study: Study) -> float:
    textbook.train(_of_steps(study, 1), 0)  # what is loaded and drawn once does not count
    return _cpu(lambda: textbook.train(study, 0))


def _ours_cpu(run: RunConfig) -> float:
    execute(_short(run))
    return _cpu(lambda: execute(run))


def _cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _textbooks(study: Study, count: int) -> float:
    textbook.train(_of_steps(study, 1), 0)

    def run() -> None:
        for seed in range(count):
            textbook.train(study, seed)

    return timed(run)


def _of_steps(study: Study, steps: int) -> Study:
    return study.model_copy(update={"training": study.training.model_copy(update={"steps": steps})})


def _short(run: RunConfig) -> RunConfig:
    return run.model_copy(update={"training": run.training.model_copy(update={"steps": 1})})


def _through_workers(runs: list[RunConfig], workers: int) -> float:
    """Seconds from the moment that the first worker is warm to the end of the last run."""
    both = local.compute([*map(_short, runs[:workers]), *runs], workers=workers)
    _well(next(both))

    def run() -> None:
        for done in both:
            _well(done)

    return timed(run)


def _well(done: RunResult) -> None:
    """A run that failed would count as a quick one."""
    if done.error:
        raise Unmeasured(f"a run of the sweep failed: {done.error}.")


def _engine(options: BenchOptions) -> Table:
    times, seeds = (1, 2) if options.quick else (TURNS, 20)
    runs = _runs(_study("study B", options.quick), "learned", RUNS)
    pairs = [_through_workers(runs, 1) / _through_workers(runs, 2) for _ in range(times)]
    rows: list[tuple[str, list[Cell]]] = [("two workers, × as fast as one", [summarize(pairs)])]
    changes = {
        "seeds": seeds,
        "controls": [],
        "baselines": [],
        "encodings": ["rotary", "alibi"],
        "search": False,
    }
    study = read_study(
        "order", changes={**changes, "training.steps": 60, "task_options.longer": []}
    )
    known = TaskFacts.of(make_task(study.task, **study.task_options))
    todo = [study.run(row, seed) for row in study.rows() for seed in study.seed_list()]
    stored = _stored(study, known, lambda some: local.compute(some, 1)) / alone(_plainly, 1, todo)
    rows.append(
        (
            f"{len(todo)} short runs through engine and store, × in one process",
            [summarize([stored])],
        )
    )
    return Table("engine", "What several processes bring and cost", ["ratio"], rows)


def _plainly(runs: list[RunConfig]) -> float:
    execute(runs[0])
    return timed(lambda: [execute(run) for run in runs])


def _stored(study: Study, known: TaskFacts, compute: Compute) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return timed(
            lambda: Driver(study, Store(Path(folder) / "runs.sqlite"), compute).finish(
                known, "bench"
            )
        )
