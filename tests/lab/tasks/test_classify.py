"""Real series with classes: read as written, split without overlap, scored by the test part."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from common_ts import write_ts

from locant.lab.study_files import read_study
from locant.lab.tasks import TS_FOLDER, _ts_files
from locant.lab.tasks.base import FileBackedTask, identified, make_task
from locant.lab.tasks.classify import answers
from locant.lab.training.evaluate import execute


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(TS_FOLDER, str(write_ts(tmp_path / "ts")))
    return tmp_path / "ts"


def test_a_file_is_read_as_it_is_written(folder):
    task = make_task("classify")
    lines = (folder / "ItalyPowerDemand" / "ItalyPowerDemand_TEST.ts").read_text().splitlines()[4:]
    assert task.data.test.values.shape == (30, 12, 1)
    for line, series, label in zip(
        lines, task.data.test.values, task.data.test.labels, strict=True
    ):
        numbers, name = line.split(":")
        assert series[:, 0].tolist() == pytest.approx([float(one) for one in numbers.split(",")])
        assert task.data.classes[label] == name
    assert (task.length, task.features, task.outputs, task.chance) == (12, 1, 2, 0.5)


def test_series_of_several_lengths_and_channels_are_masked(folder):
    write_ts(folder, "Vowels", channels=3, lengths=(4, 7))
    task = make_task("classify", dataset="Vowels")
    rows = task.batch(8, 0, 0)
    assert rows.inputs.shape == (8, 7, 3)
    assert set(rows.padding_mask.sum(1).tolist()) == {4, 7}
    assert (rows.inputs[~rows.padding_mask] == 0).all()
    output = torch.randn(8, 7, 2)
    for number in range(8):
        steps = int(rows.padding_mask[number].sum())
        mean = output[number, :steps].mean(0)
        assert torch.allclose(answers(output, rows.target)[number], mean, atol=1e-6)


def test_no_series_trains_and_selects_and_each_seed_splits_anew(folder):
    task = make_task("classify")
    trained, held = task.split(3)
    assert sorted([*trained, *held]) == list(range(24))
    assert len(held) == 6
    assert (task.split(3)[0] == trained).all()
    assert (task.split(4)[1] != held).any()
    known = {tuple(row) for row in task.data.train.values[trained, :, 0].round(5).tolist()}
    mean, spread = task.data.train.values.mean(), task.data.train.values.std()
    for row in task.batch(40, 3, 0).inputs[..., 0] * spread + mean:
        assert any(np.allclose(row, one, atol=1e-4) for one in known)


def test_only_order_tells_these_classes_so_quantiles_do_not(folder):
    task = make_task("classify")
    assert task.baseline("quantiles", 0, 0)["accuracy"] < 0.8
    assert task.baseline("1-nearest neighbor", 0, 0)["accuracy"] > 0.95
    assert task.baseline("random convolutions", 0, 0)["accuracy"] > 0.95

    def rises(inputs, padding_mask, times=None):
        up = (inputs[:, -1, 0] > inputs[:, 0, 0]).long()
        both = torch.stack([1.0 - up, up.float()], 1)  # the classes are sorted: down, up
        return both[:, None].expand(-1, inputs.shape[1], -1)

    assert task.test(rises, 0, 0).scores == {"accuracy": 1.0}


def test_what_the_files_hold_is_part_of_a_run(folder):
    task = make_task("classify")
    assert isinstance(task, FileBackedTask)
    bound = identified("classify", {})
    assert bound["digest"] == task.current_digest()
    make_task("classify", **bound)
    with pytest.raises(ValueError, match="does not hold what it held"):
        make_task("classify", digest="other")


def test_missing_data_are_named_with_what_to_do(folder, monkeypatch):
    with pytest.raises(ValueError, match="Data sets there: ItalyPowerDemand"):
        make_task("classify", dataset="GunPoint").current_digest()
    monkeypatch.delenv(TS_FOLDER)
    monkeypatch.setattr(_ts_files.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="Install aeon, or set"):
        make_task("classify").current_digest()


def test_broken_files_are_refused(folder):
    path = folder / "ItalyPowerDemand" / "ItalyPowerDemand_TRAIN.ts"
    path.write_text("@problemName x\n1,2:up\n")
    _ts_files._read_data_set.cache_clear()
    with pytest.raises(ValueError, match="no line @data"):
        make_task("classify").current_digest()
    path.write_text("@data\n1,two:up\n")
    with pytest.raises(ValueError, match="line 2"):
        make_task("classify").current_digest()


def test_a_run_ends_in_a_score(folder):
    study = read_study("classify", quick=True, changes={"training.steps": 3})
    result = execute(study.run(study.rows()[-1 - len(study.baselines)], 0))
    assert 0 <= result.metrics["accuracy"] <= 1
    assert "loss" in result.history[0]
