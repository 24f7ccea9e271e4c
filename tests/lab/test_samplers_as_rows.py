"""`rotary+randomized` in study files, on the command line, and in a run."""

from __future__ import annotations

import pytest

from locant.lab.binding import check_study
from locant.lab.study_files import read_study
from locant.lab.training.evaluate import execute

SMALL = {
    "model.dim": 16,
    "model.heads": 2,
    "model.layers": 1,
    "model.ffn": 16,
    "training.steps": 4,
    "training.validate_every": 4,
    "training.validation": 8,
    "training.test": 8,
    "task_options.length": 8,
    "task_options.longer": [16],
    "task_options.back": 2,
}


def test_a_name_with_a_sampler_is_an_entrant_at_random_positions():
    study = read_study("lag", changes={"encodings": ["RoPE+randomized", "t5+skips"]})
    first, second = study.encodings
    assert (first.name, first.encoding, first.positions) == (
        "rotary+randomized",
        "rotary",
        "randomized",
    )
    run = study.run(first, 0)
    assert (run.positions, run.task_options["sampler"]) == ("times", "randomized")
    assert study.run(second, 0).task_options["sampler"] == "skips"
    assert "sampler" not in study.run(study.rows()[0], 0).task_options


def test_a_task_without_random_positions_refuses_them():
    study = read_study("order", changes={"encodings": ["rotary+randomized"]})
    with pytest.raises(ValueError, match=r"task order draws none(.|\n)*lag"):
        check_study(study)


def test_random_positions_are_what_the_model_is_given():
    study = read_study("lag", changes={**SMALL, "encodings": ["rotary", "rotary+randomized"]})
    check_study(study)
    plain, drawn = [execute(study.run(row, 0)) for row in study.encodings]
    assert plain.metrics["accuracy at 16"] >= 0
    assert plain.history[0]["train_loss"] != drawn.history[0]["train_loss"]
    again = execute(study.run(study.encodings[1], 0))
    assert again.metrics == drawn.metrics
