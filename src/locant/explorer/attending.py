"""What a small model attends to in a sentence, before and after it has learnt to name the word so many places back."""

from __future__ import annotations

import math
from functools import lru_cache

import torch

from locant._internal.user_code import user_code
from locant.encodings.registry import describe
from locant.explorer.answers import answer
from locant.explorer.asked import WORDS
from locant.lab.tasks.base import Task, make_task
from locant.lab.training.build import StudyModel, build
from locant.lab.training.config import ModelConfig, RunConfig, TrainingConfig
from locant.lab.training.evaluate import Running

MODEL = ModelConfig(dim=32, heads=4, layers=2, ffn=64)
TRAINING = TrainingConfig(steps=300, warm_up=20, validate_every=300, validation=100, test=200)


@torch.no_grad()
def sentence(name: str, words: list[str], trained: bool, back: int) -> bytes:
    """Attention weights (layers, heads, T, T), each row a word that looks; and how often a trained model is right."""
    with user_code(name):
        run, task = _run(name, back)
        model, right = (
            _learnt(name, back, describe(name).path.stat().st_mtime_ns)
            if trained
            else (build(run, task), None)
        )
        known = list(dict.fromkeys(word.lower() for word in words))
        tokens = torch.tensor([[known.index(word.lower()) for word in words]])  # (1, T)
        weights = model.eval().forward_with_weights(tokens, torch.arange(len(words))).weights
    return answer(
        {
            "words": words,
            "weights": torch.stack([layer[0] for layer in weights]).double().numpy(),
            "right": right,
        }
    )


def _run(name: str, back: int) -> tuple[RunConfig, Task]:
    options = {"length": WORDS, "symbols": WORDS, "back": back}
    run = RunConfig(
        task="lag",
        task_options=options,
        name=name,
        encoding=name,
        seed=0,
        model=MODEL,
        training=TRAINING,
    )
    return run, make_task(run.task, **options)


@lru_cache(maxsize=64)
def _learnt(name: str, back: int, _changed: int) -> tuple[StudyModel, float]:
    """The model after training, and the share of its answers that are right in rows it has not seen."""
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        running = Running(*_run(name, back), None, False, math.inf)
        return running.model, running.finish().metrics["accuracy"]
