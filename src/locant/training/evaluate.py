"""One run from settings to scores: trained, validated on the way, the best weights kept, tested once at the end."""

from __future__ import annotations

import copy
import resource
import time
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from locant.tasks.base import Batch, Task, make_task
from locant.training.build import Classifier, build, positional_factor
from locant.training.config import RunConfig, stable_seed
from locant.training.loop import train

CHUNK = 500  # rows at once in evaluation


@dataclass
class Outcome:
    """What one run leaves."""

    metrics: dict[str, float]
    history: list[dict[str, float]]
    cost: dict[str, float]
    notes: dict[str, Any] = field(default_factory=dict)


class Places:
    """Positions for batches: consecutive, or scrambled by a generator of their own so that data stay paired."""

    def __init__(self, run: RunConfig, purpose: str) -> None:
        self.scramble = run.sampler == "scramble"
        self.generator = torch.Generator().manual_seed(stable_seed(f"scramble/{purpose}", run.seed))

    def __call__(self, inputs: Tensor) -> Tensor:
        rows, length = inputs.shape[:2]
        if not self.scramble:
            return torch.arange(length)
        return torch.rand(rows, length, generator=self.generator).argsort(-1)


def execute(run: RunConfig) -> Outcome:
    """Train and test one run. Deterministic: the same settings give the same metrics, bit for bit."""
    torch.set_num_threads(1)
    task = make_task(run.task, **run.task_options)
    model = build(run, task)
    settings = run.training
    held = task.sample(settings.validation, _generator("validation", run.seed))
    best: dict[str, Any] = {"value": None, "weights": None, "step": 0, "seconds": 0.0}
    history: list[dict[str, float]] = []
    places = Places(run, "train")

    def loss(generator: torch.Generator) -> Tensor:
        rows = task.sample(settings.batch, generator)
        return task.loss(model(rows.inputs, places(rows.inputs)), rows.target)

    def after(step: int, last: float) -> None:
        if step % settings.validate_every and step != settings.steps:
            return
        begun = time.perf_counter()
        scores = _scores(model, task, held, Places(run, "validation"))
        model.train()
        history.append({"step": step, "train_loss": last, **scores})
        value = scores[task.metric] if task.higher_is_better else -scores[task.metric]
        if best["value"] is None or value > best["value"]:
            best.update(value=value, weights=copy.deepcopy(model.state_dict()), step=step)
        best["seconds"] += time.perf_counter() - begun

    start = time.perf_counter()
    train(
        model,
        loss,
        steps=settings.steps,
        rate=settings.rate,
        seed=stable_seed("data", run.seed),
        warm_up=settings.warm_up,
        clip=settings.clip,
        schedule=settings.schedule,
        beta2=settings.beta2,
        groups=_groups(model, run),
        after=after,
    )
    seconds = time.perf_counter() - start - best["seconds"]  # training alone
    model.load_state_dict(best["weights"])
    test = _scores(model, task, task.sample(settings.test, _generator("test", run.seed)), Places(run, "test"))
    chosen = next(entry for entry in history if entry["step"] == best["step"])
    metrics = {**test, "validation": chosen[task.metric], "best_step": float(best["step"])}
    return Outcome(metrics, history, _cost(model, seconds / settings.steps))


def _scores(model: Classifier, task: Task, rows: Batch, places: Places) -> dict[str, float]:
    model.eval()
    with torch.no_grad():
        parts = [model(part, places(part)) for part in rows.inputs.split(CHUNK)]
    return task.score(torch.cat(parts), rows.target)


def _groups(model: Classifier, run: RunConfig) -> list[dict[str, Any]]:
    """The encoding's own tensors with their own rate and no decay; all others with the run's."""
    settings = run.training
    positional = {id(p) for p in model.body.encodings.parameters()}
    shared = [p for p in model.parameters() if id(p) not in positional]
    own = [p for p in model.parameters() if id(p) in positional]
    groups: list[dict[str, Any]] = [{"params": shared, "lr": settings.rate, "weight_decay": settings.weight_decay}]
    if own:
        rate = settings.rate * settings.positional_rate / positional_factor(model)
        groups.append({"params": own, "lr": rate, "weight_decay": 0.0})
    return groups


def _cost(model: Classifier, seconds_a_step: float) -> dict[str, float]:
    return {
        "parameters": float(sum(p.numel() for p in model.parameters())),
        "positional_parameters": float(sum(p.numel() for p in model.body.encodings.parameters())),
        "seconds_a_step": seconds_a_step,
        "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _generator(purpose: str, seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(stable_seed(purpose, seed))
