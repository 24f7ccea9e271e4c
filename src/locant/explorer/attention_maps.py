"""Compute what a model attends to, before and after training: a small one on a sentence, or a
study's own.

The small model learns to name the word that stands a number of words back.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError

from locant._internal.user_code import user_code
from locant.encodings.registry import describe
from locant.explorer.schemas import MAX_WORDS
from locant.explorer.serialization import to_json
from locant.explorer.studies import find_study, read_study
from locant.lab.store.note_arrays import read_array
from locant.lab.tasks.base import Batch, Task, make_task
from locant.lab.training.artifacts import run_notes
from locant.lab.training.build import StudyModel, build
from locant.lab.training.config import ModelConfig, RunConfig, TrainingConfig
from locant.lab.training.evaluate import train_and_test
from locant.lab.training.trainer import Trainer

MODEL = ModelConfig(dim=32, heads=4, layers=2, ffn=64)
TRAINING = TrainingConfig(steps=300, warm_up=20, validate_every=300, validation=100, test=200)


@torch.no_grad()
def on_sentence(name: str, words: list[str], trained: bool, back: int) -> bytes:
    """Return attention weights (layers, heads, T, T) of a small model, and its accuracy if it is
    trained."""
    with user_code(name):
        if trained:
            changed = describe(name).path.stat().st_mtime_ns
            model, accuracy = _trained_model(name, back, changed)
        else:
            model, accuracy = build(*_small_run(name, back)), None
        vocabulary = list(dict.fromkeys(word.lower() for word in words))
        tokens = torch.tensor([[vocabulary.index(word.lower()) for word in words]])  # (1, T)
        weights = model.eval().forward_with_weights(tokens, torch.arange(len(words))).weights
    stacked = torch.stack([layer[0] for layer in weights])
    return to_json({"words": words, "weights": stacked.double().numpy(), "accuracy": accuracy})


def _small_run(name: str, back: int) -> tuple[RunConfig, Task]:
    options = {"length": MAX_WORDS, "symbols": MAX_WORDS, "back": back}
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
def _trained_model(name: str, back: int, _changed: int) -> tuple[StudyModel, float]:
    """Train the small model, and measure its accuracy on sequences that it has not seen."""
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        trainer = Trainer(*_small_run(name, back))
        return trainer.model, train_and_test(trainer).metrics["accuracy"]


def of_study(path: Path, study: str, name: str, trained: bool) -> bytes:
    """Return attention weights (layers, heads, T, T) of a study's model on the example of its first
    seed.

    Before training the model is built again; after it the weights are those that its run kept.
    """
    store, record = read_study(*find_study(path, study))
    row = next((row for row in record.entrants if row.name == name), None)
    kept = [] if row is None else [note for note in row.notes if note.get("attention")]
    if row is None or not kept:
        raise ValueError(f"{record.id} has no row called {name[:100]!r} whose attention was kept.")
    seed = row.seeds[row.notes.index(kept[0])]
    found = [store.find(digest, None) for digest in row.digests]
    configs = [one.config for one in found if one is not None]
    config = next(config for config in configs if config["seed"] == seed)
    try:
        run = RunConfig(**config)
    except ValidationError:
        raise ValueError(
            f"{record.id} was computed by another version of locant; "
            "its models cannot be built again."
        ) from None
    with user_code(run.encoding):
        task = make_task(run.task, **run.task_options)
        note = kept[0] if trained else run_notes(build(run, task), run, task, {})
    example = _example(task.example(run.seed), task.symbols)
    return to_json({"weights": read_array(note["attention"]), "seed": run.seed, **example})


def _example(batch: Batch, symbols: int) -> dict[str, Any]:
    """Return the tokens of the example, or its first feature."""
    first = batch.inputs[0]
    return {"tokens": first.tolist()} if symbols else {"series": first[:, 0].double().numpy()}
