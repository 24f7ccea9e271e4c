"""A study's training against a textbook loop; one worker against two; what the engines cost. Ratios of one run.

    python benchmarks/sweep.py [--only textbook,workers,overhead,ray]

The textbook loop has what tutorials have: a DataLoader, attention written out, torch's own choice of threads, one model
after the other. Model, data, steps and validation are those of the published studies, shortened to a few epochs.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from locant.engine import local
from locant.engine.driver import Driver
from locant.results.reading import read_study
from locant.results.store import Store
from locant.tasks.base import facts, make_task
from locant.training.evaluate import execute

RUNS = 4
SHORT = {"anomaly-faithful": {"training.steps": 30}, "slots-faithful": {"training.steps": 157}}


class TextbookLayer(nn.Module):
    """Attention as tutorials write it: three projections, scores, softmax, dropout."""

    def __init__(self, dim, heads, ffn, dropout, norm_first, activation, bias):
        super().__init__()
        self.heads, self.norm_first = heads, norm_first
        self.q, self.k, self.v, self.out = (nn.Linear(dim, dim, bias=bias) for _ in range(4))
        self.network = nn.Sequential(nn.Linear(dim, ffn), activation(), nn.Dropout(dropout), nn.Linear(ffn, dim))
        self.first, self.second = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.dropout = nn.Dropout(dropout)

    def attend(self, x, mask):
        rows, length, dim = x.shape
        q, k, v = (part(x).view(rows, length, self.heads, -1).transpose(1, 2) for part in (self.q, self.k, self.v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(dim // self.heads)
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None, :], float("-inf"))
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return self.out((weights @ v).transpose(1, 2).contiguous().view(rows, length, dim))

    def forward(self, x, mask):
        if self.norm_first:
            x = x + self.dropout(self.attend(self.first(x), mask))
            return x + self.dropout(self.network(self.second(x)))
        x = self.first(x + self.dropout(self.attend(x, mask)))
        return self.second(x + self.dropout(self.network(x)))


class TextbookModel(nn.Module):
    """The published model with a sinusoidal table."""

    def __init__(self, settings, task):
        super().__init__()
        self.pool = task.pool
        self.entrance = (
            nn.Embedding(task.symbols, settings.dim) if task.symbols else nn.Linear(task.features, settings.dim)
        )
        angle = torch.arange(task.length)[:, None] / 10_000 ** (torch.arange(0, settings.dim, 2) / settings.dim)
        self.register_buffer("table", torch.stack([angle.sin(), angle.cos()], -1).flatten(1))
        self.dropout = nn.Dropout(settings.dropout)
        activation = {"gelu": nn.GELU, "relu": nn.ReLU}[settings.activation]
        parts = (settings.dim, settings.heads, settings.ffn, settings.dropout, settings.norm == "pre", activation)
        self.layers = nn.ModuleList(TextbookLayer(*parts, settings.projection_bias) for _ in range(settings.layers))
        self.norm = nn.LayerNorm(settings.dim) if settings.norm == "pre" else nn.Identity()
        wide = settings.head
        self.head = (
            nn.Sequential(
                nn.LayerNorm(settings.dim),
                nn.Linear(settings.dim, wide),
                nn.GELU(),
                self.dropout,
                nn.Linear(wide, task.outputs),
            )
            if wide
            else nn.Linear(settings.dim, task.outputs)
        )

    def forward(self, inputs, real):
        x = self.dropout(self.entrance(inputs) + self.table)
        for layer in self.layers:
            x = layer(x, real)
        x = self.norm(x)
        if self.pool:
            weight = real.float()[..., None]
            x = (x * weight).sum(1) / weight.sum(1)
        return self.head(x)


def textbook(study, seed: int) -> None:
    """One model of a published study, trained and validated the plain way."""
    torch.manual_seed(seed)
    task, settings = make_task(study.task), study.training
    model = TextbookModel(study.model, task)
    optimiser = torch.optim.AdamW(model.parameters(), lr=settings.rate, weight_decay=settings.weight_decay)
    held: dict = {}
    batches = [task.batch(settings.batch, seed, step) for step in range(settings.validate_every)]
    whole = [b for b in batches if len(b.inputs) == settings.batch]
    real = torch.cat([b.inputs[..., 0] == b.inputs[..., 0] if b.real is None else b.real for b in whole])
    rows = TensorDataset(torch.cat([b.inputs for b in whole]), torch.cat([b.target for b in whole]), real)
    loader = DataLoader(rows, batch_size=settings.batch, shuffle=True)

    def predict(inputs, real):
        model.eval()
        if id(inputs) not in held:
            mask = torch.ones(inputs.shape[:2], dtype=torch.bool) if real is None else real
            held[id(inputs)] = DataLoader(TensorDataset(inputs, mask), batch_size=settings.batch)
        with torch.no_grad():
            return torch.cat([model(*part) for part in held[id(inputs)]])

    done = 0
    while done < settings.steps:
        model.train()
        for inputs, target, mask in loader:
            optimiser.zero_grad()
            loss = task.loss(model(inputs, mask), target)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
            optimiser.step()
            done += 1
            if done == settings.steps:
                break
        held.clear()
        task.validate(predict, settings.validation, seed)
    task.test(predict, settings.test, seed)


def timed(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def alone(work, *args) -> tuple[float, float]:
    """Wall and CPU seconds of work in a process of its own, whose start does not count."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (work, *args))


