"""Reports of finished studies: claims, details, controls, search, suites, the page. No training."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from common_lab import LOCANT
from common_records import finished
from scripted import COST

from locant.lab.engine.driver import Driver
from locant.lab.report.conclusion import conclusion, control_notes
from locant.lab.report.learning_table import learning_table
from locant.lab.report.published import judge_statements, published_table
from locant.lab.report.rendering import mean_text
from locant.lab.report.score_table import side_by_side
from locant.lab.report.study_page import details_table, html, markdown, markdown_overview
from locant.lab.store.record import read_record
from locant.lab.store.store import Store
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study import read_stored_study
from locant.lab.study_files import read_studies, read_study
from locant.lab.tasks.base import make_task
from locant.lab.training.run_result import RunResult


def published_like(name, seed):
    """Numbers in the manner of study A: sinusoidal ahead, contextual faults at chance."""
    wobble = 0.001 * (seed % 7)
    f1 = {"sinusoidal": 0.34, "learned": 0.31, "scrambled": 0.34, "none": 0.30}.get(
        name, 0.2
    ) + wobble
    change = 1e-6 if name in ("none", "no attention") else 0.8 + wobble
    said = {
        "F1": f1,
        "AUC": 0.67 + wobble,
        "precision": f1,
        "recall": f1,
        "contextual AUC": 0.5 + wobble,
    }
    return {**said, "change when shuffled": change, "F1, threshold from clean data": 0.25 - wobble}


def test_claims_are_judged_by_intervals(tmp_path):
    store, which = finished(tmp_path, "anomaly-faithful", published_like, seeds=6)
    said = {answer.statement: answer for answer in judge_statements(read_record(store, which))}
    by_words = {claim[:30]: answer.answer for claim, answer in said.items()}
    assert by_words["Sinusoidal has a higher F1 tha"] == "holds"
    assert by_words["Without positions, shuffling a"] == "holds"
    assert by_words["Positions help to find context"] == "does not hold"
    assert (
        by_words["The gain comes from order: the"] == "does not hold"
    )  # no difference at all, exactly
    assert (
        "F1 of sinusoidal minus none: .040" in said["Sinusoidal has a higher F1 than none"].measured
    )


def test_a_claim_whose_rows_were_not_run_cannot_be_told(tmp_path):
    store, which = finished(tmp_path, "anomaly-faithful", published_like, encodings=["rotary"])
    assert {
        answer.answer
        for answer in judge_statements(read_record(store, which))
        if "inusoidal" in answer.statement
    } == {"cannot be decided"}


def test_published_values_stand_beside_ours_and_details_beside_the_score(tmp_path):
    store, which = finished(tmp_path, "anomaly-faithful", published_like)
    record = read_record(store, which)
    heads, rows = published_table(record)
    assert heads[1:3] == ["F1, published", "F1, here"]
    assert next(row for row in rows if row[0] == "sinusoidal")[1] == ".341"
    heads, rows = details_table(record)
    assert "contextual AUC" in heads
    assert rows[0][0] in ("sinusoidal", "scrambled")  # best first
    text = markdown(record, [("A picture", "here/one.png")])
    for needed in (
        "Flaws of the published protocol",
        "so it",
        "In plain words",
        "![A picture](here/one.png)",
    ):
        assert needed in text


def test_who_learnt_it_and_how_soon_comes_from_the_validations(tmp_path):
    store, which = finished(tmp_path, "order", lambda name, seed: {"accuracy": 1.0}, seeds=3)
    heads, rows = learning_table(read_record(store, which))
    assert heads[4] == "mean steps to reach it, at most 250"
    assert ["rotary", "3 of 3", "0.46 to 1.00", "1.000", "90"] in [row[:5] for row in rows]
    assert all(row[0] != "token counts" for row in rows)  # nothing is learnt step by step there


def slow_runs(learns):
    """An engine whose runs reach the threshold at half of their steps when `learns` says so, and
    stay at chance if not."""

    def compute(runs):
        for run in runs:
            score = 0.95 if learns(run) else 0.5
            history = [{"step": run.training.steps // 2, "loss": 1.0, "accuracy": score}]
            metrics = {
                "accuracy": score,
                "validation": 1.0 - score,
                "validation, second half": 1.0 - score,
            }
            yield RunResult.done(run, metrics, history, {**COST, "seconds": 60.0})

    return compute


def report_of(tmp_path, learns, **changes):
    study = read_study(
        "order", changes={"encodings": ["rotary", "t5", "alibi"], "baselines": [], **changes}
    )
    store = Store(tmp_path / "runs.sqlite")
    known = TaskFacts.of(make_task("order", **study.task_options))
    return markdown(read_record(store, Driver(study, store, slow_runs(learns)).finish(known, "t")))


def test_not_learnt_is_not_called_cannot_and_more_steps_are_shown(tmp_path):
    text = report_of(
        tmp_path,
        lambda run: run.name == "t5" or (run.name == "rotary" and run.training.steps == 2000),
    )
    assert "Cannot be learned, by an exact ceiling of .500: none, scrambled, alibi." in text
    assert (
        "Not learned in 250 steps by any run, which does not prove that it cannot be: rotary."
        in text
    )
    assert "| rotary | 2,000 | 3 of 3 | .950 |" in text  # with more steps it was learnt
    assert "| t5 | 10 of 10 | 0.950 ± 0.000 | 1 |" in text


def test_a_row_that_loses_to_a_fixed_point_is_marked_and_left_out_of_the_verdict(tmp_path):
    checks = "search.check"
    text = report_of(
        tmp_path,
        lambda run: run.name == "rotary" or (run.name == "t5" and run.seed >= 2_000_000),
        **{checks: 3},
    )
    assert "The search failed for t5: a fixed grid point beats its score" in text
    assert re.search(r"\| t5 \|.*\| search failed \|", text)
    assert "**rotary comes first" in text
    assert "search failed |" not in report_of(
        tmp_path / "well", lambda run: run.name in ("rotary", "t5"), **{checks: 3}
    )


@pytest.mark.parametrize(
    ("none", "scrambled", "said"),
    [
        (0.5, 0.5, "sinusoidal minus scrambled +.50 ± "),
        (0.5, 0.7, "scrambled minus none is +.20 ± .0"),
        (0.5, 0.7, "its order is surely a gain. This says nothing about other encodings."),
        (0.5, 1.0, "nothing shows that its order helps"),
        (0.8, 0.8, "information leaks"),
        (0.5026, 0.5, "happens by chance once in 40 controls"),
    ],
)
def test_controls_are_told_in_sentences(tmp_path, none, scrambled, said):
    level = {"none": none, "scrambled": scrambled}
    store, which = finished(
        tmp_path,
        "order",
        lambda name, seed: {
            "accuracy": level.get(name, 1.0)
            + 0.003 * (seed % 3 - 1) * (1 if name == "none" else -1)
        },
    )
    assert said in " ".join(control_notes(read_record(store, which)))


def test_a_suite_stands_side_by_side(tmp_path):
    records = []
    for number, study in enumerate(read_studies("slots")):
        store, which = finished(
            tmp_path, study.name, lambda name, seed, n=number: {"accuracy": 0.5 + n / 10}, seeds=2
        )
        records.append(read_record(store, which))
    heads, rows = side_by_side(records)
    assert heads == ["", "slot", "decoy", "order", "parity", "gap"]
    assert next(row for row in rows if row[0] == "rotary")[1:] == [
        f"2/2 .{n}00 (1)" for n in range(5, 10)
    ]
    page = markdown_overview("All five", records[:2])
    assert page.startswith(
        "# All five\n\n|  | [slot](slot.md) | [decoy](decoy.md) |\n| --- | --- | --- |\n| "
    )
    assert page.count("No conclusion is possible with 2 seeds") == 2


def test_a_name_means_the_study_of_that_name_before_any_id_that_begins_with_it(tmp_path):
    store, plain = finished(tmp_path, "order", lambda name, seed: {"accuracy": 0.5}, seeds=2)
    finished(tmp_path, "order", lambda name, seed: {"accuracy": 0.5}, seeds=2, name="order-longer")
    assert read_record(store, "order").id == plain
    assert read_record(store, "order-l").settings.name == "order-longer"


def test_a_mean_of_tiny_numbers_keeps_its_size():
    assert mean_text(np.array([1e-6, 2e-6, 3e-6])).startswith("2e-06 ± 2e-06")


@pytest.mark.slow
def test_the_page_needs_nothing_else_and_escapes_what_it_shows(tmp_path):
    store, which = finished(
        tmp_path,
        "order",
        lambda name, seed: {"accuracy": 0.5 + seed / 100},
        seeds=3,
        title="<b>A & B</b>",
    )
    page = html([read_record(store, which)])
    assert "&lt;b&gt;A &amp; B&lt;/b&gt;" in page
    assert "<b>A" not in page
    outside = re.findall(r'(?:src|href|srcset)="(?!data:)[^"]*"|url\(|@import|<script', page)
    assert outside == []
    for needed in (
        "No conclusion is possible with 3 seeds",
        "How it was done",
        "locant compare order",
        "Every run behind these numbers",
    ):
        assert needed in page
    assert page.count("<figure>") >= 2
    digest = read_record(store, which).entrants[0].digests[0]
    assert digest in page


def test_with_few_seeds_the_controls_claim_nothing(tmp_path):
    store, which = finished(
        tmp_path, "order", lambda name, seed: {"accuracy": 0.5 + 0.01 * seed}, seeds=3
    )
    said = " ".join(control_notes(read_record(store, which)))
    assert "3 seeds are too few to say whether its gain comes from positions" in said
    assert "surely" not in said


def test_a_study_whose_control_failed_is_still_told(tmp_path):
    study = read_study("order", changes={"search": False, "seeds": 2})
    store = Store(tmp_path / "runs.sqlite")

    def compute(runs):
        for run in runs:
            if run.name == "none":
                yield RunResult.failed(run, "broken")
            else:
                yield RunResult.done(run, {"accuracy": 0.9, "validation": 0.9}, [], COST)

    which = Driver(study, store, compute).finish(
        TaskFacts.of(make_task(study.task, **study.task_options)), "locant compare order"
    )
    assert "none failed: seed 0: broken" in markdown(read_record(store, which))


def test_what_the_searches_chose_is_told_with_what_it_cost_and_where_it_lies_on_the_edge(tmp_path):
    study = read_study(
        "order", changes={"encodings": ["rotary"], "seeds": 2, "search.check": 0, "baselines": []}
    )
    store = Store(tmp_path / "runs.sqlite")

    def compute(runs):  # ever better with the rate for rotary; all alike for the others
        for run in runs:
            value = 1 - run.training.rate if run.encoding == "rotary" else 0.5
            metrics = {"accuracy": value, "validation": value, "validation, second half": value}
            yield RunResult.done(run, metrics, [], {"parameters": 8.0, "seconds": 60.0})

    which = Driver(study, store, compute).finish(
        TaskFacts.of(make_task("order", **study.task_options)), "t"
    )
    text = markdown(read_record(store, which))
    assert "a better point may lie beyond it: rotary." in text
    assert (
        "Every reported run has a search of its own, by a seed that is not reported, with 4 tries "
        "for every entrant" in text
    )
    assert "the reported runs took 6 minutes (6 runs), the search 8 minutes (8 runs)" in text
    assert "| rotary | 9, 1: 2 | 0% |" in text
    assert (
        "Not searched, because an exact ceiling keeps them from learning the task at any learning "
        "rate: none, scrambled." in text
    )


def test_a_record_of_one_search_for_all_seeds_says_that_its_verdict_is_not_to_be_relied_on(
    tmp_path,
):
    store, which = finished(
        tmp_path, "order", lambda name, seed: {"accuracy": 0.5 + 0.001 * seed}, seeds=6
    )
    record = read_record(store, which)
    assert "Not reliable" not in markdown(record)
    search = {"rate": [1.0, 3.0], "positional_rate": [1.0, 10.0], "seeds": 1, "widen": 3}
    older = read_stored_study({**record.settings.model_dump(), "search": search})
    record = replace(record, settings=older)
    text = markdown(record)
    assert (
        "**Not reliable: one search chose for all seeds, and no interval contains the luck of "
        "that search." in text
    )
    assert "One choice serves all reported seeds" in text


def test_a_larger_model_is_held_beside_the_study_that_it_repeats(tmp_path):
    finished(tmp_path, "order", lambda name, seed: {"accuracy": 0.5 + 0.4 * (name == "rotary")})
    (larger,) = read_studies("order", design="larger")
    store = Store(tmp_path / "runs.sqlite")
    known = TaskFacts.of(make_task("order", **larger.task_options))
    compute = slow_runs(lambda run: run.name != "shaw")
    record = read_record(store, Driver(larger, store, compute).finish(known, "t"))
    assert record.base.settings.name == "order"
    text = markdown(record)
    assert "## Does it survive another model?" in text
    assert "| shaw | .500 | .500 | overlap | changes |" in text  # all runs learned it, here none
    assert "| rotary | .900 | .950 | apart | survives |" in text
    assert f"The verdict of order: {conclusion(record.base)}" in text
    assert "Does it survive" not in markdown(record.base)


def test_another_search_is_held_beside_the_first_one(tmp_path):
    finished(tmp_path, "order", lambda name, seed: {"accuracy": 0.9 + 0.01 * seed}, seeds=6)
    (again,) = read_studies("order", design="again", changes={"seeds": 6})
    store = Store(tmp_path / "runs.sqlite")
    known = TaskFacts.of(make_task("order", **again.task_options))
    tried = []

    def compute(runs):
        tried.extend(run.seed for run in runs)
        yield from slow_runs(lambda run: True)(runs)

    record = read_record(store, Driver(again, store, compute).finish(known, "t"))
    first = read_study("order").trial(again.rows()[0], 0, (1.0, 1.0)).seed
    assert first not in tried  # the search goes by other seeds
    assert record.settings.name == "order-again"
    assert "## Does it survive another search?" in markdown(record)


def test_the_terminal_tells_the_verdict_before_the_table(tmp_path):
    finished(
        tmp_path,
        "order",
        lambda name, seed: {"accuracy": 0.5 + 0.4 * (name == "rotary") + 0.001 * seed},
        seeds=6,
    )
    words = [LOCANT, "report", "order", "--store", tmp_path / "runs.sqlite"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert said.index("rotary is best") < said.index("against none") < said.index("In plain words")


def test_judging_by_the_data_that_chose_is_said_wherever_scores_are_named(tmp_path):
    store, which = finished(
        tmp_path, "slots-faithful", lambda name, seed: {"accuracy": 0.5}, seeds=2
    )
    text = markdown(read_record(store, which))
    assert "accuracy on the validation rows that chose the weights" in text
    assert "unseen data" not in text
    assert "on validation data alone" not in text


def test_runs_of_different_code_in_one_row_are_told(tmp_path):
    store, which = finished(tmp_path, "order", lambda name, seed: {"accuracy": 0.5}, seeds=2)
    record = read_record(store, which)
    assert "different versions" not in markdown(record)
    record.entrants[0].codes[0] = "0123456789abcdef"
    assert f"different versions of the code: {record.entrants[0].name}." in markdown(record)


def test_one_seed_gives_json_that_every_reader_takes(tmp_path):
    finished(tmp_path, "order", lambda name, seed: {"accuracy": 0.5 + len(name) / 100}, seeds=1)
    words = [LOCANT, "report", "order", "--store", tmp_path / "runs.sqlite", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    plain = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert plain["table"][0]["low"] is None
    assert plain["table"][0]["accuracy"] > 0.5


@pytest.mark.parametrize("name", ["anomaly-faithful", "slots-faithful"])
def test_nothing_holds_where_no_claim_is_possible(tmp_path, name):
    """Three seeds point a way, one seed points nowhere; neither lets a claim hold or fall."""

    def like(row, seed):
        return {
            **published_like(row, seed),
            "accuracy": {"none": 0.6, "relative": 0.9}.get(row, 1.0) + 1e-5 * (seed % 7),
        }

    for seeds, expected in (
        (
            3,
            {
                "points that way (3 seeds: no conclusion)",
                "points the other way (3 seeds: no conclusion)",
            },
        ),
        (1, set()),
    ):
        store, which = finished(tmp_path / str(seeds), name, like, seeds=seeds)
        record = read_record(store, which)
        assert {answer.answer for answer in judge_statements(record)} - {"stays open"} == expected
        text = markdown(record)
        assert "No conclusion is possible" in text
        assert not re.search(r"\| (holds|does not hold|cannot be decided) \|", text)


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        (
            3,
            "The direction in which a 95 % t interval over 3 seeds points, where it lies entirely "
            "on one side of what was stated. That is",
        ),
        (3, "with fewer than 6 seeds no conclusion is possible."),
        (
            6,
            "Judged by a 95 % t interval over 6 seeds: it must lie entirely on one side of what "
            "was stated.",
        ),
    ],
)
def test_claims_say_by_how_many_seeds_they_are_judged(tmp_path, seeds, said):
    store, which = finished(
        tmp_path, "slots-faithful", lambda name, seed: {"accuracy": 0.5}, seeds=seeds
    )
    assert said in markdown(read_record(store, which))
