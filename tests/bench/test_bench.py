"""`locant bench`: ratios that mean something or are not told, one JSON, what cannot be done is told
first."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import locant
from locant.bench import biases, ratio
from locant.bench.alone import added_megabytes, alone
from locant.bench.ratio import MIN_TURNS, Ratio, ratios, turns
from locant.bench.result_table import Cost, Table
from locant.cli.app import app
from locant.encodings.registry import describe
from locant.figures.plots import growth
from locant.figures.plots.saving import save

TABLE = Table(
    "t",
    "A title",
    ["× plain", "note"],
    [("ours", [Cost(Ratio(1.2, 0.01), 3.0), "x"]), ("noisy", [Ratio(2.0, 0.3), ""])],
)


def test_work_is_a_multiple_of_its_base_and_the_base_of_itself(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(ratio, "time", SimpleNamespace(perf_counter=lambda: clock[0]))

    def taking(seconds):
        return lambda: clock.__setitem__(0, clock[0] + seconds)

    found = ratios({"base": taking(0.25), "twice": taking(0.5)}, "base", seconds=9.0)
    assert found == {"base": Ratio(1.0, 0.0), "twice": Ratio(2.0, 0.0)}
    assert clock[0] == 0.75 * (2 + 12)


def test_work_is_done_by_turns():
    order = []
    work = {name: (lambda name=name: order.append(name)) for name in "ab"}
    turns(work, seconds=0.0, warm=1)
    assert order == ["a", "b"] * (1 + MIN_TURNS)


def test_of_few_turns_no_spread_is_told():
    few = ratio.summarize([1.0, 3.0])
    assert str(few) == "2.00 (few turns)"
    assert few.plain() == {"ratio": 2.0, "spread": None}


def test_a_ratio_that_varies_too_much_is_not_told():
    plain = TABLE.plain()["rows"]
    assert plain[0]["× plain"] == {"ratio": 1.2, "spread": 0.01, "megabytes": 3.0}
    assert plain[1]["× plain"] == {"ratio": None, "spread": 0.3}
    assert TABLE.as_text()[1] == ["noisy", "too noisy (± 30 %)", ""]


def _threads_and_number():
    import torch

    return torch.get_num_threads(), os.getpid()


def _fail():
    raise RuntimeError("no such kernel")


def _die():
    os._exit(1)


def test_a_measurement_has_a_process_and_threads_of_its_own():
    threads, process = alone(_threads_and_number, 1)
    assert threads == 1
    assert process != os.getpid()


@pytest.mark.parametrize(("work", "says"), [(_fail, "no such kernel"), (_die, "its process died")])
def test_a_measurement_that_fails_is_told_in_a_sentence(work, says):
    with pytest.raises(ValueError, match=says):
        alone(work, 1)


def _adds_forty():
    import torch

    return added_megabytes(lambda: torch.ones(10 * 2**20).sum().item())


def test_what_a_call_adds_at_its_peak_is_counted():
    assert 35 < alone(_adds_forty, 1) < 80


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["rotations"], "rotation"),
        (["--threads", "-1"], "--threads -1"),
        (["rotation", "--out", "x.png"], "biases"),
        (["biases", "--out", "x.gif"], "png"),
        (["biases", "--picture", "nowhere/x.png"], "no folder"),
        (["biases", "--picture", "nowhere/x.png"], "--picture is now spelled --out"),
        (["biases", "--out", "nowhere/x.png"], "no folder"),
    ],
)
def test_what_cannot_be_done_is_told_before_anything_is_measured(given, says):
    result = CliRunner().invoke(app, ["bench", *given])
    assert result.exit_code == 2
    assert says in result.output


@pytest.mark.slow
def test_every_part_measures_something_and_json_holds_it_all(tmp_path):
    given = [
        "bench",
        "--quick",
        "--json",
        "--threads",
        "1",
        "--out",
        str(tmp_path / "growth.png"),
    ]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["quick"]
    assert told["about"]["threads"] == 1
    assert [table["table"] for table in told["tables"]] == [
        "rotation-128",
        "biases",
        "memory",
        "packed",
        "decoding",
        "step",
        "training",
        "sweep",
        "engine",
        "t5",
    ]
    assert all(table["rows"] for table in told["tables"])
    assert (tmp_path / "growth.png").stat().st_size > 10_000


def test_growth_is_drawn_by_length(tmp_path):
    series = {
        "plain, causal": [(512, 0.1, 10.0), (1024, 0.4, 20.0)],
        "t5, causal": [(512, 0.1, 0.0), (1024, 0.5, 25.0)],
    }
    axes = growth.draw(series, title="by length")
    assert [line.get_label() for line in axes[0].lines[:2]] == list(series)
    assert list(axes[1].lines[1].get_ydata()) == [
        1.0,
        25.0,
    ]  # none at all cannot stand on a logarithmic scale
    save(axes, tmp_path / "growth.svg")


@pytest.mark.parametrize("line", biases.SECOND_SHELF, ids=lambda line: line.name)
def test_a_bias_of_the_second_shelf_is_measured_short_and_long(line):
    assert [n for n in biases.LENGTHS if line.measured_at(n)] == [1024, 8192]
    biases._work(line, 32)()  # forward and backward, states and all learned numbers included


def test_every_second_shelf_bias_on_the_scores_has_a_line():
    measured = {line.encoding for line in biases.LINES}
    on_scores = {n for n in locant.names() if {"bias", "state_bias"} & {*describe(n).hooks}}
    assert on_scores <= measured