def _measured(work, *args) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work(*args)
    return time.perf_counter() - wall, time.process_time() - cpu


def _textbooks(study, threads: int, count: int) -> None:
    torch.set_num_threads(threads)
    for seed in range(count):
        textbook(study, seed)


def _through_workers(runs, workers: int) -> float:
    """Seconds from the moment that all workers are ready to the end of the last run."""
    short = [
        run.model_copy(update={"training": run.training.model_copy(update={"steps": 1})}) for run in runs[:workers]
    ]
    both = local.compute([*short, *runs], workers=workers)
    for _ in short:
        next(both)
    return timed(lambda: list(both))


def against_textbook(threads: int) -> None:
    for name, changes in SHORT.items():
        plain = read_study(name, changes={**changes, "keep_files": False})
        wall, _ = alone(_textbooks, plain, threads, RUNS)
        _, textbook_cpu = alone(_textbooks, plain, 1, 1)
        for source in ("fresh", "bits"):
            study = read_study(name, changes={**changes, "keep_files": False, "model.dropout_from": source})
            row = next(row for row in study.rows() if row.name == "sinusoidal")
            runs = [study.run(row, seed) for seed in range(RUNS)]
            with local.tuned():
                _, cpu = alone(execute, runs[0])
            ours = _through_workers(runs, 2)
            said = f"{name}, dropout numbers {source}: {RUNS} models on two workers {wall / ours:.2f} × textbook"
            print(f"{said}; CPU time of one model {cpu / textbook_cpu:.2f} of textbook's", flush=True)


def workers() -> None:
    study = read_study("slots-faithful", changes={"training.steps": 157, "keep_files": False})
    row = next(row for row in study.rows() if row.name == "learned")
    runs = [study.run(row, seed) for seed in range(RUNS)]
    one, two = (_through_workers(runs, count) for count in (1, 2))
    print(f"two workers against one, {RUNS} runs: {one / two:.2f} ×")


def _hundred():
    changes = {"seeds": 50, "controls": [], "baselines": [], "encodings": ["rotary", "alibi"], "search": False}
    study = read_study("order", changes={**changes, "training.steps": 60, "task_options.longer": []})
    return study, facts(make_task(study.task, **study.task_options))


def _through(study, known, compute) -> float:
    with tempfile.TemporaryDirectory() as folder:
        return timed(lambda: Driver(study, Store(Path(folder) / "runs.sqlite"), compute).finish(known, "benchmark"))


def overhead() -> None:
    study, known = _hundred()
    runs = [study.run(row, seed) for row in study.rows() for seed in study.seed_list()]
    execute(runs[0])
    inside = timed(lambda: [execute(run) for run in runs])
    whole = _through(study, known, lambda todo: local.compute(todo, workers=1))
    print(f"engine overhead, {len(runs)} runs of {inside / len(runs):.2f} s on one worker: {whole / inside - 1:+.1%}")


def ray_overhead() -> None:
    import ray

    from locant.engine import ray as cluster

    study, known = _hundred()
    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False, configure_logging=False)
    warm = [study.run(study.rows()[0], seed) for seed in (900, 901, 902, 903)]
    list(cluster.compute(warm))  # its workers have loaded torch
    on_ray = _through(study, known, cluster.compute)
    ray.shutdown()
    here = _through(study, known, lambda todo: local.compute(todo, workers=2))
    print(f"Ray after its start against local, {2 * study.seeds} runs on two workers: {on_ray / here - 1:+.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="textbook,workers,overhead,ray")
    asked = parser.parse_args().only.split(",")
    threads = torch.get_num_threads()
    parts = {
        "textbook": lambda: against_textbook(threads),
        "workers": workers,
        "overhead": overhead,
        "ray": ray_overhead,
    }
    for name in asked:
        parts[name]()


if __name__ == "__main__":
    main()
