"""Train the model of one run: validate on the way, keep the best weights, survive an
interruption."""

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
from locant.lab.tasks.base import Scores, Task
from locant.lab.training.artifacts import to_device
from locant.lab.training.build import StudyModel, build, positional_factor
from locant.lab.training.checkpoint import (
    flat_optimizer,
    read_tensors,
    restore_optimizer,
    with_prefix,
    write_tensors,
)
from locant.lab.training.config import RunConfig
from locant.lab.training.loop import Groups, train
from locant.lab.training.peak_memory import peak_megabytes
from locant.lab.training.position_policy import PositionPolicy

EVALUATION_ROWS = 500  # rows in one forward pass of an evaluation
CHECKPOINT_SECONDS = 20.0  # at least so many seconds lie between two checkpoints
PATIENCE = 3  # validations in a row that must be low before training ends early


class Trainer:
    """The training of one run, from its first step or from a checkpoint in `folder`."""

    def __init__(
        self,
        run: RunConfig,
        task: Task,
        folder: Path | None = None,
        checkpoint_seconds: float = CHECKPOINT_SECONDS,
    ) -> None:
        self.run, self.task, self.folder = run, task, folder
        self.checkpoint_seconds = checkpoint_seconds
        self.model = build(run, task).to(run.device)
        self.started = self._now()
        self.step = 0
        self.seconds = 0.0  # of training alone
        self.history: list[dict[str, float]] = []
        self.best: dict[str, Any] = {"value": None, "step": 0}
        self.best_weights: dict[str, Tensor] = {}
        self.saved_tensors: dict[str, Tensor] | None = None
        self._resume()

    def fit(self) -> None:
        """Train to the last step, or until nothing is left to learn or the run is abandoned."""
        settings = self.run.training
        self.last_save = time.perf_counter()
        self.segment_start = self._now()
        ended = self.abandoned or self.saturated
        resume = None
        if self.saved_tensors is not None:
            resume = partial(restore_optimizer, tensors=self.saved_tensors)
        train(
            self.model,
            self.loss,
            steps=settings.steps,
            lr=settings.rate,
            warm_up=settings.warm_up,
            clip=settings.clip,
            schedule=settings.schedule,
            final=settings.final,
            lr_update_every=settings.pace_every,
            beta2=settings.beta2,
            groups=self._parameter_groups(),
            start=settings.steps if ended else self.step,
            resume=resume,
            after=self._after_step,
        )

    def loss(self, step: int) -> Tensor:
        """Compute the loss of a step's batch, with dropout from the step's own seed."""
        run = self.run
        _seed_torch(stable_seed("dropout", run.seed, step), run.device)
        batch = self.task.batch(run.training.batch, run.seed, step)
        policy = PositionPolicy(run, "train", step)
        pos, attn_mask = policy(batch.inputs, batch.padding_mask, batch.times)
        inputs, target, padding_mask, pos, attn_mask = to_device(
            run.device, batch.inputs, batch.target, batch.padding_mask, pos, attn_mask
        )
        return self.task.loss(self.model(inputs, pos, padding_mask, attn_mask), target)

    def _after_step(self, step: int, last: float, optimizer: torch.optim.Optimizer) -> bool:
        """Validate when it is time, and say whether training is over."""
        settings = self.run.training
        if step % settings.validate_every and step != settings.steps:
            return False
        self.seconds += self._now() - self.segment_start
        predict = Predictor(self.model, self.run, "validation")
        scores = self.task.validate(predict, settings.validation, self.run.seed)
        self.model.train()
        self.history.append({"step": step, "train_loss": last, **scores})
        value = scores[self.task.selection_metric]
        if not self.task.selects_higher:
            value = -value
        if self.best["value"] is None or value > self.best["value"]:
            self.best = {"value": value, "step": step}
            self.best_weights = copy.deepcopy(self.model.state_dict())
        due = time.perf_counter() - self.last_save >= self.checkpoint_seconds
        if self.folder is not None and due and step != settings.steps:
            self._save(step, optimizer)
        self.segment_start = self._now()
        return self.abandoned or self.saturated

    @property
    def selection_scores(self) -> list[float]:
        """The selection metric of every validation so far."""
        return [entry[self.task.selection_metric] for entry in self.history]

    @property
    def saturated(self) -> bool:
        """Whether nothing is left to learn."""
        if self.task.selects_higher or len(self.selection_scores) < PATIENCE:
            return False
        return max(self.selection_scores[-PATIENCE:]) < self.run.training.stop_below

    @property
    def abandoned(self) -> bool:
        """Whether the mean over the second half must end above the bound, even if all that follows
        were 0."""
        bound = self.run.training.abandon_above
        if bound is None:
            return False
        first = self.validations // 2
        return sum(self.selection_scores[first:]) / (self.validations - first) > bound

    @property
    def validations(self) -> int:
        """The number of validations in a run that does not end early."""
        return math.ceil(self.run.training.steps / self.run.training.validate_every)

    def validation_metrics(self) -> Scores:
        """Return the score that selected the weights, and the mean over the second half of the
        run."""
        scores = self.selection_scores
        missing = self.validations - len(scores)  # a run that ended early keeps its last score
        late = (scores + scores[-1:] * missing)[self.validations // 2 :]
        chosen = next(entry for entry in self.history if entry["step"] == self.best["step"])
        return {
            "validation": chosen[self.task.selection_metric],
            "validation, second half": sum(late) / len(late),
            "best_step": float(self.best["step"]),
            "steps": float(self.history[-1]["step"]),
        }

    def cost(self) -> dict[str, float]:
        """Return parameters, seconds and memory of the run so far."""
        positional = self.model.body.encodings.parameters()
        return {
            "parameters": float(sum(p.numel() for p in self.model.parameters())),
            "positional_parameters": float(sum(p.numel() for p in positional)),
            "seconds_a_step": self.seconds / self.history[-1]["step"],
            "seconds": self._now() - self.started,
            "peak_megabytes": peak_megabytes(),
        }

    def _now(self) -> float:
        """Return seconds of work: process time on a CPU, whatever else the machine does; wall-clock
        time on a GPU."""
        return time.process_time() if self.run.device == "cpu" else time.perf_counter()

    def _parameter_groups(self) -> Groups:
        """Give the encoding's own parameters their own learning rate and no weight decay."""
        settings = self.run.training
        positional = {id(p) for p in self.model.body.encodings.parameters()}
        shared = [p for p in self.model.parameters() if id(p) not in positional]
        own = [p for p in self.model.parameters() if id(p) in positional]
        groups: Groups = [
            {"params": shared, "lr": settings.rate, "weight_decay": settings.weight_decay}
        ]
        if own:
            lr = settings.rate * settings.positional_rate / positional_factor(self.model)
            groups.append({"params": own, "lr": lr, "weight_decay": 0.0})
        return groups

    @property
    def checkpoint_path(self) -> Path:
        """The checkpoint file in the run's folder."""
        assert self.folder is not None
        return self.folder / "resume.safetensors"

    def remove_checkpoint(self) -> None:
        """Delete the checkpoint of a run that has ended."""
        if self.folder is not None:
            self.checkpoint_path.unlink(missing_ok=True)

    def _save(self, step: int, optimizer: torch.optim.Optimizer) -> None:
        """Write a checkpoint: weights, best weights, optimizer, history."""
        tensors = {f"model/{name}": value for name, value in self.model.state_dict().items()}
        tensors |= {f"best/{name}": value for name, value in self.best_weights.items()}
        tensors |= flat_optimizer(optimizer)
        facts = {
            "step": step,
            "history": self.history,
            "best": self.best,
            "seconds": self.seconds,
            "run": self.run.digest(),
            "code": self.run.code(),
        }
        write_tensors(self.checkpoint_path, tensors, facts)
        self.last_save = time.perf_counter()

    def _resume(self) -> None:
        """Continue from this run's checkpoint; a damaged checkpoint is reported and ignored."""
        if self.folder is None or not self.checkpoint_path.exists():
            return
        try:
            tensors, facts = read_tensors(self.checkpoint_path)
        except ValueError as problem:
            print(f"locant: {problem} The run starts again from its first step.", file=sys.stderr)
            return
        if (facts["run"], facts["code"]) != (self.run.digest(), self.run.code()):
            return
        self.model.load_state_dict(with_prefix(tensors, "model/"))
        self.best_weights = with_prefix(tensors, "best/")
        self.saved_tensors = tensors
        self.step, self.seconds = facts["step"], facts["seconds"]
        self.history, self.best = facts["history"], facts["best"]


class Predictor:
    """A trained model as tasks call it: inputs in, outputs out, in chunks, without gradients."""

    def __init__(self, model: StudyModel, run: RunConfig, purpose: str) -> None:
        self.model, self.device = model, run.device
        self.policy = PositionPolicy(run, purpose)

    def __call__(
        self, inputs: Tensor, padding_mask: Tensor | None = None, times: Tensor | None = None
    ) -> Tensor:
        """Predict the outputs of inputs (B,T) or (B,T,features), on the CPU."""
        self.model.eval()
        outputs = []
        with torch.no_grad():
            for start in range(0, len(inputs), EVALUATION_ROWS):
                rows = slice(start, start + EVALUATION_ROWS)
                some = inputs[rows]
                some_mask = None if padding_mask is None else padding_mask[rows]
                some_times = None if times is None else times[rows]
                pos, attn_mask = self.policy(some, some_mask, some_times)
                on_device = to_device(self.device, some, pos, some_mask, attn_mask)
                outputs.append(self.model(*on_device).cpu())
        return torch.cat(outputs)


def _seed_torch(seed: int, device: str) -> None:
    """Seed torch's generators for one step.

    On a CPU only the CPU's generator is seeded: `torch.manual_seed` takes a third of a millisecond
    to remember the seed for GPUs, and keeps every one of them.
    """
    if device == "cpu":
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)
