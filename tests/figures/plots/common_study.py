"""Records of studies, made by hand."""

from __future__ import annotations

import base64
import warnings

import numpy as np
from matplotlib.colors import to_hex

from locant.lab.store.record import EntrantRecord, StudyRecord
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study import read_stored_study

ROWS = {
    "none": "none",
    "scrambled": "sinusoidal",
    "rotary": "rotary",
    "learned": "learned",
    "learned .02": "learned",
}


MEANS = {
    "none": 0.3,
    "scrambled": 0.32,
    "rotary": 0.9,
    "learned": 0.7,
    "learned .02": 0.6,
    "harmonic": 0.8,
}


ACCURACY = {
    "metric": "accuracy",
    "chooses": "accuracy",
    "chooses_higher": True,
    "higher_is_better": True,
    "chance": 0.25,
    "length": 32,
    "threshold": 0.9,
}


PAPERS = [
    {"encoding": "rotary", "effort": "quick", "findings": [{"name": "shift", "verdict": "holds"}]},
    {
        "encoding": "mine.py:Mine",
        "effort": "quick",
        "findings": [{"name": "shift", "verdict": "fails"}],
    },
]


def notes(draw, seed):
    weights = draw.dirichlet(np.full(6, 0.3), (2, 2, 6))  # (layers, heads, queries, keys)
    top = weights.max((-2, -1))
    small = (weights / top[..., None, None] * 255).round().astype(np.uint8)
    same = np.random.default_rng(seed)  # the window is the same for every row
    hidden = same.permutation(12) < 3
    target = np.column_stack([same.normal(size=(12, 2)), hidden])
    return {
        "attention": {
            "shape": list(weights.shape),
            "top": top.flatten().tolist(),
            "bytes": base64.b64encode(small.tobytes()).decode(),
        },
        "reconstruction": {"target": target.tolist(), "output": (target[:, :2] + 0.1).tolist()},
        "histogram": {"edges": [0.1, 1.0, 10.0 + seed], "normal": [90, 10], "faulty": [2, 8]},
    }


def row(name, encoding, *, seeds=3, plain=False):
    draw = np.random.default_rng(sum(map(ord, name)))
    scores = (MEANS.get(name, 0.5) + draw.normal(0, 0.02, seeds)).tolist()
    metrics = {
        "accuracy": scores,
        "recall, point": scores,
        "recall, collective": [s / 2 for s in scores],
    }
    if plain:
        return EntrantRecord(
            name, encoding, [], metrics, list(range(seeds)), [[]] * seeds, {}, [{}] * seeds
        )
    metrics |= {
        "accuracy at 64": [s / 2 for s in scores],
        "accuracy at 48": [s * 0.8 for s in scores],
    }
    metrics |= {"change when shuffled": [0.0 if name == "none" else 0.5] * seeds}
    history = [{"step": step, "train_loss": 1.0, "accuracy": step / 100} for step in (50, 100)]
    costs = {
        "seconds_a_step": [0.01 + len(name) / 1000] * seeds,
        "parameters": [1000.0 + len(name)] * seeds,
    }
    kept = [notes(draw, seed) for seed in range(seeds)]
    return EntrantRecord(
        name, encoding, [], metrics, list(range(seeds)), [history] * seeds, costs, kept
    )


def study(names=("none", "rotary", "learned .02", "learned", "scrambled"), *, seeds=3, **facts):
    asked = {
        "name": "s",
        "title": "s",
        "controls": ["none", "scrambled"],
        "encodings": [],
        "baselines": ["harmonic"],
        "task": "anomaly",
        "details": ["recall, point"],
        "training": {"steps": 100},
    }
    rows = [row(name, ROWS[name], seeds=seeds) for name in names] + [
        row("harmonic", "none", seeds=seeds, plain=True)
    ]
    facts = {
        **ACCURACY,
        "ceilings": {"without positions": 0.25, "by place": 1.0, "by T5 buckets": 1.0},
        **facts,
    }
    settings, task = read_stored_study(asked), TaskFacts.from_stored(facts)
    return StudyRecord("s", settings, task, "locant compare s", rows)


def bare(names=("none", "rotary"), **more):
    """Scores and nothing else."""
    record = study(names, **more)
    for one in record.entrants:
        one.notes, one.histories, one.costs = [{}] * len(one.seeds), [[]] * len(one.seeds), {}
        one.metrics = {"accuracy": one.metrics["accuracy"]}
    return record


def names_down(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def drawn_colors(axes):
    """Every color of a line, a bar or an outline."""
    found = {to_hex(line.get_color()) for line in axes.lines} | {
        to_hex(patch.get_edgecolor()) for patch in axes.patches
    }
    return found | {to_hex(patch.get_facecolor()) for patch in axes.patches}


def draw_all(offered):
    """Draw every picture; a warning is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return {name: picture.draw() for name, picture in offered.items()}
