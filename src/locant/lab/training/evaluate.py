"""One run from settings to scores: trained, validated on the way, the best weights kept, tested once at the end."""

from __future__ import annotations

import copy
import math
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from locant._internal.seeds import stable_seed
from locant.lab.tasks.base import Scores, Task, make_task
from locant.lab.training.build import StudyModel, build, positional_factor
from locant.lab.training.checkpoint import (
    flat_optimiser,
    part,
    read_tensors,
    restore_optimiser,
    write_tensors,
)
from locant.lab.training.config import RunConfig
from locant.lab.training.files import keep_files
from locant.lab.training.loop import train
from locant.lab.training.memory import forget_peak, peak_megabytes
from locant.lab.training.notes import notes
from locant.lab.training.places import Places
from locant.lab.training.run_result import RunResult

CHUNK = 500  # rows at once in evaluation
REST = 20.0  # seconds between checkpoints
PATIENCE = 3  # validations in a row that must be low before training ends early


def execute(
    run: RunConfig, folder: Path | None = None, *, keep: bool = False, rest: float = REST
) -> RunResult:
    """Train and test one run. Deterministic: the same settings give the same metrics, bit for bit.

    folder  where a long run leaves a checkpoint every `rest` seconds, from which it goes on; gone when it has ended
    keep    leave files there for people: settings, history, metrics, what was judged, best and last weights
    """
    torch.set_num_threads(1)
    task = make_task(run.task, **run.task_options)
    if run.baseline:
        return RunResult(metrics=task.baseline(run.baseline, run.training.test, run.seed))
    forget_peak()
    with torch.random.fork_rng(devices=[]):
        return Running(run, task, folder, keep, rest).finish()


