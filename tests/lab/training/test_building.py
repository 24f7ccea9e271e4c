"""The model of a run: paired weights, matched sizes, positions and controls."""

from __future__ import annotations

import pytest
import torch
from common_runs import run

from locant.encodings.base import Encoding
from locant.encodings.registry import make, names
from locant.lab.tasks.base import make_task
from locant.lab.tasks.order import Order
from locant.lab.training.build import Scaled, build, matched
from locant.lab.training.evaluate import execute
from locant.lab.training.position_policy import PositionPolicy
from locant.shapes import Shape


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
    assert not isinstance(
        build(run(name), make_task("order", length=8, symbols=5)).body.encodings[0], Scaled
    )


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
    pos = PositionPolicy(run(control="scramble"), "train")(torch.zeros(50, 8)).pos
    assert torch.equal(pos.sort(-1).values, torch.arange(8).expand(50, 8))
    assert len(pos.unique(dim=0)) > 40


def test_a_token_that_sees_only_itself_is_a_control_without_attention():
    positions = PositionPolicy(run("none", control="alone"), "train")(torch.zeros(3, 8))
    model = build(run("none", control="alone"), make_task("order", length=8, symbols=5))
    tokens = torch.randint(5, (3, 8))
    other = tokens.clone()
    other[:, 4] = (other[:, 4] + 1) % 5
    hidden, changed = (
        model.body(x, positions.pos, mask=positions.attn_mask) for x in (tokens, other)
    )
    same = (hidden - changed).abs().amax((0, 2)) < 1e-6
    assert same.tolist() == [True] * 4 + [False] + [True] * 3


@pytest.mark.parametrize("name", names())
def test_padding_changes_no_answer(name):
    model = build(
        run(name, task_options={"length": 8, "symbols": 5, "longer": [12]}), Order(8, 5, (12,))
    ).eval()
    tokens = torch.randint(5, (3, 8))
    padded = torch.cat([tokens, torch.randint(5, (3, 4))], 1)
    padding_mask = torch.arange(12).expand(3, 12) < 8
    plain, with_padding = (
        model(tokens, torch.arange(8)),
        model(padded, torch.arange(12), padding_mask),
    )
    assert torch.allclose(plain, with_padding, atol=1e-5)


def test_scrambling_leaves_padding_where_it_is():
    padding_mask = torch.tensor([[True] * 5 + [False] * 3, [True, False] * 4])
    pos = PositionPolicy(run(control="scramble"), "train")(torch.zeros(2, 8), padding_mask).pos
    for row, valid in zip(pos, padding_mask, strict=True):
        assert sorted(row[valid].tolist()) == torch.arange(8)[valid].tolist()
        assert torch.equal(row[~valid], torch.arange(8)[~valid])


def test_shared_weights_are_the_same_beside_an_encoding_that_widens_the_input():
    """What joins the encoding to the input is drawn last, so that pairing holds."""
    task = Order(8, 5)
    plain, wide = (
        build(run("sinusoidal", options=options), task) for options in ({}, {"join": "concat"})
    )
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


SMALL = {"dim": 16, "heads": 2, "layers": 2, "ffn": 24}


def test_xavier_draws_projections_by_their_own_width_and_the_head_and_leaves_the_rest():
    task = Order(8, 5)
    plain, drawn = (
        build(run("none", model={**SMALL, "initialisation": kind}), task).state_dict()
        for kind in ("torch", "xavier")
    )
    changed = {name for name in plain if not torch.equal(plain[name], drawn[name])}
    assert {name.split(".")[-2] for name in changed} == {"qkv", "out", "head"}
    assert all(not drawn[name].any() for name in changed if name.endswith("bias"))
    for name in changed:
        if name.endswith("weight"):
            for matrix in drawn[name].chunk(3 if "qkv" in name else 1):
                bound = (6 / sum(matrix.shape)) ** 0.5
                assert 0.9 * bound < matrix.abs().max() <= bound, name


def test_xavier_weights_are_the_same_beside_an_encoding_that_widens_the_input():
    model = {**SMALL, "initialisation": "xavier"}
    plain, wide = (
        build(run("sinusoidal", options=options, model=model), Order(8, 5)).state_dict()
        for options in ({}, {"join": "concat"})
    )
    assert all(torch.equal(value, wide[name]) for name, value in plain.items())


@pytest.mark.parametrize(
    ("name", "drops"),
    [("sinusoidal", True), ("learned", True), ("relative", False), ("none", False)],
)
def test_the_input_can_be_dropped_only_where_the_encoding_adds_to_it(name, drops):
    for kind, expected in (("always", True), ("if added", drops)):
        model = build(
            run(name, model={**SMALL, "dropout": 0.5, "input_dropout": kind}), Order(8, 5)
        ).train()
        tokens = torch.zeros(1, 8, dtype=torch.long)
        entered, _ = model.body._start(tokens, torch.arange(8), None)
        assert bool((entered == 0).any()) == expected
        assert model.body.layers[0].dropout.p == 0.5
