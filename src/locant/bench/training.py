"""The steps of the two published studies: how much of what the machine can multiply at most they reach, on one core."""

from __future__ import annotations

import torch
from torch.utils.flop_counter import FlopCounterMode

from locant.bench.alone import alone
from locant.bench.asked import Asked
from locant.bench.ratio import timed
from locant.bench.sweep import published
from locant.bench.table import Amount, Cell, Table
from locant.positions import consecutive
from locant.tasks.base import make_task
from locant.training.build import build
from locant.training.config import RunConfig
from locant.training.evaluate import execute

SIZE = 1024  # of the square matrices whose product shows what the machine can do
TRIES, PRODUCTS = 3, 30  # of which the best counts


def tables(asked: Asked) -> list[Table]:
    rows: list[tuple[str, list[Cell]]] = []
    for name, run in published(asked.quick).items():
        asked.tell(f"the training step of {name}")
        flops, reached, peak = alone(_measure, 1, run)
        speeds = [Amount(value / 1e9, "GFLOP/s") for value in (reached, peak)]
        rows.append((name, [Amount(flops / 1e9, "GFLOP", 2), *speeds, Amount(100 * reached / peak, "%")]))
    heads = ["a step", "reached", "a product alone", "share"]
    best = f"The best of {PRODUCTS}, and of {TRIES} runs; only the FLOPs of products count."
    note = f"A product alone: two matrices of {SIZE} × {SIZE}, float32. {best}"
    return [Table("training", "Training steps against the product of two matrices, one thread", heads, rows, note)]


def _measure(run: RunConfig) -> tuple[float, float, float]:
    """FLOPs of one step, FLOP/s of the steps of a short run, FLOP/s of a product of matrices."""
    task = make_task(run.task, **run.task_options)
    model, batch = build(run, task), task.batch(run.training.batch, run.seed, 0)
    with FlopCounterMode(display=False) as counter:
        answer = model(batch.inputs, consecutive(batch.inputs.shape[1]), batch.real)
        task.loss(answer, batch.target).backward()
    flops = counter.get_total_flops()
    seconds = min(execute(run).cost["seconds_a_step"] for _ in range(TRIES))
    one, two = torch.randn(2, SIZE, SIZE).unbind()
    out = torch.empty(SIZE, SIZE)
    torch.mm(one, two, out=out)
    product = min(timed(lambda: torch.mm(one, two, out=out)) for _ in range(PRODUCTS))
    return flops, flops / seconds, 2 * SIZE**3 / product
