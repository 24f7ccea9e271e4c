"""A run that is interrupted goes on to the same bits, and leaves files for people."""

from __future__ import annotations

import csv
import json

import pytest
from common_runs import run

from locant.lab.tasks.base import make_task
from locant.lab.training.build import build
from locant.lab.training.checkpoint import read_tensors
from locant.lab.training.evaluate import execute
from locant.lab.training.trainer import Trainer


def interrupted(settings, folder, monkeypatch, steps):
    """Run until so many steps are done, stop there as a killed process would, and leave the
    checkpoint."""

    class Killed(BaseException):
        pass

    plain = Trainer._save

    def save_and_die(self, step, optimizer):
        plain(self, step, optimizer)
        if step >= steps:
            raise Killed

    monkeypatch.setattr(Trainer, "_save", save_and_die)
    with pytest.raises(Killed):
        execute(settings, folder, checkpoint_seconds=0.0)
    monkeypatch.setattr(Trainer, "_save", plain)


LONG = {
    "steps": 24,
    "batch": 4,
    "validate_every": 4,
    "validation": 16,
    "test": 32,
    "warm_up": 4,
    "schedule": "cosine",
}


@pytest.mark.parametrize("encoding", ["learned", "t5", "rotary"])
@pytest.mark.parametrize("source", ["fresh", "bits", "pool"])
def test_a_run_that_goes_on_from_a_checkpoint_gives_the_same_bits(
    encoding, source, tmp_path, monkeypatch
):
    model = {"dim": 16, "heads": 2, "layers": 1, "ffn": 16, "dropout": 0.2, "dropout_from": source}
    settings = run(encoding, model=model, training=LONG)
    whole = execute(settings)
    interrupted(settings, tmp_path, monkeypatch, steps=12)
    assert (tmp_path / "resume.safetensors").exists()
    met = []
    plain = Trainer.loss
    monkeypatch.setattr(Trainer, "loss", lambda self, step: met.append(step) or plain(self, step))
    again = execute(settings, tmp_path)
    assert met == list(range(12, 24))  # no step twice
    assert again.metrics == whole.metrics
    assert again.history == whole.history
    assert not (tmp_path / "resume.safetensors").exists()


@pytest.mark.parametrize("damage", ["cut", "flip", "text", "empty"])
def test_a_damaged_checkpoint_is_told_and_costs_only_time(damage, tmp_path, monkeypatch, capsys):
    settings = run("learned", training=LONG)
    interrupted(settings, tmp_path, monkeypatch, steps=12)
    path = tmp_path / "resume.safetensors"
    data = bytearray(path.read_bytes())
    data[-100] ^= 255
    wrong = {
        "cut": bytes(data[: len(data) // 2]),
        "flip": bytes(data),
        "text": b"hello",
        "empty": b"",
    }[damage]
    path.write_bytes(wrong)
    assert execute(settings, tmp_path).metrics == execute(settings).metrics
    said = capsys.readouterr().err
    assert "is damaged" in said
    assert "starts again from its first step" in said


def test_a_checkpoint_of_other_settings_is_not_taken(tmp_path, monkeypatch):
    interrupted(run("learned", training=LONG), tmp_path, monkeypatch, steps=12)
    other = run("learned", training=LONG, seed=9)
    assert execute(other, tmp_path).metrics == execute(other).metrics


def test_files_for_people_hold_what_the_run_gave(tmp_path):
    settings = run("learned")
    outcome = execute(settings, tmp_path / "files", keep=True)
    assert json.loads((tmp_path / "files/config.json").read_text())["encoding"] == "learned"
    assert (
        json.loads((tmp_path / "files/metrics.json").read_text())["accuracy"]
        == outcome.metrics["accuracy"]
    )
    history = list(csv.DictReader((tmp_path / "files/history.csv").open()))
    assert [float(row["accuracy"]) for row in history] == [
        entry["accuracy"] for entry in outcome.history
    ]
    judged = list(csv.DictReader((tmp_path / "files/scores.csv").open()))
    assert (
        sum(row["target"] == row["answer"] for row in judged) / len(judged)
        == outcome.metrics["accuracy"]
    )
    best = read_tensors(tmp_path / "files/best.safetensors").tensors
    model = build(settings, make_task("order", length=8, symbols=5))
    model.load_state_dict(best)
    assert (tmp_path / "files/last.safetensors").exists()
