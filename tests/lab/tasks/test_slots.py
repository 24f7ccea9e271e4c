"""Study B as published: its rows, its files, and what its positions are worth."""

from __future__ import annotations

import csv
import subprocess

import pytest
import torch
from common_lab import LOCANT

from locant.lab.study_files import read_study
from locant.lab.tasks.slots_faithful import PATTERNS, SIZES, SlotsFaithful, draw_rows
from locant.lab.training.build import build


def test_every_row_holds_its_own_pattern_and_no_other():
    rows = draw_rows(SIZES["train"], "train")
    for label, pattern in enumerate(PATTERNS):
        holds = torch.stack([rows.inputs[:, pos] == token for pos, token in pattern]).all(0)
        assert torch.equal(holds, rows.target == label)
    assert rows.target.bincount().tolist() == [1667, 1667, 1666]
    assert draw_rows(SIZES["validation"], "validation").target.bincount().tolist() == [
        334,
        334,
        332,
    ]


@pytest.mark.parametrize(
    ("purpose", "label", "row"),
    [
        (
            "train",
            1,
            "12 12 17 16 0 3 10 18 12 15 9 14 11 7 0 7 4 0 11 3 14 8 9 12 9 9 13 18 18 0 7 16",
        ),
        (
            "demo",
            0,
            "18 3 5 5 17 18 11 8 19 19 7 13 2 0 18 1 2 16 17 17 15 17 10 17 6 8 17 14 17 4 10 2",
        ),
    ],
)
def test_the_first_row_is_that_of_the_published_file(purpose, label, row):
    rows = draw_rows(SIZES[purpose], purpose)
    assert (int(rows.target[0]), rows.inputs[0].tolist()) == (
        label,
        [int(token) for token in row.split()],
    )


def test_the_published_model_starts_as_its_authors_start_it():
    study = read_study("slots-faithful")
    rows = {row.name: row for row in study.rows()}
    model = build(study.run(rows["continuous"], 42), SlotsFaithful()).train()
    bound = (6 / 256) ** 0.5
    assert all(
        0.99 * bound < part.abs().max() <= bound
        for part in model.body.layers[0].attention.qkv.weight.chunk(3)
    )
    assert model.body.layers[0].network[0].weight.abs().max() <= 128**-0.5  # torch's own
    assert model.body.embed.weight.std().item() == pytest.approx(0.02, rel=0.05)
    (network,) = model.body.encodings
    added = network.embed(torch.zeros(1, 32, 128), torch.arange(32))
    assert 1e-4 < added.square().mean().sqrt() < 1e-3  # a sixtieth of a token
    assert [
        build(study.run(rows[name], 42), SlotsFaithful()).body.dropout.p
        for name in ("none", "relative")
    ] == [0, 0]


def test_data_sets_are_different_rows_of_the_published_sizes():
    sets = {name: draw_rows(count, name).inputs for name, count in SIZES.items()}
    assert {name: len(rows) for name, rows in sets.items()} == {
        "train": 5000,
        "validation": 1000,
        "demo": 100,
    }
    assert len(torch.cat(list(sets.values())).unique(dim=0)) == 6100


def test_without_positions_two_thirds_are_possible_and_least_squares_solves_it_with_them():
    task = SlotsFaithful()
    assert 0.67 < task.ceilings()["without positions"] < 0.71
    assert 0.6 < task.baseline("token counts", 1, 0)["accuracy"] < 0.7
    assert task.baseline("token × place", 1, 0)["accuracy"] > 0.99


def test_an_epoch_shows_every_row_once():
    task = SlotsFaithful()
    rows = torch.cat([task.batch(32, 7, step).inputs for step in range(157)])
    assert len(rows) == 5000
    assert torch.equal(rows.unique(dim=0), draw_rows(5000, "train").inputs.unique(dim=0))


def test_the_data_are_written_as_tables_and_read_back(tmp_path):
    done = subprocess.run(
        [LOCANT, "data", "slots", "--out", "here"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "5,000 rows" in done.stdout
    for name, count in SIZES.items():
        with (tmp_path / "here" / f"{name}.csv").open(newline="") as file:
            header, *lines = csv.reader(file)
        assert header == [*(f"place_{pos}" for pos in range(32)), "label"]
        table = torch.tensor([[int(cell) for cell in line] for line in lines])
        assert torch.equal(table[:, :-1], draw_rows(count, name).inputs)
        assert torch.equal(table[:, -1], draw_rows(count, name).target)


def test_a_data_set_that_does_not_exist_is_told(tmp_path):
    done = subprocess.run([LOCANT, "data", "slotz"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert "slots" in done.stderr
