"""The lines that a comparison recommends: they run as pasted, and build the very model that was
compared."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
import torch
from common_records import finished
from rich.console import Console

from locant.cli import report
from locant.lab.report.conclusion import recommend
from locant.lab.report.snippet import snippet
from locant.lab.store.record import read_record
from locant.lab.study_files import read_study
from locant.lab.tasks.base import make_task
from locant.lab.training.build import build

FACTS = (
    "max_length",
    "symbols",
    "features",
    "outputs",
    "pool",
    "causal",
)  # that older records do not hold


@pytest.fixture
def files(tmp_path):
    """A text, and a series of two columns."""
    text, series = tmp_path / "book.txt", tmp_path / "load.csv"
    text.write_bytes(b"the cat sat on the mat. " * 200)
    values = np.random.default_rng(0).normal(size=(400, 2))
    series.write_text("load,noise\n" + "\n".join(f"{a},{b}" for a, b in values))
    return {"own-text": text, "own-masked": series, "own-forecast": series}


def study(files, name, **changes):
    options = (
        {"task_options.path": str(files[name]), "task_options.length": 24} if name in files else {}
    )
    return {**options, "recommends": True, "seeds": 6, **changes}


def compared(tmp_path, name, best, changes):
    """The record of a comparison in which one row is surely best."""
    metric = {"own-text": "bits a byte", "order": "accuracy"}.get(name, "error")
    sign = 1 if metric == "accuracy" else -1

    def scores(row, seed):
        return {
            metric: 0.5 + sign * (0.4 if row == best else 0) + 0.001 * ((7 * seed + len(row)) % 5)
        }

    store, which = finished(tmp_path, name, scores, **changes)
    record = read_record(store, which)
    for row in record.entrants:
        row.costs["positional_parameters"] = [128.0]
    return record


def pasted(lines):
    names = {}
    exec(compile("\n".join(lines), "snippet", "exec"), names)  # our own lines
    return names


def rebuilt(name, row, changes):
    """The model that a run of the row trains, and its task."""
    plan = read_study(name, changes=changes)
    task = make_task(plan.task, **plan.task_options)
    return build(
        plan.run(next(one for one in plan.rows() if one.name == row), 0), task
    ).eval(), task


OTHER = {
    "model.norm": "post",
    "model.activation": "relu",
    "model.head": 16,
    "model.dropout": 0.1,
    "model.token_size": 0.1,
}
YARN = {"name": "yarn", "encoding": "rotary"}
YARN["options"] = {
    "base": 500.0,
    "scaling": {"type": "yarn", "factor": 4.0, "original_length": 24, "beta_fast": 32.0},
}


@pytest.mark.parametrize(
    ("name", "best", "other"),
    [
        ("own-masked", "rotary", {}),
        ("own-masked", "fourier", OTHER),
        ("own-forecast", "t5", {}),
        ("own-forecast", "learned", {}),
        ("own-text", "rotary", {"task_options.longer": [48]}),
        ("own-text", "yarn", {"encodings": ["alibi", YARN]}),
        ("own-text", "sinusoidal", OTHER),
        ("order", "relative", {}),
        ("order", "sinusoidal", OTHER),
    ],
)
def test_the_recommended_lines_build_the_model_that_was_compared(
    tmp_path, files, name, best, other
):
    changes = study(files, name, **other)
    lines = recommend(compared(tmp_path, name, best, changes)).code
    assert max(map(len, lines)) <= 76
    made, (model, task) = pasted(lines), rebuilt(name, best, changes)
    for one, other in zip(
        made["model"].embed.parameters(), model.body.embed.parameters(), strict=True
    ):
        assert one.std().item() == pytest.approx(other.std().item(), rel=0.3)  # as they start
    if hasattr(
        model.body.encodings[0], "factor"
    ):  # found from what the encoding starts with, which is random
        assert made["encoding"].factor == pytest.approx(model.body.encodings[0].factor, rel=0.2)
        made["encoding"].factor = model.body.encodings[0].factor
    parts = {key.removeprefix("body."): value for key, value in model.state_dict().items()}
    if task.pool:
        made["head"].load_state_dict(
            {key[5:]: parts.pop(key) for key in list(parts) if key.startswith("head.")}
        )
    made["model"].load_state_dict(parts)
    made["model"].eval(), made["head"].eval()
    exec(lines[-1], made)  # with the weights of the other
    assert torch.equal(made["out"], model(made["x"], made["pos"]))
    assert lines[-1].endswith(f"  # {tuple(made['out'].shape)}")


@pytest.mark.parametrize(
    ("name", "causal"), [("own-text", True), ("own-forecast", True), ("own-masked", False)]
)
@pytest.mark.parametrize("best", ["none", "rotary"])
def test_a_recommended_decoder_lets_nothing_of_the_future_in(tmp_path, files, name, causal, best):
    changes = study(files, name, **{"task_options.longer": [48]} if name == "own-text" else {})
    made = pasted(snippet(compared(tmp_path, name, best, changes), best))
    model, x, pos = made["model"].eval(), made["x"], made["pos"]
    later = x.clone()
    later[:, 12:] = (later[:, 12:] + 1) % 256
    same = (model(x, pos)[:, :12] == model(later, pos)[:, :12]).all()
    assert bool(same) is causal
    assert not torch.equal(model(x, pos)[:, 12:], model(later, pos)[:, 12:])


def test_the_rate_that_the_search_chose_for_the_encoding_is_told(tmp_path, files):
    record = compared(tmp_path, "own-forecast", "t5", study(files, "own-forecast"))
    row = next(row for row in record.entrants if row.name == "t5")
    row.chosen = [(0.5, 10.0), (1.0, 1.0), (0.5, 10.0)]  # most searches took the first
    assert (
        "# It was trained at a learning rate of 0.0015. The encoding's own parameters"
        in snippet(record, "t5")
    )
    assert "# had 10 times that rate." in snippet(record, "t5")
    row.chosen = [(0.5, 1.0)]
    assert "own parameters" not in "\n".join(snippet(record, "t5"))


def test_a_record_that_does_not_know_its_task_prints_no_lines(tmp_path, files):
    record = compared(tmp_path, "own-forecast", "t5", study(files, "own-forecast"))
    assert snippet(record, "t5")
    record.facts = replace(record.facts, **dict.fromkeys(FACTS))
    assert recommend(record).lines[0].startswith("Take t5")
    assert not recommend(record).code


def test_long_paths_and_options_run_and_fit(tmp_path, files):
    folder = (
        tmp_path / "a folder with a name that is as long as such names are" / "and 'another' in it"
    )
    folder.mkdir(parents=True)
    lines = ["from locant.encodings.base import Encoding", "class Mine(Encoding):"]
    lines += [
        "    def __init__(self, shape, *, words=(), text=''):",
        "        super().__init__(shape)",
    ]
    lines += ["        self.words, self.text = words, text"]
    (folder / "mine.py").write_text("\n".join(lines))
    options = {"words": ["one after another"] * 9, "text": 'so long that "it" fits\\nowhere ' * 9}
    row = {"name": "Mine", "encoding": f"{folder}/mine.py:Mine", "options": options}
    record = compared(
        tmp_path, "own-masked", "Mine", study(files, "own-masked", encodings=["alibi", row])
    )
    code = snippet(record, "Mine")
    assert max(map(len, code)) <= 76
    made = pasted(code)["encoding"]
    assert (made.words, made.text) == (options["words"], options["text"])


def test_the_lines_are_printed_as_they_are_to_be_pasted(tmp_path, files, monkeypatch):
    record = compared(
        tmp_path, "own-text", "rotary", study(files, "own-text", **{"task_options.longer": [48]})
    )
    shown = io.StringIO()
    monkeypatch.setattr(report, "Console", lambda: Console(file=shown, width=60))
    report.show(record)
    assert "\n".join(recommend(record).code) in shown.getvalue()
