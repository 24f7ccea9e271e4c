"""Event files, read by TensorBoard itself."""

from __future__ import annotations

import math

import pytest
from scripted import compute, keep_study
from tensorboard.backend.event_processing.event_multiplexer import EventMultiplexer

from locant.cli.app import app
from locant.lab.report.tensorboard import write_events
from locant.lab.store.record import EntrantRecord, StudyRecord, read_record
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study import Study
from locant.lab.training.run_result import RunResult


def opened(folder):
    """What TensorBoard sees in a folder: by run, by tag, pairs of step and value."""
    seen = EventMultiplexer().AddRunsFromDirectory(str(folder)).Reload()
    return {
        run: {
            tag: [(event.step, event.value) for event in seen.Scalars(run, tag)]
            for tag in tags["scalars"]
        }
        for run, tags in seen.Runs().items()
    }


TINY = Study(name="tiny", title="tiny", task="order", encodings=[])
TASK = TaskFacts("accuracy", True, "loss", False, chance=0.5, threshold=0.9)


def written(folder, history, **metrics):
    lists = {name: [value] for name, value in metrics.items()}
    row = EntrantRecord("rotary", "rotary", {}, lists, seeds=[7], histories=[history])
    write_events(StudyRecord("tiny-1", TINY, TASK, "", [row], finished=1.5e9), folder)
    return opened(folder)["rotary/seed_7"]


def test_every_run_of_a_study_is_there_with_its_history_and_its_end(tmp_path):
    record = read_record(keep_study(tmp_path / "runs.sqlite"))
    words = [
        "report",
        "--store",
        str(tmp_path / "runs.sqlite"),
        "--tensorboard",
        str(tmp_path / "curves"),
    ]
    app(words, standalone_mode=False)
    seen = opened(tmp_path / "curves")
    assert set(seen) == {f"{row.name}/seed_{seed}" for row in record.entrants for seed in (0, 1)}
    for row in record.entrants:
        for seed in (0, 1):
            tags = seen[f"{row.name}/seed_{seed}"]
            assert tags.keys() == {
                "history/accuracy",
                "history/train_loss",
                "final/accuracy",
                "final/validation",
            }
            for name in ("accuracy", "train_loss"):
                told = [
                    (entry["step"], pytest.approx(entry[name], rel=1e-6))
                    for entry in row.histories[seed]
                ]
                assert tags[f"history/{name}"] == told
            assert tags["final/accuracy"] == [
                (12, pytest.approx(row.metrics["accuracy"][seed], rel=1e-6))
            ]


def test_a_run_that_failed_leaves_the_others_their_seeds(tmp_path):
    def engine(runs):
        for run, done in zip(runs, compute(runs), strict=True):
            failed = RunResult.failed(run, "FloatingPointError: the loss is nan at step 3")
            yield done if run.seed else failed

    keep_study(tmp_path / "runs.sqlite", engine)
    write_events(read_record(keep_study(tmp_path / "runs.sqlite", engine)), tmp_path / "curves")
    assert set(opened(tmp_path / "curves")) == {
        f"{name}/seed_1" for name in ("none", "scrambled", "rotary", "t5")
    }


def test_long_studies_large_numbers_and_no_numbers_survive(tmp_path):
    history = [{"step": step, "loss": 1 / step} for step in (1, 127, 128, 16384, 3_000_000_000)]
    tags = written(tmp_path / "long", history, big=1e300, less=-1e300, none=math.nan, tiny=-1e-40)
    assert [step for step, _ in tags["history/loss"]] == [1, 127, 128, 16384, 3_000_000_000]
    assert tags["final/big"] == [(3_000_000_000, math.inf)]
    assert tags["final/less"][0][1] == -math.inf
    assert math.isnan(tags["final/none"][0][1])
    many = [
        {"step": step, "ℓ" * 100: float(step)} for step in range(1, 500)
    ]  # names and records beyond 127 bytes
    assert written(tmp_path / "many", many)["history/" + "ℓ" * 100] == [
        (step, step) for step in range(1, 500)
    ]
    assert written(tmp_path / "none", [], accuracy=0.5) == {"final/accuracy": [(0, 0.5)]}


def test_a_second_export_replaces_the_first_byte_for_byte(tmp_path):
    written(tmp_path, [{"step": 1, "loss": 2.0}], accuracy=0.5)
    (file,) = tmp_path.rglob("*tfevents*")
    before = file.read_bytes()
    written(tmp_path, [{"step": 1, "loss": 2.0}], accuracy=0.5)
    assert [path.read_bytes() for path in tmp_path.rglob("*tfevents*")] == [before]


@pytest.mark.parametrize("names", [("a/b", "a_b"), ("..", "."), ("", "%"), ("größe", "GRÖßE")])
def test_rows_of_any_name_stay_apart_and_inside_the_folder(tmp_path, names):
    rows = [
        EntrantRecord(name, "rotary", {}, {"accuracy": [0.5]}, seeds=[0], histories=[[]])
        for name in names
    ]
    write_events(StudyRecord("tiny-1", TINY, TASK, "", rows), tmp_path / "deep" / "curves")
    assert len(opened(tmp_path / "deep" / "curves")) == 2
    assert len(list(tmp_path.rglob("*tfevents*"))) == 2
    assert len(list((tmp_path / "deep" / "curves").glob("*/seed_0/*tfevents*"))) == 2
