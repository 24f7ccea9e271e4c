"""The laboratory on a user's own files: series and texts, what is refused, and what is
recommended."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest
import torch
from common_lab import LOCANT

from locant.cli.app import app
from locant.lab.engine.driver import Driver
from locant.lab.report.conclusion import recommend
from locant.lab.report.study_page import markdown
from locant.lab.store.record import read_record
from locant.lab.store.store import Store
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study_files import read_study
from locant.lab.tasks._own_data import STANDARD_LIBRARY, read_text
from locant.lab.tasks.base import identified, make_task
from locant.lab.training.run_result import RunResult

SMALL = [
    "--encodings",
    "rotary",
    "--seeds",
    "2",
    "--set",
    "search=false",
    "--set",
    "training.steps=4",
]
SMALL += [
    "--set",
    "training.validate_every=2",
    "--set",
    "training.test=8",
    "--set",
    "training.validation=4",
]


@pytest.fixture
def series(tmp_path):
    """A season of 12 steps with noise, and a second column that is random."""
    draw, steps = np.random.default_rng(0), np.arange(400)
    values = np.stack(
        [np.sin(steps * 2 * np.pi / 12) + draw.normal(0, 0.05, 400), draw.normal(0, 1, 400)], 1
    )
    path = tmp_path / "mine.csv"
    path.write_text("load,noise\n" + "\n".join(f"{a},{b}" for a, b in values))
    return path


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes(b"the cat sat on the mat. " * 200)
    return path


def test_parts_follow_each_other_and_their_units_are_the_first_one_s(series):
    task = make_task("own-masked", path=str(series), length=24)
    train, validation, test = task._parts()
    assert (len(train), len(validation), len(test)) == (240, 80, 80)
    assert np.allclose(train.mean(0), 0, atol=1e-6)
    assert np.allclose(train.std(0), 1, atol=1e-6)
    raw = np.loadtxt(series, delimiter=",", skiprows=1)
    whole = np.concatenate([train, validation, test])
    assert np.allclose(whole, (raw - raw[:240].mean(0)) / raw[:240].std(0), atol=1e-5)


def test_what_is_hidden_is_not_shown_and_only_that_is_asked(series):
    task = make_task("own-masked", path=str(series), length=24)
    rows = task.batch(5, seed=1, step=2)
    hidden = rows.target[..., -1] > 0
    assert torch.equal(hidden, rows.inputs[..., -1] > 0)
    assert hidden.sum(1).tolist() == [6] * 5
    assert (rows.inputs[..., :-1][hidden] == 0).all()
    assert torch.equal(rows.inputs[..., :-1][~hidden], rows.target[..., :-1][~hidden])
    right = rows.target[..., :-1].clone()
    assert task.loss(right, rows.target) == 0
    right[~hidden] += 5  # not asked
    assert task.loss(right, rows.target) == 0
    right[hidden] += 2
    assert task.loss(right, rows.target) == pytest.approx(4)


def test_a_forecast_never_sees_what_it_is_asked(series):
    task = make_task("own-forecast", path=str(series), length=24)
    rows = task.batch(5, seed=1, step=2)
    assert torch.equal(
        rows.inputs[:, 1:], rows.target[:, :-1, :-1]
    )  # the answer of a step is the next step's input
    assert rows.target[..., -1].sum(1).tolist() == [12.0] * 5
    assert task.causal


def test_plain_methods_do_what_they_say(series):
    task = make_task("own-forecast", path=str(series), columns=["noise"], length=24)
    errors = {name: task.baseline(name, 100, 0)["error"] for name in task.baselines}
    assert errors["mean"] == pytest.approx(1, abs=0.4)
    assert errors["last value"] == pytest.approx(
        2 * errors["mean"], rel=0.3
    )  # two independent numbers
    assert errors["straight on"] == pytest.approx(6 * errors["mean"], rel=0.3)  # 2² + 1² + 1²
    seasonal = make_task("own-masked", path=str(series), columns=["load"], length=24)
    assert (
        seasonal.baseline("straight line", 100, 0)["error"]
        < 0.2
        < seasonal.baseline("mean", 100, 0)["error"]
    )


def test_bits_of_plain_methods_are_those_of_the_counts(text):
    task = make_task("own-text", path=str(text), length=32, longer=[])
    single, pairs = (task.baseline(name, 50, 0)["bits a byte"] for name in task.baselines)
    counts = np.bincount(np.frombuffer(text.read_bytes(), np.uint8)) / 4800
    assert single == pytest.approx(
        -(counts[counts > 0] * np.log2(counts[counts > 0])).sum(), abs=0.1
    )
    assert pairs < single / 2


def test_a_model_s_bits_are_measured_beyond_the_trained_length(text):
    task = make_task("own-text", path=str(text), length=32, longer=[64])

    def even(
        inputs, padding_mask
    ):  # all bytes alike, but certain of the right one up to the trained length
        output = torch.zeros(*inputs.shape, 256)
        for row, line in enumerate(inputs):
            for pos in range(min(31, len(line) - 1)):
                output[row, pos, line[pos + 1]] = 50.0
        return output

    scores = task.test(even, 10, 0).scores
    assert scores["bits a byte at 64"] == pytest.approx(8)
    assert scores["bits a byte"] < 1


def test_of_a_folder_every_file_belongs_to_one_part(tmp_path):
    for number in range(60):
        (tmp_path / f"{number}.txt").write_bytes(bytes([65 + number]) * 200)
    (tmp_path / "picture.bin").write_bytes(b"\0" * 500)
    task = make_task("own-text", path=str(tmp_path), length=32, longer=[])
    parts = [set(part.tolist()) for part in read_text(str(tmp_path))[:3]]
    assert sum(len(part) for part in parts) == 60  # no byte, so no file, in two parts
    assert set.union(*parts) == set(range(65, 125))
    assert task.max_length == 32


def test_other_data_are_another_task(text):
    before = identified("own-text", {"path": str(text), "length": 32, "longer": []})
    make_task("own-text", **before)
    text.write_bytes(b"another text altogether, " * 200)
    read_text.cache_clear()
    assert (
        identified("own-text", {"path": str(text), "length": 32, "longer": []})["digest"]
        != before["digest"]
    )
    with pytest.raises(ValueError, match="does not hold what it held"):
        make_task("own-text", **before)


def test_the_standard_library_is_a_text_that_is_always_there():
    task = make_task("own-text", path=STANDARD_LIBRARY)
    batch = task.batch(4, seed=0, step=0)
    assert batch.inputs.shape == (4, 128)
    assert bytes(task.batch(64, 0, 1).inputs.flatten().tolist()).count(b"self") > 0
    assert read_study("byte-lm").task_options["path"] == STANDARD_LIBRARY


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["masked", "forecast", "text"])
def test_a_file_is_compared_from_the_command_line(series, text, tmp_path, objective):
    path = text if objective == "text" else series
    words = [
        LOCANT,
        "compare",
        "--data",
        path,
        "--objective",
        objective,
        "--train-length",
        "24",
        *SMALL,
    ]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "2 seeds are too few to recommend an encoding" in done.stdout
    if objective != "text":
        assert "400" in done.stderr  # what was understood of the file
    told = subprocess.run(
        [LOCANT, "report", "--json"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert {"none", "scrambled", "rotary"} <= {
        row["name"] for row in json.loads(told.stdout)["table"]
    }
    again = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert again.returncode == 0


def kept(tmp_path, path, score, seeds=10):
    study = read_study(
        "own-masked",
        changes={
            "task_options.path": str(path),
            "task_options.length": 24,
            "search": False,
            "seeds": seeds,
        },
    )
    store = Store(tmp_path / "runs.sqlite")

    def compute(runs):
        for run in runs:
            speed = {"rotary": 0.01, "alibi": 0.02}.get(run.name, 0.03)
            cost = {
                "seconds_a_step": speed,
                "positional_parameters": 7.0,
                "parameters": 9.0,
                "peak_megabytes": 1.0,
            }
            value = score(run.name) + 0.001 * ((7 * run.seed + len(run.name)) % 5)
            cost = {} if run.baseline else cost
            yield RunResult.done(run, {"error": value, "validation": value}, [], cost)

    which = Driver(study, store, compute).finish(
        TaskFacts.of(make_task(study.task, **study.task_options)), "t"
    )
    return read_record(store, which)


def test_the_first_is_recommended_and_who_cannot_be_distinguished_from_it_is_named(
    tmp_path, series
):
    record = kept(tmp_path, series, lambda name: 0.1 if name in ("rotary", "alibi") else 0.5)
    said = recommend(record).lines
    assert said[0].startswith(
        "Take rotary: it comes first (.10), but cannot be distinguished from alibi."
    )
    assert "adds 7 learned parameters" in said[1]
    assert "0.33 times as long" in said[1]
    assert "-.40" in said[1]
    assert 'encoding = locant.make("rotary", dim=64, heads=4, length=24)' in recommend(record).code
    assert "```python\nimport locant\n" in markdown(record)


def test_where_nothing_helps_none_is_recommended(tmp_path, series):
    record = kept(tmp_path, series, lambda name: 0.5)
    assert recommend(record).lines[0].startswith("Take none: the best encoding, ")
    assert "which need no training: " in recommend(record).lines[1]
    assert 'make("none"' in "".join(recommend(record).code)


def test_few_seeds_recommend_nothing_and_studies_of_made_up_data_never_do(tmp_path, series):
    record = kept(tmp_path, series, lambda name: 0.1 if name == "rotary" else 0.5, seeds=3)
    assert recommend(record).lines == [
        "3 seeds are too few to recommend an encoding. Run at least 10."
    ]
    assert not recommend(record).code
    record.settings = record.settings.model_copy(update={"recommends": False})
    assert recommend(record).lines == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--data", "nowhere.csv"], "there is no file nowhere.csv. Did you mean 'mine.csv'"),
        (["order", "--data", "mine.csv"], "leave out 'order'"),
        (["--data", "mine.csv", "--objective", "guess"], "masked"),
        (
            ["--data", "mine.csv", "--train-length", "200"],
            "400 rows. Windows of 200 need at least 1005",
        ),
        (["--data", "mine.csv", "--test-lengths", "300"], "test lengths are for text"),
        (["--data", "mine.csv", "--columns", "nothing"], "nothing"),
        (["--data", "mine.txt", "--time", "when"], "time is for series"),
        (["--data", "mine.txt", "--test-lengths", "many"], "needs whole numbers with commas"),
        (["--data", "mine.txt", "--train-length", "600"], "the smallest part"),
        (["--data", "mine.txt", "--train-length", "64", "--test-lengths", "32"], "longer"),
        (["--data", "flat.csv", "--train-length", "24"], "flat.csv"),
        (["--data", "empty.txt"], "the smallest part"),
        (["own-masked"], "--data"),
    ],
)
def test_what_cannot_be_compared_is_told_before_anything_trains(
    series, text, tmp_path, words, said, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flat.csv").write_text("load\n" + "1\n" * 300)
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(SystemExit) as end:
        app(["compare", *words])
    told = capsys.readouterr().err
    assert end.value.code == 2, told
    assert "locant: " in told
    assert said in told
    assert not (tmp_path / "locant-results").exists()
