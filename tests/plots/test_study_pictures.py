"""The pictures of a study, from records made by hand: what is offered, what is drawn, what is written."""

from __future__ import annotations

import base64
import re
import warnings
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text
from PIL import Image

from locant.plots import changes, cost, estimate, spread
from locant.plots.colours import THEMES, colour
from locant.plots.entrants import CONTROL, PLAIN_METHOD, Entrant
from locant.plots.saving import save
from locant.plots.small import shrink
from locant.report.pictures import MAKERS, pictures, write_pictures
from locant.report.pictures_of_runs import sharpest
from locant.report.ranked import ranked
from locant.results.record import RowRecord, StudyRecord
from locant.statistics.paired import interval

ROWS = {"none": "none", "scrambled": "sinusoidal", "rotary": "rotary", "learned": "learned", "learned .02": "learned"}
MEANS = {"none": 0.3, "scrambled": 0.32, "rotary": 0.9, "learned": 0.7, "learned .02": 0.6, "harmonic": 0.8}
ACCURACY = {"metric": "accuracy", "chooses": "accuracy", "higher_is_better": True, "chance": 0.25, "length": 32}
PAPERS = [
    {"encoding": "rotary", "effort": "quick", "findings": [{"name": "shift", "verdict": "holds"}]},
    {"encoding": "mine.py:Mine", "effort": "quick", "findings": [{"name": "shift", "verdict": "fails"}]},
]


def notes(draw, seed):
    weights = draw.dirichlet(np.full(6, 0.3), (2, 2, 6))  # (layers, heads, queries, keys)
    top = weights.max((-2, -1))
    small = (weights / top[..., None, None] * 255).round().astype(np.uint8)
    same = np.random.default_rng(seed)  # the window is the same for every row
    hidden = same.permutation(12) < 3
    target = np.column_stack([same.normal(size=(12, 2)), hidden])
    return {
        "attention": {
            "shape": list(weights.shape),
            "top": top.flatten().tolist(),
            "bytes": base64.b64encode(small.tobytes()).decode(),
        },
        "reconstruction": {"target": target.tolist(), "output": (target[:, :2] + 0.1).tolist()},
        "histogram": {"edges": [0.1, 1.0, 10.0 + seed], "normal": [90, 10], "faulty": [2, 8]},
    }


def row(name, encoding, *, seeds=3, plain=False):
    draw = np.random.default_rng(sum(map(ord, name)))
    scores = (MEANS.get(name, 0.5) + draw.normal(0, 0.02, seeds)).tolist()
    metrics = {"accuracy": scores, "recall, point": scores, "recall, collective": [s / 2 for s in scores]}
    if plain:
        return RowRecord(name, encoding, {}, metrics, list(range(seeds)), [[]] * seeds, {}, [{}] * seeds)
    metrics |= {"accuracy at 64": [s / 2 for s in scores], "accuracy at 48": [s * 0.8 for s in scores]}
    metrics |= {"change when shuffled": [0.0 if name == "none" else 0.5] * seeds}
    history = [{"step": step, "train_loss": 1.0, "accuracy": step / 200} for step in (50, 100)]
    costs = {"seconds_a_step": [0.01 + len(name) / 1000] * seeds, "parameters": [1000.0 + len(name)] * seeds}
    kept = [notes(draw, seed) for seed in range(seeds)]
    return RowRecord(name, encoding, {}, metrics, list(range(seeds)), [history] * seeds, costs, kept)


def study(names=("none", "rotary", "learned .02", "learned", "scrambled"), *, seeds=3, **facts):
    asked = {
        "controls": ["none", "scrambled"],
        "baselines": ["harmonic"],
        "task": "anomaly",
        "details": ["recall, point"],
    }
    rows = [row(name, ROWS[name], seeds=seeds) for name in names] + [row("harmonic", "none", seeds=seeds, plain=True)]
    facts = {**ACCURACY, "ceilings": {"without positions": 0.25, "by place": 1.0, "by T5 buckets": 1.0}, **facts}
    return StudyRecord("s", asked, facts, "locant compare s", rows)


def bare(names=("none", "rotary"), **more):
    """Scores and nothing else."""
    record = study(names, **more)
    for one in record.rows:
        one.notes, one.histories, one.costs = [{}] * len(one.seeds), [[]] * len(one.seeds), {}
        one.metrics = {"accuracy": one.metrics["accuracy"]}
    return record


