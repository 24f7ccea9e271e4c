"""Training steps of the two published studies on one core.

They are compared with a textbook loop's, and with what the machine can multiply at most.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.utils.flop_counter import FlopCounterMode

from locant.bench.alone import alone
from locant.bench.bench_options import BenchOptions
from locant.bench.ratio import Ratio, over, timed, turns
from locant.bench.result_table import Amount, Cell, Table
from locant.bench.sweep import published
from locant.bench.textbook import Loop
from locant.lab.study import Study
from locant.lab.tasks.base import make_task
from locant.lab.training.build import build
from locant.lab.training.config import RunConfig
from locant.lab.training.loop import train
from locant.lab.training.trainer import Trainer
from locant.positions import consecutive

SIZE = 1024  # of the square matrices whose product shows what the machine can do
PRODUCTS = 30  # of which the best counts
STEPS, QUICK = 12, 1  # in one turn; each begins with a new optimizer
DROPOUTS = {"bits": "textbook's step, × ours", "pool": "× ours, dropout from a pool"}


def tables(options: BenchOptions) -> list[Table]:
    columns = [*DROPOUTS.values(), "a step", "reached", "a product alone", "share"]
    rows: list[tuple[str, list[Cell]]] = []
    steps = QUICK if options.quick else STEPS
    for name, (study, run) in published(options.quick).items():
        options.report(f"the training step of {name}")
        ratios = alone(_against_textbook, 1, study, run, steps, 4 * options.seconds)
        flops, reached, peak = alone(_speed, 1, run, steps, options.seconds)
        speeds = [Amount(value / 1e9, "GFLOP/s") for value in (reached, peak)]
        work, share = Amount(flops / 1e9, "GFLOP", 2), Amount(100 * reached / peak, "%")
        rows.append((name, [*ratios, work, *speeds, share]))
    dropout = (
        "Dropout: torch's there; here 16 random bits for each number, or a window of numbers drawn "
        "once."
    )
    product = f"A product alone: two matrices of {SIZE} × {SIZE}, float32, the best of {PRODUCTS}."
    note = f"{dropout} {product} Only the FLOPs of products count, and the quickest turn."
    title = "Training steps of the published studies, one thread, memory kept"
    return [Table("training", title, columns, rows, note)]


def _against_textbook(study: Study, run: RunConfig, steps: int, seconds: float) -> list[Ratio]:
    """The textbook's time over ours, by turns in one process, for each way to draw dropout."""
    loop = Loop(study, run.seed)
    work = {source: _steps(_dropping(run, source), steps) for source in DROPOUTS}
    found = turns({**work, "textbook": lambda: loop.train(steps)}, seconds=seconds, warm=2)
    return [over(found["textbook"], found[source]) for source in DROPOUTS]


def _steps(run: RunConfig, steps: int) -> Callable[[], object]:
    """A few steps of the only training loop."""
    trainer = Trainer(run, make_task(run.task, **run.task_options))
    settings = run.training
    return lambda: train(
        trainer.model, trainer.loss, steps=steps, lr=settings.rate, clip=settings.clip, warm_up=0
    )


def _dropping(run: RunConfig, source: str) -> RunConfig:
    return run.model_copy(update={"model": run.model.model_copy(update={"dropout_from": source})})


def _speed(run: RunConfig, steps: int, seconds: float) -> tuple[float, float, float]:
    """FLOPs of one step, FLOP/s of a few steps, FLOP/s of a product of matrices."""
    task = make_task(run.task, **run.task_options)
    model, batch = build(run, task), task.batch(run.training.batch, run.seed, 0)
    with FlopCounterMode(display=False) as counter:
        answer = model(batch.inputs, consecutive(batch.inputs.shape[1]), batch.padding_mask)
        task.loss(answer, batch.target).backward()
    flops = counter.get_total_flops()
    quickest = min(turns({"ours": _steps(run, steps)}, seconds=seconds, warm=1)["ours"]) / steps
    one, two = torch.randn(2, SIZE, SIZE).unbind()
    out = torch.empty(SIZE, SIZE)
    torch.mm(one, two, out=out)
    product = min(timed(lambda: torch.mm(one, two, out=out)) for _ in range(PRODUCTS))
    return flops, flops / quickest, 2 * SIZE**3 / product
