"""One run: paired, matched, deterministic, and nothing chosen on test data."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from locant.catalog import make, names
from locant.dropout import POOL, BitDropout, PooledDropout
from locant.encodings.base import Encoding
from locant.shapes import Shape
from locant.tasks._ceilings import bucket
from locant.tasks.base import make_task, task_names
from locant.tasks.order import Order
from locant.training.build import Scaled, build, matched
from locant.training.checkpoint import read_tensors
from locant.training.config import RunConfig
from locant.training.evaluate import Running, execute
from locant.training.loop import train
from locant.training.memory import forget_peak, peak_megabytes
from locant.training.places import Places


def run(encoding="rotary", **more):
    model = {"dim": 16, "heads": 2, "layers": 1, "ffn": 16}
    training = {"steps": 12, "batch": 4, "validate_every": 6, "validation": 16, "test": 32, "warm_up": 4}
    fields = {"task": "order", "task_options": {"length": 8, "symbols": 5}, "name": encoding, "encoding": encoding}
    return RunConfig(**{**fields, "seed": 3, "model": model, "training": training, **more})


@pytest.mark.parametrize("name", names())
def test_every_encoding_of_a_seed_starts_from_the_same_shared_weights(name):
    task = make_task("order", length=8, symbols=5)
    one, other = build(run(name), task).state_dict(), build(run("none"), task).state_dict()
    shared = [key for key in other if not key.startswith("body.encodings")]
    assert shared
    assert all(torch.equal(one[key], other[key]) for key in shared)


@pytest.mark.parametrize("name", ["sinusoidal", "learned", "hybrid", "continuous", "fourier"])
def test_what_is_added_to_the_input_has_the_size_of_a_token(name):
    model = build(run(name), make_task("order", length=8, symbols=5))
    encoding = model.body.encodings[0]
    assert isinstance(encoding, Scaled)
    added = encoding.embed(torch.zeros(1, 8, 16), torch.arange(8))
    assert added.square().mean().sqrt().item() == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("name", ["rotary", "alibi", "t5", "shaw", "none"])
def test_what_does_not_add_to_the_input_is_left_alone(name):
    assert not isinstance(build(run(name), make_task("order", length=8, symbols=5)).body.encodings[0], Scaled)


def test_the_same_settings_give_the_same_bits():
    first, second = execute(run()), execute(run())
    assert first.metrics == second.metrics
    assert first.history == second.history
    assert execute(run(seed=4)).metrics != first.metrics


def test_a_scrambled_control_meets_the_same_data_in_the_same_order(monkeypatch):
    met = {}
    for control in ("", "scramble"):
        rows = met.setdefault(control, [])
        plain = Order.sample

        def spy(self, count, draw, rows=rows, plain=plain):
            batch = plain(self, count, draw)
            rows.append(batch.inputs)
            return batch

        monkeypatch.setattr(Order, "sample", spy)
        execute(run("sinusoidal", control=control))
        monkeypatch.setattr(Order, "sample", plain)
    assert len(met[""]) == len(met["scramble"])
    assert all(torch.equal(a, b) for a, b in zip(met[""], met["scramble"], strict=True))


def test_scrambled_positions_are_the_same_ones_in_another_order_for_every_row():
    pos = Places(run(control="scramble"), "train")(torch.zeros(50, 8)).pos
    assert torch.equal(pos.sort(-1).values, torch.arange(8).expand(50, 8))
    assert len(pos.unique(dim=0)) > 40


def test_the_best_step_is_chosen_by_validation_alone():
    outcome = execute(run())
    best = max(entry["accuracy"] for entry in outcome.history)
    assert outcome.metrics["validation"] == best
    assert outcome.metrics["best_step"] in [entry["step"] for entry in outcome.history]


def test_a_digest_names_what_determines_a_run_and_nothing_else():
    assert run().digest() == run(name="another name for the row").digest()
    changes = [
        {"seed": 4},
        {"encoding": "alibi"},
        {"control": "scramble"},
        {"control": "alone"},
        {"device": "meta"},
        {"baseline": "token counts"},
        {"match_scale": False},
    ]
    changes += [{"options": {"base": 100.0}}, {"task_options": {"length": 9, "symbols": 5}}]
    assert len({run(**change).digest() for change in changes} | {run().digest()}) == len(changes) + 1
    assert run().code() == run().code() != run("alibi").code()


def test_no_two_markers_leak_the_answer_of_order():
    """Count-matched: tokens without their places say nothing about the label."""
    rows = make_task("order", length=8, symbols=5).sample(4000, torch.Generator().manual_seed(0))
    counts = torch.nn.functional.one_hot(rows.inputs, 5).sum(1)
    assert (counts[:, :2] == 1).all()
    assert abs(rows.target.double().mean() - 0.5) < 0.03


def test_tasks_refuse_options_they_do_not_know():
    assert {"lag", "order"} < set(task_names())
    with pytest.raises(ValueError, match="Did you mean 'length'"):
        make_task("order", lenght=3)
    with pytest.raises(ValueError, match="at least 2"):
        make_task("order", length=1)


def test_a_loss_that_is_not_finite_stops_with_its_step():
    model = torch.nn.Linear(1, 1)
    losses = iter([1.0, 1.0, float("nan")])
    with pytest.raises(FloatingPointError, match="at step 2"):
        train(model, lambda _: model.weight.sum() * 0 + next(losses), steps=5)


def interrupted(settings, folder, monkeypatch, steps):
    """Run until so many steps are done, stop there as a killed process would, and leave the checkpoint."""

    class Killed(BaseException):
        pass

    plain = Running._save

    def save_and_die(self, step, optimiser):
        plain(self, step, optimiser)
        if step >= steps:
            raise Killed

    monkeypatch.setattr(Running, "_save", save_and_die)
    with pytest.raises(Killed):
        execute(settings, folder, rest=0.0)
    monkeypatch.setattr(Running, "_save", plain)


LONG = {"steps": 24, "batch": 4, "validate_every": 4, "validation": 16, "test": 32, "warm_up": 4, "schedule": "cosine"}


@pytest.mark.parametrize("encoding", ["learned", "t5", "rotary"])
@pytest.mark.parametrize("source", ["fresh", "bits", "pool"])
def test_a_run_that_goes_on_from_a_checkpoint_gives_the_same_bits(encoding, source, tmp_path, monkeypatch):
    model = {"dim": 16, "heads": 2, "layers": 1, "ffn": 16, "dropout": 0.2, "dropout_from": source}
    settings = run(encoding, model=model, training=LONG)
    whole = execute(settings)
    interrupted(settings, tmp_path, monkeypatch, steps=12)
    assert (tmp_path / "resume.safetensors").exists()
    met = []
    plain = Running.loss
    monkeypatch.setattr(Running, "loss", lambda self, step: met.append(step) or plain(self, step))
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
    wrong = {"cut": bytes(data[: len(data) // 2]), "flip": bytes(data), "text": b"hello", "empty": b""}[damage]
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
    assert json.loads((tmp_path / "files/metrics.json").read_text())["accuracy"] == outcome.metrics["accuracy"]
    history = list(csv.DictReader((tmp_path / "files/history.csv").open()))
    assert [float(row["accuracy"]) for row in history] == [entry["accuracy"] for entry in outcome.history]
    judged = list(csv.DictReader((tmp_path / "files/scores.csv").open()))
    assert sum(row["target"] == row["answer"] for row in judged) / len(judged) == outcome.metrics["accuracy"]
    best = read_tensors(tmp_path / "files/best.safetensors").tensors
    model = build(settings, make_task("order", length=8, symbols=5))
    model.load_state_dict(best)
    assert (tmp_path / "files/last.safetensors").exists()


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_dropout_by_bits_drops_each_number_by_itself(share):
    drop = BitDropout(share)
    torch.manual_seed(0)
    kept = drop(torch.ones(1000, 1001)) > 0
    assert abs((~kept).double().mean().item() - share) < 0.002
    both = (~kept[:, 1:] & ~kept[:, :-1]).double().mean().item()  # neighbours, which come from one word
    assert abs(both - share**2) < 0.002
    assert not torch.equal(kept, drop(torch.ones(1000, 1001)) > 0)
    x = torch.ones(7, requires_grad=True)
    out = drop(x)
    out.sum().backward()
    assert torch.equal(x.grad, out.detach())
    assert torch.equal(drop.eval()(x), x)


def test_pooled_dropout_drops_the_same_share_and_nothing_in_evaluation():
    drop = PooledDropout(0.3)
    kept = drop(torch.ones(300, 300))
    assert abs((kept == 0).double().mean().item() - 0.3) < 0.01
    assert not torch.equal(kept, drop(torch.ones(300, 300)))
    assert torch.equal(drop.eval()(kept), kept)
    large = PooledDropout(0.5)(torch.ones(POOL + 5))  # more than a pool holds
    assert abs(large.mean().item() - 1) < 0.01


def test_a_token_that_sees_only_itself_is_a_control_without_attention():
    place = Places(run("none", control="alone"), "train")(torch.zeros(3, 8))
    model = build(run("none", control="alone"), make_task("order", length=8, symbols=5))
    tokens = torch.randint(5, (3, 8))
    other = tokens.clone()
    other[:, 4] = (other[:, 4] + 1) % 5
    hidden, changed = (model.body(x, place.pos, mask=place.see) for x in (tokens, other))
    same = (hidden - changed).abs().amax((0, 2)) < 1e-6
    assert same.tolist() == [True] * 4 + [False] + [True] * 3


@pytest.mark.parametrize("name", names())
def test_padding_changes_no_answer(name):
    model = build(run(name, task_options={"length": 8, "symbols": 5, "longer": [12]}), Order(8, 5, (12,))).eval()
    tokens = torch.randint(5, (3, 8))
    padded = torch.cat([tokens, torch.randint(5, (3, 4))], 1)
    real = torch.arange(12).expand(3, 12) < 8
    plain, with_padding = model(tokens, torch.arange(8)), model(padded, torch.arange(12), real)
    assert torch.allclose(plain, with_padding, atol=1e-5)


def test_scrambling_leaves_padding_where_it_is():
    real = torch.tensor([[True] * 5 + [False] * 3, [True, False] * 4])
    pos = Places(run(control="scramble"), "train")(torch.zeros(2, 8), real).pos
    for row, valid in zip(pos, real, strict=True):
        assert sorted(row[valid].tolist()) == torch.arange(8)[valid].tolist()
        assert torch.equal(row[~valid], torch.arange(8)[~valid])


@pytest.mark.parametrize("name", ["slot", "decoy", "order", "parity", "gap"])
def test_the_enumerated_placements_are_what_is_drawn(name):
    """Ceilings rest on them: the same classes with the same odds, and exactly chance without positions."""
    task = make_task(name)
    listed = list(task.placements())
    assert sum(one.probability for one in listed) == pytest.approx(1)
    odds = [sum(one.probability for one in listed if one.label == label) for label in range(task.outputs)]
    assert odds == pytest.approx([task.chance] * task.outputs)
    assert task.ceilings()["without positions"] == task.chance
    known = {(one.marks, one.label) for one in listed}
    rows = task.sample(200, torch.Generator().manual_seed(0))
    tokens = {token for marks, _ in known for token, _ in marks}
    for row, label in zip(rows.inputs.tolist(), rows.target.tolist(), strict=True):
        marks = tuple(sorted((token, place) for place, token in enumerate(row) if token in tokens))
        assert (marks, label) in known


def test_the_buckets_of_a_ceiling_are_those_of_t5():
    relative = torch.arange(-40, 41)
    encoding = make("t5", dim=8, heads=2, length=64)
    theirs = encoding.bucket(relative)
    ours = [bucket(int(distance)) for distance in relative]
    assert len(set(zip(ours, theirs.tolist(), strict=True))) == len(set(ours)) == len(set(theirs.tolist()))


def test_a_score_that_is_no_number_is_a_failure(monkeypatch):
    monkeypatch.setattr(Order, "score", lambda self, output, target: {"accuracy": 0.5, "loss": float("nan")})
    with pytest.raises(FloatingPointError, match="in the end: loss"):
        execute(run())


def test_shared_weights_are_the_same_beside_an_encoding_that_widens_the_input():
    """What joins the encoding to the input is drawn last, so that pairing holds."""
    task = Order(8, 5)
    plain, wide = (build(run("sinusoidal", options=options), task) for options in ({}, {"join": "concat"}))
    shared = {name: value for name, value in wide.state_dict().items() if ".fuse." not in name}
    assert len(shared) < len(wide.state_dict())
    assert all(torch.equal(value, plain.state_dict()[name]) for name, value in shared.items())


class Product(Encoding):
    """Multiplies the input instead of adding to it."""

    def embed(self, x, pos):
        return x * (1 + pos[..., None].to(x.dtype)) + 1


def test_what_does_not_add_is_not_scaled():
    encoding = Product(Shape(8, 2, 16))
    assert matched(encoding, 16) is encoding
    assert isinstance(matched(make("sinusoidal", dim=8, heads=2, length=16), 16), Scaled)


def test_the_peak_of_a_run_does_not_remember_the_run_before():
    if not os.access("/proc/self/clear_refs", os.W_OK):
        pytest.skip("this system cannot start counting anew")
    forget_peak()
    before = peak_megabytes()
    large = torch.ones(60_000_000)
    assert peak_megabytes() > before + 200
    del large
    forget_peak()
    assert peak_megabytes() < before + 100


def test_every_file_that_a_run_imports_is_part_of_its_code(tmp_path):
    """A change in any of them makes old runs strangers; what only looks at runs is left out."""
    script = (
        "import sys\nfrom locant.training.config import RunConfig\nfrom locant.training.evaluate import execute\n"
        "execute(RunConfig(task='order', task_options={'length': 6, 'symbols': 5}, name='t5', encoding='t5', seed=0,"
        " training={'steps': 2, 'validation': 4, 'test': 4}))\n"
        "print(*[m.__file__ for n, m in sys.modules.items() if n.startswith('locant.')], sep='\\n')"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    used = {Path(line) for line in said.splitlines() if not line.endswith("__init__.py")}
    hashed = set(run("t5").files())
    assert {path.stem for path in used - hashed} <= {"errors", "none"}  # sentences, and what does nothing


def test_the_cost_of_a_step_is_its_work_not_what_the_machine_does_meanwhile(monkeypatch):
    execute(run())  # what is loaded at first use is loaded now
    plain = Order.batch
    monkeypatch.setattr(Order, "batch", lambda self, *args: (time.sleep(0.1), plain(self, *args))[1])
    assert execute(run()).cost["seconds_a_step"] < 0.1