def names_down(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def drawn_colours(axes):
    """Every colour of a line, a bar or an outline."""
    found = {to_hex(line.get_color()) for line in axes.lines} | {
        to_hex(patch.get_edgecolor()) for patch in axes.patches
    }
    return found | {to_hex(patch.get_facecolor()) for patch in axes.patches}


@pytest.fixture(scope="module")
def offered():
    return pictures(study(), PAPERS)


@pytest.fixture(scope="module")
def axes(offered):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return {name: picture.draw() for name, picture in offered.items()}


def test_every_picture_is_offered_when_its_numbers_are_there(offered):
    assert list(offered) == list(MAKERS)


@pytest.mark.parametrize(
    ("spoil", "gone"),
    [
        (lambda one: setattr(one, "notes", [{}] * 3), {"spread", "reconstruction", "attention", "heads"}),
        (lambda one: setattr(one, "histories", [[]] * 3), {"curves"}),
        (lambda one: setattr(one, "costs", {}), {"cost", "parameters"}),
        (lambda one: [one.metrics.pop(name, None) for name in list(one.metrics) if " at " in name], {"lengths"}),
        (lambda one: [one.metrics.pop(name, None) for name in list(one.metrics) if "recall" in name], {"kinds"}),
        (lambda one: one.metrics.pop("change when shuffled", None), {"changes"}),
        (lambda one: setattr(one, "name", one.name.replace("none", "nought")), {"forest"}),
        (lambda one: one.failures.append("seed 0: lost"), set(MAKERS) - {"properties"}),
    ],
)
def test_a_picture_without_numbers_is_not_offered(spoil, gone):
    record = study()
    for one in record.rows:
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
                assert all(np.isfinite(np.array(line.get_data(), float)).all() for line in one.lines)
                assert np.isfinite([one.get_xlim(), one.get_ylim()]).all()


def test_every_caption_is_one_sentence_that_says_how_many_seeds(offered):
    for name, picture in offered.items():
        assert re.fullmatch(r"[A-Z][^\n]*\.", picture.caption), name
        assert re.search(r"\b(3 seeds|1 seed \(0\)|measured once)", picture.caption), name
        assert not re.search(r"\. [A-Z]", picture.caption), name


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
    assert [one.get_title("left").split("\n")[0] for one in axes["curves"]] == [n for n in best if n != "harmonic"]
    (worst_first,) = pictures(study(higher_is_better=False))["metric"].draw()
    assert names_down(worst_first) == best[::-1]


def test_the_metric_shows_every_seed_the_mean_and_its_interval(axes):
    (panel,) = axes["metric"]
    scores = row("rotary", "rotary").scores("accuracy")
    mine = [line.get_xdata() for line in panel.lines if to_hex(line.get_color()) == colour("rotary")]
    assert [sorted(values) for values in mine] == [sorted(scores), list(interval(scores)), [scores.mean()]]
    assert any(f"{scores.mean():.3f} ± " in text.get_text() for text in panel.texts)


def test_chance_and_ceilings_are_lines_with_names(axes):
    (panel,) = axes["metric"]
    told = {text.get_text() for text in panel.texts if ": " in text.get_text()}
    assert told == {"chance, ceiling without positions: 0.25", "ceiling by place, by T5 buckets: 1"}
    upright = [line.get_xdata()[0] for line in panel.lines if list(line.get_ydata()) == [0, 1]]
    assert sorted(set(upright)) == [0.25, 1.0]


def test_the_forest_shows_the_differences_and_letters_of_the_ranking(offered):
    record = study(seeds=7)
    numbers, ranking = pictures(record)["forest"].numbers, ranked(record)
    for one, gap, letters in zip(numbers["entrants"], numbers["gaps"], numbers["letters"], strict=True):
        assert letters == next(place.letters for place in ranking.rows if place.name == one.name)
        if one.name != "none":
            assert gap.mean() == pytest.approx(ranking.apart(one.name, "none")[0].mean)
    left, right = pictures(record)["forest"].draw()
    assert "right is better" in left.get_xlabel()
    assert {text.get_text() for text in right.texts} == set("".join(numbers["letters"]))
    assert "left is better" in pictures(study(higher_is_better=False))["forest"].draw()[0].get_xlabel()


def test_an_encoding_has_one_colour_in_every_picture(axes):
    for name in ("metric", "forest", "kinds", "changes", "cost", "parameters"):
        assert colour("rotary") in drawn_colours(axes[name][0]), name
    for name in ("lengths", "spread", "curves", "reconstruction"):
        own = next(one for one in axes[name] if one.get_title("left") == "rotary")
        others = [one for one in axes[name] if one.get_title("left") == "none"]
        assert colour("rotary") in drawn_colours(own), name
        assert all(colour("rotary") not in drawn_colours(one) for one in others), name


def test_controls_have_their_own_colours_and_plain_methods_are_grey(offered):
    entrants = {one.name: one for one in offered["metric"].numbers["entrants"]}
    look = THEMES["light"]
    assert entrants["scrambled"].colour(look) == colour("scrambled") != colour("sinusoidal")
    assert entrants["harmonic"].colour(look) == look.muted
    assert Entrant("no attention", "none", CONTROL).colour(look) not in (colour("none"), look.muted)
    assert {one.marker(look)["marker"] for one in entrants.values()} == {"o", "D", "s"}
    assert Entrant("harmonic", "none", PLAIN_METHOD).ink(look) == look.muted


def test_a_second_row_of_an_encoding_is_hollow_wherever_it_stands():
    entrants = pictures(study(("none", "learned", "learned .02", "scrambled")))["metric"].numbers["entrants"]
    assert [one.name for one in entrants if one.again] == ["learned .02"]


def test_rows_with_failed_runs_stand_last_without_a_mean_and_are_named_elsewhere():
    record = study()
    record.rows[1].failures = ["seed 2: the loss is nan", "seed 3: lost"]
    made = pictures(record)
    (panel,) = made["metric"].draw()
    assert names_down(panel)[-1] == "rotary"
    assert "2 failed" in {text.get_text() for text in panel.texts}
    mine = [line for line in panel.lines if to_hex(line.get_color()) == colour("rotary")]
    assert [len(line.get_xdata()) for line in mine] == [3]  # the dots alone
    for name in set(made) - {"metric"}:
        assert "rotary" not in [one.name for one in made[name].numbers["entrants"]]
        assert "(rotary)" in made[name].caption


def test_a_row_without_a_number_is_shown_as_such_and_not_compared():
    record = study()
    record.rows[1].metrics["accuracy"][0] = float("nan")
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
    record.rows[0].histories = [[{"step": 10, "accuracy": a}, {"step": 20, "accuracy": 0.9}] for a in (0.1, 0.2, 0.6)]
    (panel,) = pictures(record)["curves"].draw()
    assert any(np.allclose(line.get_data(), [[10, 20], [0.3, 0.9]]) for line in panel.lines)
    (band,) = panel.collections
    assert band.get_paths()[0].get_extents().bounds == pytest.approx((10, 0.1, 10, 0.8))


def test_histograms_of_different_edges_are_pooled_without_losing_a_point():
    some = [{"edges": [0.1, 1.0, 10.0], "normal": [3, 1]}, {"edges": [0.5, 50.0], "normal": [4]}]
    edges = spread.common([some])
    assert (edges[0], edges[-1]) == pytest.approx((0.1, 50.0))
    assert spread.pooled(some, edges, "normal").sum() == pytest.approx(100)
    assert spread.pooled(some, np.array([0.1, 0.5, 50.0]), "normal")[0] == pytest.approx(100 * 3 * np.log10(5) / 8)


def test_a_change_of_zero_stands_at_the_left_end_under_its_own_name(axes):
    (panel,) = axes["changes"]
    where = changes.place_of_zero(np.array([0.0, 0.5]), 1e-5)
    assert panel.xaxis.get_major_formatter()(where, 0) == "0"
    none = names_down(panel).index("none")
    assert [line.get_xdata()[0] for line in panel.lines if list(line.get_ydata()) == [none]] == pytest.approx([where])


def test_hidden_steps_are_marked_and_only_where_something_was_hidden(axes):
    def hollow(panels):
        return [line for line in panels[0].lines if line.get_markerfacecolor() == THEMES["light"].paper]

    target = np.array(notes(np.random.default_rng(0), 0)["reconstruction"]["target"])
    (marks,) = hollow(axes["reconstruction"])
    assert marks.get_xdata().tolist() == np.flatnonzero(target[:, -1]).tolist()
    assert np.allclose(marks.get_ydata(), target[target[:, -1] > 0, 0])
    assert axes["reconstruction"][0].get_title("right") == "error 0.10"
    record = study()
    record.study["task_options"] = {"masked": False}
    assert hollow(pictures(record)["reconstruction"].draw()) == []
    assert "hidden" not in pictures(record)["reconstruction"].caption


def test_attention_is_of_the_same_example_and_the_sharpest_head(offered):
    record = study()
    record.rows[1].seeds = [7, 8, 9]  # another example: not to be compared
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


def test_names_beside_points_keep_their_order_and_their_distance():
    draw = np.random.default_rng(0)
    for count in (1, 2, 15, 40):
        places = np.sort(draw.random(count) ** 3)
        moved = np.array(cost.apart(list(places), 1 / 40))
        assert (np.diff(moved) >= 1 / 40 - 1e-9).all()
        assert moved.min() >= 0
        assert moved.max() <= 1 + 1e-9
    assert cost.apart([0.1, 0.5], 0.05) == pytest.approx([0.1, 0.5])


def test_lines_at_one_value_share_a_name():
    assert estimate.together({"a": 0.5, "b": 0.5001, "c": 0.6}, 0.01) == {0.5: ["a", "b"], 0.6: ["c"]}


def test_no_word_is_cut_off_at_the_edge(axes):
    for name, panels in axes.items():
        if name == "parameters":  # drawn by the same file as cost
            continue
        figure = panels[0].get_figure(root=True)
        figure.draw_without_rendering()
        whole = figure.bbox
        for panel in panels:
            box = panel.get_tightbbox()
            assert box.x0 >= -2, name
            assert box.x1 <= whole.width + 2, name
            assert box.y1 <= whole.height + 2, name
        title = figure._suptitle.get_window_extent()
        assert title.x1 <= whole.width, name
        assert all(panel.title.get_window_extent().y1 <= title.y0 + 2 for panel in panels), name


def test_with_23_rows_no_name_covers_another():
    record = bare(("none", "rotary"), seeds=2)
    record.rows += [row(f"row {number}", "rotary", seeds=2) for number in range(20)]
    for one in record.rows:
        one.costs = {"parameters": [1000.0, 1000.0]}
    made = pictures(record)
    (metric,) = made["metric"].draw()
    (points,) = made["parameters"].draw()
    for panel, words in ((metric, metric.get_yticklabels()), (points, points.texts)):
        panel.figure.draw_without_rendering()
        boxes = sorted((Text.get_window_extent(word) for word in words), key=lambda box: box.y0)  # without leaders
        assert len(boxes) == 23
        assert all(low.y1 <= high.y0 for low, high in pairwise(boxes))


def test_the_same_record_is_written_to_the_same_bytes_in_small_files(tmp_path):
    first = write_pictures(bare(()), tmp_path / "one", ("png", "svg"))
    assert [path.name for path in first] == ["metric.png", "metric.svg"]
    again = write_pictures(bare(()), tmp_path / "two", ("png", "svg"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert first[0].stat().st_size < 20_000
    (dark,) = write_pictures(bare(()), tmp_path / "three", theme="dark")
    assert Image.open(dark).convert("RGB").getpixel((2, 2)) == (0x15, 0x18, 0x1D)
    with pytest.raises(ValueError, match="format"):
        write_pictures(bare(()), tmp_path / "four", ("gif",))


def test_a_shrunk_picture_looks_the_same_and_keeps_its_caption(tmp_path, offered, axes):
    caption = offered["metric"].caption
    path = save(axes["metric"], tmp_path / "metric.png", title=caption)
    whole, size = np.asarray(Image.open(path).convert("RGB")).astype(int), path.stat().st_size
    small = Image.open(shrink(path))
    assert np.abs(np.asarray(small.convert("RGB")).astype(int) - whole).max() <= 12
    assert path.stat().st_size < size / 2
    assert small.text["Title"] == caption
    assert small.info["dpi"] == pytest.approx((144, 144), abs=0.1)