class Running:
    """A run in progress."""

    def __init__(
        self, run: RunConfig, task: Task, folder: Path | None, keep: bool, rest: float
    ) -> None:
        self.run, self.task, self.folder, self.keep, self.rest = run, task, folder, keep, rest
        self.model = build(run, task).to(run.device)
        self.started = self._now()
        self.step, self.seconds = 0, 0.0  # of training alone
        self.history: list[dict[str, float]] = []
        self.best: dict[str, Any] = {"value": None, "step": 0}
        self.weights: dict[str, Tensor] = {}  # of the best step
        self.optimiser: dict[str, Tensor] | None = None
        self._go_on()

    @property
    def path(self) -> Path:
        """The checkpoint."""
        assert self.folder is not None
        return self.folder / "resume.safetensors"

    def finish(self) -> RunResult:
        settings = self.run.training
        self.saved, self.began = time.perf_counter(), self._now()
        train(
            self.model,
            self.loss,
            steps=settings.steps,
            rate=settings.rate,
            warm_up=settings.warm_up,
            clip=settings.clip,
            schedule=settings.schedule,
            final=settings.final,
            pace_every=settings.pace_every,
            beta2=settings.beta2,
            groups=self._groups(),
            start=settings.steps if self.abandoned or self.saturated else self.step,
            resume=None
            if self.optimiser is None
            else partial(restore_optimiser, tensors=self.optimiser),
            after=self.after,
        )
        if self.abandoned:
            if self.folder is not None:
                self.path.unlink(missing_ok=True)
            return RunResult(metrics=self._validation(), history=self.history, cost=self._cost())
        last = copy.deepcopy(self.model.state_dict())
        self.model.load_state_dict(self.weights)
        tested = self.task.test(Predict(self.model, self.run, "test"), settings.test, self.run.seed)
        metrics = {**tested.scores, **self._validation()}
        wrong = [name for name, value in metrics.items() if not math.isfinite(value)]
        if wrong:
            raise FloatingPointError(f"not a number in the end: {', '.join(wrong)}")
        result = RunResult(
            metrics=metrics,
            history=self.history,
            cost=self._cost(),
            notes=notes(self.model, self.run, self.task, tested.columns),
        )
        if self.folder is not None:
            if self.keep:
                keep_files(
                    self.folder, self.run, result, tested.columns, best=self.weights, last=last
                )
            self.path.unlink(missing_ok=True)
        return result

    def loss(self, step: int) -> Tensor:
        run = self.run
        _seed(stable_seed("dropout", run.seed, step), run.device)
        rows = self.task.batch(run.training.batch, run.seed, step)
        place = Places(run, "train", step)(rows.inputs, rows.real, rows.times)
        inputs, target, real, pos, see = _to(
            run.device, rows.inputs, rows.target, rows.real, *place
        )
        return self.task.loss(self.model(inputs, pos, real, see), target)

    def after(self, step: int, last: float, optimiser: torch.optim.Optimizer) -> bool:
        """Validate where it is time; whether training is over."""
        settings = self.run.training
        if step % settings.validate_every and step != settings.steps:
            return False
        self.seconds += self._now() - self.began
        predict = Predict(self.model, self.run, "validation")
        scores = self.task.validate(predict, settings.validation, self.run.seed)
        self.model.train()
        self.history.append({"step": step, "train_loss": last, **scores})
        value = (
            scores[self.task.chooses] if self.task.chooses_higher else -scores[self.task.chooses]
        )
        if self.best["value"] is None or value > self.best["value"]:
            self.best = {"value": value, "step": step}
            self.weights = copy.deepcopy(self.model.state_dict())
        if (
            self.folder is not None
            and time.perf_counter() - self.saved >= self.rest
            and step != settings.steps
        ):
            self._save(step, optimiser)
        self.began = self._now()
        return self.abandoned or self.saturated

    @property
    def scores(self) -> list[float]:
        """The choosing score of every validation so far."""
        return [entry[self.task.chooses] for entry in self.history]

    @property
    def saturated(self) -> bool:
        """Whether nothing is left to learn."""
        low = self.run.training.stop_below
        return (
            not self.task.chooses_higher
            and len(self.scores) >= PATIENCE
            and max(self.scores[-PATIENCE:]) < low
        )

    @property
    def abandoned(self) -> bool:
        """Whether the mean over the second half can only lie above the bound, even if all that is to come were 0."""
        bound, first = self.run.training.abandon_above, self.validations // 2
        return bound is not None and sum(self.scores[first:]) / (self.validations - first) > bound

    @property
    def validations(self) -> int:
        """How many there are in a run that does not end early."""
        return math.ceil(self.run.training.steps / self.run.training.validate_every)

    def _validation(self) -> Scores:
        """The score that chose the weights, and the mean over the second half of the run."""
        every = self.scores + self.scores[-1:] * (
            self.validations - len(self.scores)
        )  # one that ended early goes on so
        late = every[self.validations // 2 :]
        chosen = next(entry for entry in self.history if entry["step"] == self.best["step"])
        return {
            "validation": chosen[self.task.chooses],
            "validation, second half": sum(late) / len(late),
            "best_step": float(self.best["step"]),
            "steps": float(self.history[-1]["step"]),
        }

    def _now(self) -> float:
        """Seconds of work: on a CPU those of this process, whatever else the machine does; on a GPU by the clock."""
        return time.process_time() if self.run.device == "cpu" else time.perf_counter()

    def _save(self, step: int, optimiser: torch.optim.Optimizer) -> None:
        tensors = {f"model/{name}": value for name, value in self.model.state_dict().items()}
        tensors |= {f"best/{name}": value for name, value in self.weights.items()} | flat_optimiser(
            optimiser
        )
        facts = {"step": step, "history": self.history, "best": self.best, "seconds": self.seconds}
        write_tensors(
            self.path, tensors, {**facts, "run": self.run.digest(), "code": self.run.code()}
        )
        self.saved = time.perf_counter()

    def _go_on(self) -> None:
        """From the checkpoint, when there is one of this run; a damaged one is told and left out."""
        if self.folder is None or not self.path.exists():
            return
        try:
            tensors, facts = read_tensors(self.path)
        except ValueError as problem:
            print(f"locant: {problem} The run starts again from its first step.", file=sys.stderr)
            return
        if (facts["run"], facts["code"]) != (self.run.digest(), self.run.code()):
            return
        self.model.load_state_dict(part(tensors, "model/"))
        self.weights, self.optimiser = part(tensors, "best/"), tensors
        self.step, self.seconds = facts["step"], facts["seconds"]
        self.history, self.best = facts["history"], facts["best"]

    def _groups(self) -> list[dict[str, Any]]:
        """The encoding's own tensors with their own rate and no decay; all others with the run's."""
        settings = self.run.training
        positional = {id(p) for p in self.model.body.encodings.parameters()}
        shared = [p for p in self.model.parameters() if id(p) not in positional]
        own = [p for p in self.model.parameters() if id(p) in positional]
        groups: list[dict[str, Any]] = [
            {"params": shared, "lr": settings.rate, "weight_decay": settings.weight_decay}
        ]
        if own:
            rate = settings.rate * settings.positional_rate / positional_factor(self.model)
            groups.append({"params": own, "lr": rate, "weight_decay": 0.0})
        return groups

    def _cost(self) -> dict[str, float]:
        model = self.model
        return {
            "parameters": float(sum(p.numel() for p in model.parameters())),
            "positional_parameters": float(
                sum(p.numel() for p in model.body.encodings.parameters())
            ),
            "seconds_a_step": self.seconds / self.history[-1]["step"],
            "seconds": self._now() - self.started,
            "peak_megabytes": peak_megabytes(),
        }


class Predict:
    """A model as tasks see it: inputs in, outputs out, in parts, without gradients."""

    def __init__(self, model: StudyModel, run: RunConfig, purpose: str) -> None:
        self.model, self.device, self.places = model, run.device, Places(run, purpose)

    def __call__(
        self, inputs: Tensor, real: Tensor | None = None, times: Tensor | None = None
    ) -> Tensor:
        self.model.eval()
        parts = []
        with torch.no_grad():
            for start in range(0, len(inputs), CHUNK):
                some = inputs[start : start + CHUNK]
                which, when = (
                    None if one is None else one[start : start + CHUNK] for one in (real, times)
                )
                place = self.places(some, which, when)
                moved = _to(self.device, some, place.pos, which, place.see)
                parts.append(self.model(*moved).cpu())
        return torch.cat(parts)


def _seed(seed: int, device: str) -> None:
    """torch.manual_seed takes a third of a millisecond to note the seed for GPUs, and keeps every note: not for each step."""
    torch.default_generator.manual_seed(seed) if device == "cpu" else torch.manual_seed(seed)


def _to(device: str, *tensors: Tensor | None) -> tuple[Any, ...]:
    return tuple(None if one is None else one.to(device) for one in tensors)
