"""Decoding tasks: what is drawn is what is defined, nothing leaks, longer rows are judged."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import one_hot

from locant.lab.tasks._own_data import read_text
from locant.lab.tasks._sequence_task import IGNORE_INDEX
from locant.lab.tasks.base import generator, make_task

STRINGS = ("copy", "reverse", "bucket-sort", "missing-duplicate")
NAMES = ("lag", "flipflop", "bit-parity", *STRINGS)
LONGER = {"lag": (40,), "flipflop": (80,), "bit-parity": (12,)}


def lag(row, task):
    return [row[t - task.back] if t >= task.back else None for t in range(len(row))]


def flipflop(row, task):
    answers, kept = [], None
    for does, bit in zip(row[::2], row[1::2], strict=True):
        answers += [kept if does == 2 else None, None]
        kept = bit - 3 if does == 0 else kept
    return answers


def bit_parity(row, task):
    return [sum(row[: t + 1]) % 2 for t in range(len(row))]


def string(row, task):
    """The symbols between the marks, and where the answers begin."""
    separator = row.index(task.alphabet + 1)
    return row[1:separator], separator


def answers_from(row, task, wanted):
    _, separator = string(row, task)
    answers = [None] * len(row)
    answers[separator : separator + len(wanted)] = wanted
    return answers


def copy(row, task):
    return answers_from(row, task, string(row, task)[0])


def reverse(row, task):
    return answers_from(row, task, string(row, task)[0][::-1])


def bucket_sort(row, task):
    return answers_from(row, task, sorted(string(row, task)[0]))


def missing_duplicate(row, task):
    symbols, separator = string(row, task)
    answers = [None] * len(row)
    for number, symbol in enumerate(symbols):
        if row[separator + 1 + number] == task.symbols - 1:
            answers[separator + 1 + number] = symbol
    return answers


BY_DEFINITION = {
    "lag": lag,
    "flipflop": flipflop,
    "bit-parity": bit_parity,
    "copy": copy,
    "reverse": reverse,
    "bucket-sort": bucket_sort,
    "missing-duplicate": missing_duplicate,
}


def task_of(name, **options):
    return make_task(name, longer=LONGER.get(name, (48,)), **options)


def knows(task, name):
    """A model that answers every row by the task's definition."""

    def predict(inputs, padding_mask, times=None):
        output = torch.zeros(*inputs.shape, task.outputs)
        for row, out in zip(inputs.tolist(), output, strict=True):
            for t, answer in enumerate(BY_DEFINITION[name](row, task)):
                if answer is not None:
                    out[t, answer] = 1.0
        return output

    return predict


@pytest.mark.parametrize("name", NAMES)
def test_targets_are_what_the_definition_says(name):
    task = task_of(name)
    rows = task.sample(200, generator("test of targets"))
    for row, target in zip(rows.inputs.tolist(), rows.target.tolist(), strict=True):
        answers = BY_DEFINITION[name](row, task)
        assert [IGNORE_INDEX if one is None else one for one in answers] == target


@pytest.mark.parametrize("name", NAMES)
def test_who_knows_the_answer_is_right_at_every_length_and_a_constant_is_at_chance(name):
    task = task_of(name)
    (longer,) = task.longer
    scores = task.test(knows(task, name), 200, 0).scores
    assert scores["accuracy"] == scores[f"accuracy at {longer}"] == 1.0

    def constant(inputs, padding_mask, times=None):
        return one_hot(torch.zeros_like(inputs), task.outputs).double()

    scores = task.test(constant, 2000, 0).scores
    assert scores["accuracy"] < task.chance + 0.03
    assert scores[f"accuracy at {longer}"] < task.chance + 0.05


@pytest.mark.parametrize("name", NAMES)
def test_the_token_at_hand_does_not_leak_the_answer(name):
    """The best guess from the token that the answer stands at; sorted strings are the exception."""
    task = task_of(name)
    rows = task.sample(6000, generator("test of leaks"))
    scored = rows.target != IGNORE_INDEX
    tokens, answers = rows.inputs[scored], rows.target[scored]
    table = torch.zeros(task.symbols, task.outputs).index_put_(
        (tokens, answers), torch.ones(len(tokens)), accumulate=True
    )
    guessed = float(table.max(1).values.sum() / table.sum())
    if name == "bucket-sort":
        assert guessed < 0.75  # a sorted string goes on at or above the last symbol
    elif name == "bit-parity":
        assert guessed < 0.53 + 0.5 / task.length  # the first bit is its own parity
    else:
        assert guessed < task.chance + 0.03


