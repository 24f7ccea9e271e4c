"""What a model of a study attends to in its example: before training, built anew; after it, as its run kept it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from locant._internal.user_code import user_code
from locant.explorer.answers import answer
from locant.explorer.stored import kept, record_of
from locant.lab.store.note_arrays import read_array
from locant.lab.tasks.base import Batch, make_task
from locant.lab.training.build import build
from locant.lab.training.config import RunConfig
from locant.lab.training.notes import notes


def window(path: Path, study: str, name: str, trained: bool) -> bytes:
    """Attention weights (layers, heads, T, T) of one row on the example of its first seed, and that example."""
    store, record = record_of(*kept(path, study))
    row = next((row for row in record.rows if row.name == name), None)
    noted = (
        next((at for at, note in enumerate(row.notes) if note.get("attention")), None)
        if row
        else None
    )
    if row is None or noted is None:
        raise ValueError(f"{record.id} has no row called {name[:100]!r} whose attention was kept.")
    found = [one for digest in row.digests if (one := store.find(digest, None)) is not None]
    config = next(one.config for one in found if one.config["seed"] == row.seeds[noted])
    try:
        run = RunConfig(**config)
    except ValidationError:
        raise ValueError(
            f"{record.id} was kept by another version of locant, whose runs cannot be built anew."
        ) from None
    with user_code(run.encoding):
        task = make_task(run.task, **run.task_options)
        note = row.notes[noted] if trained else notes(build(run, task), run, task, {})
    return answer(
        {
            "weights": read_array(note["attention"]),
            "seed": run.seed,
            **_example(task.example(run.seed), task.symbols),
        }
    )


def _example(rows: Batch, symbols: int) -> dict[str, Any]:
    """The tokens of the example, or its first feature."""
    first = rows.inputs[0]
    return {"tokens": first.tolist()} if symbols else {"series": first[:, 0].double().numpy()}
