"""Study A's data and judgement: nothing leaks, nothing is chosen on test data, and the oracle knows
best."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from locant.lab.study_files import read_study
from locant.lab.tasks._fault_metrics import ScoredSeries, fault_metrics
from locant.lab.tasks._seasonal_series import (
    COLLECTIVE,
    CONTEXTUAL,
    POINT,
    inject,
    seasonal,
    windows,
)
from locant.lab.tasks.anomaly import Anomaly, _hide_points, _hide_spans
from locant.lab.tasks.anomaly_faithful import LEAD, AnomalyFaithful, _data, _seasonal
from locant.lab.tasks.base import make_task
from locant.lab.training.build import build

SMALL = Anomaly(series=4, lead=120, tested=200, faults=25, series_length=300)


def test_a_series_is_its_formula():
    values, clean = seasonal(1000, np.random.default_rng(0), count=2)
    assert values.shape == clean.shape == (2, 1000, 5)
    noise = values - clean
    assert abs(noise.std() - 0.1) < 0.003
    again = np.diff(clean[:, ::168], axis=1)  # both periods divide 168: what is left is the trend
    assert np.allclose(again, again[:, :1], atol=1e-9)
    assert np.abs(again).max() <= 0.168 + 1e-9


def test_faults_are_of_three_kinds_and_touch_one_feature_at_a_time():
    (values,), _ = seasonal(2000, np.random.default_rng(1))
    out, kinds = inject(values, np.random.default_rng(2), 100)
    changed = (out != values).sum(1)
    assert ((changed > 0) <= (kinds > 0)).all()
    assert 0.045 < (kinds > 0).mean() < 0.056
    assert set(kinds) == {0, POINT, CONTEXTUAL, COLLECTIVE}
    for at in np.flatnonzero(
        (kinds == CONTEXTUAL) & (changed == 1)
    ):  # a value from 20 to 49 steps later
        f = np.flatnonzero(out[at] != values[at])[0]
        assert (values[at + 20 : at + 50, f] == out[at, f]).any()
    far = np.abs(out - values).max(1) / values.std(0).max()
    assert np.median(far[kinds == POINT]) > 2


def test_windows_cover_everything_and_the_last_is_flush():
    shown, starts = windows(np.arange(25.0)[:, None], 10, 4)
    assert starts.tolist() == [0, 4, 8, 12, 15]
    assert shown[-1, -1, 0] == 24


def test_hidden_steps_say_nothing_and_are_the_only_ones_asked():
    rows = SMALL.batch(8, seed=0, step=0)
    hidden = rows.inputs[..., -1] == 1
    assert (rows.inputs[..., :-1][hidden] == 0).all()
    assert torch.equal(rows.target[..., -1] == 1, hidden)
    assert torch.equal(rows.target[..., :-1][~hidden], rows.inputs[..., :-1][~hidden])
    wrong = rows.target[..., :-1].clone()
    wrong[~hidden] += 100
    assert SMALL.loss(wrong, rows.target) == 0
    plain = Anomaly(masked=False, series=4, lead=120, series_length=300).batch(8, seed=0, step=0)
    assert (plain.inputs[..., -1] == 0).all()
    assert (plain.target[..., -1] == 1).all()


def test_masks_hide_a_quarter_in_points_and_in_spans_of_eight():
    draw = np.random.default_rng(0)
    assert (_hide_points(50, 96, draw).sum(1) == 24).all()
    spans = _hide_spans(50, 96, draw)
    assert 16 < spans.sum(1).mean() <= 24
    edges = np.diff(spans.astype(int), axis=1, prepend=0, append=0)
    for row in edges:
        lengths = np.flatnonzero(row == -1) - np.flatnonzero(row == 1)
        assert (lengths >= 8).all()


def test_batches_depend_on_seed_and_step_alone():
    first, again = SMALL.batch(4, seed=3, step=5), SMALL.batch(4, seed=3, step=5)
    assert torch.equal(first.inputs, again.inputs)
    assert not torch.equal(first.inputs, SMALL.batch(4, seed=3, step=7).inputs)
    assert not torch.equal(first.inputs, SMALL.batch(4, seed=4, step=5).inputs)


def test_every_point_is_judged_by_a_mask_that_hides_it():
    """A model that copies what it sees and answers 9 where it sees nothing must be wrong
    everywhere."""

    def copies(inputs, padding_mask):
        return torch.where(inputs[..., -1:] == 1, 9.0, inputs[..., :-1])

    (one,) = SMALL._faulty_series(1, 0, "test")
    scores = SMALL._scores(copies, [one.values], [np.zeros(len(one.values), bool)], seed=0)[0]
    away = np.abs(one.values - 9)
    assert np.allclose(scores, (away / away[: SMALL.lead].std(0)).max(1), rtol=1e-5)


def test_validation_and_test_are_different_series():
    parts = [
        SMALL._faulty_series(1, 0, purpose)[0].values
        for purpose in ("validation", "test", "example")
    ]
    assert not np.allclose(parts[0], parts[1])
    assert not np.allclose(parts[1], parts[2])


def test_scores_of_a_series_are_judged_by_rank_kind_and_a_clean_threshold():
    kinds = np.zeros(100, int)
    kinds[[10, 20]] = POINT
    kinds[[30, 40]] = CONTEXTUAL
    kinds[50:55] = COLLECTIVE
    scores = np.where(kinds == POINT, 5.0, np.where(kinds == COLLECTIVE, 3.0, 1.0))
    said = fault_metrics([ScoredSeries(np.linspace(0, 2, 1000), scores, kinds)])
    assert (said["recall, point"], said["recall, contextual"], said["recall, collective"]) == (
        1,
        0,
        1,
    )
    assert said["contextual AUC"] == 0.5
    assert said["false alarms"] == 0
    assert said["precision"] == 1
    assert said["F1"] == pytest.approx(2 * 7 / (7 + 9))


def test_the_oracle_is_better_than_every_plain_method_that_does_not_know_the_seasons():
    task = Anomaly()
    oracle, median = (task.baseline(name, 2, 0) for name in ("oracle", "rolling_median"))
    assert oracle["average precision"] > median["average precision"] + 0.1
    assert task.baseline("harmonic", 2, 0)["contextual AUC"] > 0.85


def test_without_positions_shuffling_changes_only_the_order_and_with_them_the_answer():
    study = read_study("anomaly", changes={"task_options": {"series": 4}, "search": False})
    rows = {row.name: row for row in study.rows()}
    changes = {}
    for name in ("none", "sinusoidal", "alibi"):
        model = build(study.run(rows[name], 0), SMALL).eval()

        def predict(inputs, padding_mask, model=model):
            with torch.no_grad():
                return model(inputs, torch.arange(inputs.shape[1]))

        changes[name] = SMALL._reordering_changes(
            predict, SMALL._faulty_series(1, 0, "test")[0].values, 0
        )
    assert changes["none"]["change when shuffled"] < 1e-5
    assert changes["alibi"]["change when mirrored"] < 1e-5  # blind to direction
    assert changes["alibi"]["change when shuffled"] > 1e-3
    assert changes["sinusoidal"]["change when mirrored"] > 1e-2


@pytest.mark.parametrize(
    "wrong", [{"length": 3}, {"tested": 10}, {"faults": 3}, {"series": 0}, {"lead": 20}]
)
def test_impossible_options_are_told(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Anomaly(**wrong)


def test_the_published_data_have_the_published_sizes():
    data = _data(100)
    assert data.train.shape == (199, 100, 5)
    assert data.test.shape == (2000, 5)
    assert len(windows(data.test, 100, 1)[0]) == 1901


def seasons(values, t):
    """Amplitude and phase of both seasons, the slope of the trend, and what is left, by least
    squares."""
    waves = [wave(2 * np.pi * t / period) for period in (24, 168) for wave in (np.sin, np.cos)]
    (a, b, c, d, slope), *_ = np.linalg.lstsq(
        design := np.stack([*waves, t], 1), values, rcond=None
    )
    fit = [
        np.hypot(a, b),
        np.arctan2(b, a) % (2 * np.pi),
        np.hypot(c, d),
        np.arctan2(d, c) % (2 * np.pi),
        slope,
    ]
    return fit, values - design @ [a, b, c, d, slope]


def test_the_published_series_come_from_the_legacy_generator_feature_by_feature():
    series, draw = _seasonal(10_000, 42), np.random.RandomState(42)
    for values in series.T[:2]:
        drawn = draw.uniform(size=5) * [1.5, 2 * np.pi, 1.5, 2 * np.pi, 0.002] + [
            0.5,
            0,
            0.5,
            0,
            -0.001,
        ]
        fit, noise = seasons(values[LEAD:], np.arange(10_000))
        assert np.allclose(fit, drawn, rtol=0.01, atol=1e-5)
        assert np.corrcoef(noise, draw.normal(0, 0.1, 10_000))[0, 1] > 0.999


def test_the_clean_stretch_before_the_published_series_is_of_the_same_seasons():
    data = _data(100)
    for lead, clean in zip(data.lead.T, data.clean.T, strict=True):
        _, left = seasons(np.concatenate([lead, clean]), np.arange(-LEAD, 2000))
        assert abs(left[:LEAD].std() - 0.1) < 0.01


def test_the_published_faults_are_as_many_as_the_published_precision_and_recall_say():
    """Of 190,100 scores a twentieth is flagged, 9,505; .35402 of them are faults, 3,365; and these
    are .33573 of all faults."""
    data = _data(100)
    faults = windows(data.kinds[:, None] > 0, 100, 1)[0]
    assert (faults.size, faults.sum()) == (190_100, 10_023)
    assert round(3365 / 9505, 4) == 0.3540  # as published
    assert round(3365 / faults.sum(), 4) == 0.3357
    for at in np.flatnonzero(data.kinds == CONTEXTUAL):  # a value from 20 to 49 steps later
        changed = np.flatnonzero(data.test[at] != data.clean[at])
        assert any(data.test[at, f] in data.clean[at + 20 : at + 50, f] for f in changed)


def test_the_published_loss_is_a_mean_of_batches_of_which_the_last_is_smaller():
    task, data = AnomalyFaithful(), _data(100)
    shown = windows(data.test, 100, 1)[0]
    told = task.validate(lambda inputs, padding_mask: torch.zeros_like(inputs), 1, 42)["loss"]
    full = [(shown[at : at + 32] ** 2).mean() for at in range(0, 1888, 32)]
    assert told == pytest.approx((sum(full) + (shown[1888:] ** 2).mean()) / 60, rel=1e-6)
    assert told != pytest.approx((shown**2).mean(), rel=1e-5)


def test_the_published_epochs_show_every_window_at_most_once():
    task = AnomalyFaithful()
    epoch = torch.cat([task.batch(32, 42, step).inputs for step in range(6)])
    assert len(epoch.flatten(1).unique(dim=0)) == 192
    assert not torch.equal(epoch[:32], task.batch(32, 42, 6).inputs)  # another order in the next


def test_published_scores_are_squared_errors_of_every_window_and_a_step_gets_their_mean():
    task, data = AnomalyFaithful(), _data(100)
    tested = task.test(lambda inputs, padding_mask: torch.zeros_like(inputs), 1, 42)
    errors = (torch.from_numpy(data.test).float() ** 2).mean(1).numpy()  # the same in every window
    assert np.allclose(tested.columns["score"], errors, rtol=1e-4)
    assert tested.columns["kind"] == data.kinds.tolist()
    assert tested.scores["change when shuffled"] == 0
    assert (
        abs(tested.scores["recall"] * (data.kinds > 0).mean() / tested.scores["precision"] - 0.05)
        < 0.01
    )


def test_published_models_have_the_true_number_of_parameters():
    counts = {"anomaly-faithful": {"none": 108_933, "sinusoidal": 108_933}}
    counts["slots-faithful"] = {
        "none": 598_019,
        "learned": 602_115,
        "relative": 600_075,
        "continuous": 631_299,
    }
    for name, rows in counts.items():
        study = read_study(name)
        for row in study.rows():
            if row.name in rows:
                model = build(study.run(row, 0), make_task(study.task))
                assert sum(p.numel() for p in model.parameters()) == rows[row.name], row.name