def test_repeating_or_moving_on_gives_a_bucket_sort_one_half():
    task = make_task("bucket-sort", length=64, shortest=31)
    rows = task.sample(300, generator("test of sorting"))
    again = one_hot(rows.inputs.clamp(max=task.alphabet - 1), task.outputs).double()
    assert task.score(again, rows.target)["accuracy"] < 0.51
    changes = rows.target.clone().clamp(min=0)
    for row, symbols in zip(changes, rows.inputs.tolist(), strict=True):
        present = sorted(string(symbols, task)[0])
        for t, token in enumerate(symbols):
            later = [one for one in present if token < task.alphabet and one > token]
            row[t] = later[0] if later else present[0]
    on = task.score(one_hot(changes, task.outputs).double(), rows.target)["accuracy"]
    assert on == pytest.approx(0.5, abs=0.01)


def test_longer_rows_count_from_their_half():
    task = make_task("lag", length=8, longer=(16,))

    def late(inputs, padding_mask, times=None):
        output = knows(task, "lag")(inputs, padding_mask)
        if inputs.shape[1] == 16:
            output[:, :8] = 0.0
        return output

    assert task.test(late, 64, 0).scores["accuracy at 16"] == 1.0
    early = task.lengthened(16).sample(4, generator("x"))
    assert (task.judged(early.target)[:, :8] == IGNORE_INDEX).all()
    assert (task.judged(early.target)[:, 8:] != IGNORE_INDEX).all()


@pytest.mark.parametrize("name", ["copy", "lag"])
def test_random_positions_come_beside_the_same_data(name):
    plain, drawn = task_of(name), task_of(name, sampler="randomized")
    assert drawn.max_length == 2 * plain.max_length
    batch, told = plain.batch(16, 3, 5), drawn.batch(16, 3, 5)
    assert (batch.inputs == told.inputs).all()
    assert (batch.target == told.target).all()
    assert batch.times is None
    assert (told.times.diff() > 0).all()
    assert int(told.times.max()) < drawn.max_length
    assert (told.times[0] != told.times[1]).any()
    assert (told.times != drawn.batch(16, 3, 6).times).any()


def test_skips_are_for_training_alone():
    task = task_of("lag", sampler="skips")
    assert task.max_length == 40
    assert int(task.batch(16, 0, 0).times.max()) > 31
    seen = []

    def predict(inputs, padding_mask, times=None):
        seen.append(times)
        return torch.zeros(*inputs.shape, task.outputs)

    task.validate(predict, 4, 0)
    task.test(predict, 4, 0)
    for times in seen:
        assert (times == torch.arange(times.shape[1])).all()


def test_wrong_options_are_refused():
    with pytest.raises(ValueError, match="randomized, skips"):
        make_task("lag", sampler="random")
    with pytest.raises(ValueError, match="at least 33"):
        make_task("lag", longer=[32])
    with pytest.raises(ValueError, match="up to 3 symbols"):
        make_task("copy", length=8, shortest=4)


def test_text_is_scored_on_the_same_bytes_at_every_length(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(np.random.default_rng(0).integers(97, 123, 40_000, np.uint8).tobytes())
    task = make_task("text-lengths", path=str(path), length=32, longer=[64, 128], scored=8)
    part = read_text(str(path)).test
    short, long = task.windows(part, 20, 32), task.windows(part, 20, 128)
    assert (short.target[:, -8:] == long.target[:, -8:]).all()
    assert (long.inputs[:, -32:] == short.inputs).all()
    assert (long.inputs[:, 1:] == long.target[:, :-1]).all()

    def by_length(inputs, padding_mask, times=None):
        """Certain of the right byte in short windows, without a clue in longer ones."""
        nothing = torch.zeros(*inputs.shape, 256)
        if inputs.shape[1] > 32:
            return nothing
        following = torch.cat([inputs[:, 1:], short.target[: len(inputs), -1:]], 1)
        return 1000 * one_hot(following, 256).float()

    scores = task.test(by_length, 20, 0).scores
    assert scores["bits a byte"] == pytest.approx(0, abs=1e-6)
    assert scores["bits a byte at 64"] == pytest.approx(8)
    assert scores["change to 128"] == pytest.approx(8)
