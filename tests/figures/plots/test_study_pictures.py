"""The pictures of a study: what is offered, what is drawn, what is written."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from common_study import PAPERS, bare, draw_all, names_down, notes, row, study
from matplotlib.colors import to_hex

from locant.figures.plots import changes, spread
from locant.figures.plots.colors import THEMES, color_of
from locant.lab.report.score_table import rank_entrants
from locant.lab.report.study_pictures import MAKERS, pictures, sharpest
from locant.lab.report.study_view import StudyView
from locant.lab.statistics.paired import interval
from locant.lab.study import RowConfig


@pytest.fixture(scope="module")
def offered():
    return pictures(study(), PAPERS)


@pytest.fixture(scope="module")
def axes(offered):
    return draw_all(offered)


def test_every_picture_is_offered_when_its_numbers_are_there(offered):
    assert list(offered) == list(MAKERS)


@pytest.mark.parametrize(
    ("spoil", "gone"),
    [
        (
            lambda one: setattr(one, "notes", [{}] * 3),
            {"spread", "reconstruction", "attention", "heads"},
        ),
        (lambda one: setattr(one, "histories", [[]] * 3), {"curves", "survival"}),
        (lambda one: setattr(one, "costs", {}), {"cost", "parameters"}),
        (
            lambda one: [
                one.metrics.pop(name, None) for name in list(one.metrics) if " at " in name
            ],
            {"lengths"},
        ),
        (
            lambda one: [
                one.metrics.pop(name, None) for name in list(one.metrics) if "recall" in name
            ],
            {"kinds"},
        ),
        (lambda one: one.metrics.pop("change when shuffled", None), {"changes"}),
        (lambda one: setattr(one, "name", one.name.replace("none", "nought")), {"forest"}),
        (lambda one: one.failures.append("seed 0: lost"), set(MAKERS) - {"properties"}),
    ],
)
def test_a_picture_without_numbers_is_not_offered(spoil, gone):
    record = study()
    for one in record.entrants:
        spoil(one)
    assert set(MAKERS) - set(pictures(record, PAPERS)) == gone
    assert "properties" not in pictures(record)


@pytest.mark.parametrize(
    "record",
    [
        bare(seeds=1),
        bare(()),
        study(("rotary",), seeds=1),
        study(("none", "rotary"), higher_is_better=False, ceilings={}),
    ],
    ids=["one seed", "one row", "one row and one seed", "lower is better"],
)
def test_a_poor_study_is_drawn_without_a_warning_and_without_nan(record):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for picture in pictures(record).values():
            for one in picture.draw("dark"):
                assert all(
                    np.isfinite(np.array(line.get_data(), float)).all() for line in one.lines
                )
                assert np.isfinite([one.get_xlim(), one.get_ylim()]).all()


def test_every_caption_is_one_sentence_that_says_how_many_seeds(offered):
    for name, picture in offered.items():
        assert re.fullmatch(r"[A-Z][^\n]*\.", picture.caption), name
        assert re.search(r"\b(3 seeds|1 seed \(0\)|measured once)", picture.caption), name
        assert not re.search(r"\. [A-Z]", picture.caption), name


def test_the_caption_of_scores_says_what_they_were_taken_on(offered):
    assert "on unseen data" in offered["metric"].caption
    published = pictures(study(tested_on="the rows that chose the weights"))["metric"]
    assert published.caption.startswith("Accuracy on the rows that chose the weights")


def test_a_control_that_a_study_spells_out_itself_is_drawn_as_a_control():
    record = study()
    spelled_out = RowConfig(name="scrambled", control="scramble")
    changes = {"controls": ["none"], "encodings": [spelled_out]}
    record.settings = record.settings.model_copy(update=changes)
    assert StudyView(record).drawn == StudyView(study()).drawn


def test_a_single_seed_has_no_interval_in_the_picture_or_in_its_caption():
    picture = pictures(bare(("none", "rotary"), seeds=1))["metric"]
    assert "without an interval" in picture.caption
    assert "1 seed." in picture.caption
    (axes,) = picture.draw()
    assert all(
        len(line.get_xdata()) == 1 or len(set(line.get_xdata())) == 1 for line in axes.lines
    )  # points, verticals


def test_rows_stand_best_first(axes):
    best = ["rotary", "harmonic", "learned", "learned .02", "scrambled", "none"]
    for name in ("metric", "forest", "kinds"):
        assert names_down(axes[name][0]) == best
    assert [one.get_title("left").split("\n")[0] for one in axes["curves"]] == [
        n for n in best if n != "harmonic"
    ]
    (worst_first,) = pictures(study(higher_is_better=False))["metric"].draw()
    assert names_down(worst_first) == best[::-1]


def test_the_metric_shows_every_seed_the_mean_and_its_interval(axes):
    (panel,) = axes["metric"]
    scores = row("rotary", "rotary").scores("accuracy")
    mine = [
        line.get_xdata() for line in panel.lines if to_hex(line.get_color()) == color_of("rotary")
    ]
    assert [sorted(values) for values in mine] == [
        sorted(scores),
        list(interval(scores)),
        [scores.mean()],
    ]
    assert any(f"{scores.mean():.3f} ± " in text.get_text() for text in panel.texts)


def test_chance_and_ceilings_are_lines_with_names(axes):
    (panel,) = axes["metric"]
    told = {text.get_text() for text in panel.texts if ": " in text.get_text()}
    assert told == {"chance, ceiling without positions: 0.25", "ceiling by place, by T5 buckets: 1"}
    upright = [line.get_xdata()[0] for line in panel.lines if list(line.get_ydata()) == [0, 1]]
    assert sorted(set(upright)) == [0.25, 1.0]


def test_the_forest_shows_the_differences_and_groups_of_the_ranking(offered):
    record = study(seeds=7)
    numbers, ranking = pictures(record)["forest"].numbers, rank_entrants(record)
    for one, gap, group in zip(
        numbers["entrants"], numbers["gaps"], numbers["groups"], strict=True
    ):
        assert group == next(place.group for place in ranking.entrants if place.name == one.name)
        if one.name != "none":
            assert gap.mean() == pytest.approx(ranking.difference(one.name, "none")[0].mean)
    left, right = pictures(record)["forest"].draw()
    assert "right is better" in left.get_xlabel()
    assert {text.get_text() for text in right.texts} == {
        str(group) for group in numbers["groups"] if group
    }
    assert (
        "left is better" in pictures(study(higher_is_better=False))["forest"].draw()[0].get_xlabel()
    )


def test_rows_with_failed_runs_stand_last_without_a_mean_and_are_named_elsewhere():
    record = study()
    record.entrants[1].failures = ["seed 2: the loss is nan", "seed 3: lost"]
    made = pictures(record)
    (panel,) = made["metric"].draw()
    assert names_down(panel)[-1] == "rotary"
    assert "2 failed" in {text.get_text() for text in panel.texts}
    mine = [line for line in panel.lines if to_hex(line.get_color()) == color_of("rotary")]
    assert [len(line.get_xdata()) for line in mine] == [3]  # the dots alone
    for name in set(made) - {"metric"}:
        assert "rotary" not in [one.name for one in made[name].numbers["entrants"]]
        assert "(rotary)" in made[name].caption


def test_a_row_without_a_number_is_shown_as_such_and_not_compared():
    record = study()
    record.entrants[1].metrics["accuracy"][0] = float("nan")
    made = pictures(record)
    assert "forest" not in made
    (panel,) = made["metric"].draw()
    assert names_down(panel)[-1] == "rotary"
    assert "no score" in {text.get_text() for text in panel.texts}


def test_lengths_begin_with_that_of_training_and_grow(offered):
    numbers = offered["lengths"].numbers
    assert numbers["lengths"] == [32, 48, 64]
    scores = row("rotary", "rotary").scores("accuracy")
    assert np.allclose(numbers["scores"][0], [scores, scores * 0.8, scores / 2])
    assert "32, 48 and 64 tokens" in offered["lengths"].caption


def test_curves_have_a_mean_and_a_band_over_seeds():
    record = bare(("rotary",))
    record.entrants[0].histories = [
        [{"step": 10, "accuracy": a}, {"step": 20, "accuracy": 0.9}] for a in (0.1, 0.2, 0.6)
    ]
    (panel,) = pictures(record)["curves"].draw()
    assert any(np.allclose(line.get_data(), [[10, 20], [0.3, 0.9]]) for line in panel.lines)
    (band,) = panel.collections
    assert band.get_paths()[0].get_extents().bounds == pytest.approx((10, 0.1, 10, 0.8))


def test_a_run_that_ended_early_goes_on_in_its_curve_as_it_was():
    record = bare(("rotary",))
    early, late = (
        [{"step": 10, "accuracy": 0.9}],
        [{"step": 10, "accuracy": 0.5}, {"step": 20, "accuracy": 0.7}],
    )
    record.entrants[0].histories = [early, late, late]
    (panel,) = pictures(record)["curves"].draw()
    assert any(np.allclose(line.get_data(), [[10, 20], [1.9 / 3, 2.3 / 3]]) for line in panel.lines)


def test_survival_falls_where_runs_reach_the_threshold_and_marks_those_that_never_did():
    record = bare(("rotary",))
    record.entrants[0].histories = [
        [{"step": 10, "accuracy": a}, {"step": 20, "accuracy": b}]
        for a, b in ((1, 1), (0, 1), (0, 0))
    ]
    numbers = pictures(record)["survival"].numbers
    assert numbers["left"][0] == pytest.approx([1, 2 / 3, 1 / 3, 1 / 3])
    assert list(numbers["steps"][0][:3]) == [0, 10, 20]
    (panel,) = pictures(record)["survival"].draw()
    assert any(line.get_marker() == "|" for line in panel.lines)


def test_histograms_of_different_edges_are_pooled_without_losing_a_point():
    some = [{"edges": [0.1, 1.0, 10.0], "normal": [3, 1]}, {"edges": [0.5, 50.0], "normal": [4]}]
    edges = spread.common([some])
    assert (edges[0], edges[-1]) == pytest.approx((0.1, 50.0))
    assert spread.pooled(some, edges, "normal").sum() == pytest.approx(100)
    assert spread.pooled(some, np.array([0.1, 0.5, 50.0]), "normal")[0] == pytest.approx(
        100 * 3 * np.log10(5) / 8
    )


def test_a_change_of_zero_stands_at_the_left_end_under_its_own_name(axes):
    (panel,) = axes["changes"]
    where = changes.position_of_zero(np.array([0.0, 0.5]), 1e-5)
    assert panel.xaxis.get_major_formatter()(where, 0) == "0"
    none = names_down(panel).index("none")
    assert [
        line.get_xdata()[0] for line in panel.lines if list(line.get_ydata()) == [none]
    ] == pytest.approx([where])


def test_hidden_steps_are_marked_and_only_where_something_was_hidden(axes):
    def hollow(panels):
        return [
            line for line in panels[0].lines if line.get_markerfacecolor() == THEMES["light"].paper
        ]

    target = np.array(notes(np.random.default_rng(0), 0)["reconstruction"]["target"])
    (marks,) = hollow(axes["reconstruction"])
    assert marks.get_xdata().tolist() == np.flatnonzero(target[:, -1]).tolist()
    assert np.allclose(marks.get_ydata(), target[target[:, -1] > 0, 0])
    assert axes["reconstruction"][0].get_title("right") == "error 0.10"
    record = study()
    changes = {"task_options": {"masked": False}}
    record.settings = record.settings.model_copy(update=changes)
    assert hollow(pictures(record)["reconstruction"].draw()) == []
    assert "hidden" not in pictures(record)["reconstruction"].caption


def test_attention_is_of_the_same_example_and_the_sharpest_head(offered):
    record = study()
    record.entrants[1].seeds = [7, 8, 9]  # another example: not to be compared
    weights = np.full((2, 3, 4, 4), 0.25)
    weights[1, 2] = np.eye(4)
    assert sharpest(weights) == (1, 2)
    assert "rotary" not in [one.name for one in pictures(record)["attention"].numbers["entrants"]]
    assert "rotary" in [one.name for one in offered["attention"].numbers["entrants"]]


def test_the_property_matrix_tells_what_holds_from_what_does_not(axes):
    (panel,) = axes["properties"]
    assert names_down(panel) == ["rotary", "Mine"]
    assert [text.get_text() for text in panel.texts] == ["✓", "✗"]
    wrong = [{**PAPERS[0], "findings": [{"name": "shift", "verdict": "perhaps"}]}]
    with pytest.raises(ValueError, match="verdict"):
        pictures(study(), wrong)["properties"].draw()
