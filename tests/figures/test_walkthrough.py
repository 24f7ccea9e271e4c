"""The arithmetic that `locant show` writes out: a person can check it."""

from __future__ import annotations

import math

import pytest
import torch
from common_show import WORDS, numbers, show

import locant
from common import EVERY, build
from locant.certification.probe import seeded
from locant.encodings.base import Encoding
from locant.figures.walkthrough import work_out
from locant.shapes import Shape

# ---------------------------------------------------------------- sinusoidal


GOLDEN = {
    4: ("sin(3/1) = 0.1411", "cos(3/1) = −0.9900", "sin(3/100) = 0.0300", "cos(3/100) = 0.9996"),
    8: (
        "sin(3/1) = 0.1411",
        "cos(3/1) = −0.9900",
        "sin(3/10) = 0.2955",
        "cos(3/10) = 0.9553",
        "sin(3/100) = 0.0300",
        "cos(3/100) = 0.9996",
        "sin(3/1000) = 0.0030",
        "cos(3/1000) = 1.0000",
    ),
}


def test_position_3_is_worked_out_at_width_4_and_at_width_8():
    text = show("sinusoidal", *WORDS)
    assert "PE(p, a) = sin(p·ω_c)" in text
    narrow, _, wide = text.partition("Position 3 at width 8")
    for width, part in ((4, narrow), (8, wide)):
        for dimension, line in enumerate(GOLDEN[width]):
            assert f"dimension {dimension}   {line} " in part
    assert "a token of ones becomes [1.1411, 0.0100, 1.0300, 1.9996]" in narrow
    assert "wavelengths in positions: 2π·1 = 6.2832, 2π·100 = 628.3185\n" in narrow


def test_the_derivative_by_position_is_written_out():
    text = show("sinusoidal", "--width", 4, *WORDS)
    for line in (
        "cos(3/1)/1 = −0.9900",
        "−sin(3/1)/1 = −0.1411",
        "cos(3/100)/100 = 0.0100",
        "−sin(3/100)/100 = −0.0003",
    ):
        assert f"derivative: {line}\n" in text


@pytest.mark.parametrize("position", [0, 1, 2.5, 77, 12345, 10**6])
@pytest.mark.parametrize("width", [2, 5, 6])
def test_any_position_and_width_can_be_worked_out(position, width):
    (part,) = numbers("sinusoidal", "--position", position, "--width", width, *WORDS)["worked"]
    assert part["title"] == f"position {position:.10g} at width {width}"
    for at in range(width):
        angle = position * 10_000 ** -((at - at % 2) / width)
        rate = 10_000 ** -((at - at % 2) / width)
        wave, slope = (
            (math.cos(angle), -math.sin(angle)) if at % 2 else (math.sin(angle), math.cos(angle))
        )
        assert part["numbers"]["values"][at] == pytest.approx(wave, abs=1e-6)
        assert part["numbers"]["derivative"][at] == pytest.approx(slope * rate, abs=1e-7)
        assert part["numbers"]["wavelengths"][at] == pytest.approx(2 * math.pi / rate)
        assert f"{'cos' if at % 2 else 'sin'}({position:.10g}/" in part["lines"][at]


def test_options_of_the_encoding_are_heard():
    assert "sin(3/10) = 0.2955" in show("sinusoidal", "--width", 4, "--set", "base=100", *WORDS)
    halves = show("sinusoidal", "--width", 4, "--set", "layout=halves", *WORDS)
    assert "dimension 1   sin(3/100) = 0.0300" in halves


# ---------------------------------------------------------------- the others


def test_rotary_turns_a_query_and_a_key_by_hand():
    text = show("rotary", "--width", 4, *WORDS)
    assert "pair (0, 2) rotates by 1/1 radians per position" in text
    assert "q: 1·cos(3/1) − (−1)·sin(3/1) = −0.8489,  1·sin(3/1) + (−1)·cos(3/1) = 1.1311" in text
    assert (
        "k: 1·cos(1/100) − (−1)·sin(1/100) = 1.0099,  1·sin(1/100) + (−1)·cos(1/100) = −0.9900"
        in text
    )
    assert "score without positions: (1·2 + 2·1 + (−1)·1 + 1·(−1))/√4 = 1.0000" in text
    turned = [(1 + 1j * -1, 2 + 1j * 1, 1.0), (2 + 1j * 1, 1 + 1j * -1, 0.01)]
    after = (
        sum(
            (q * k.conjugate() * complex(math.cos(2 * w), math.sin(2 * w))).real
            for q, k, w in turned
        )
        / 2
    )
    assert f"= {after:.4f}".replace("-", "−") in text
    assert f"100 positions later: {after:.4f}, the same" in text


def test_dimensions_that_do_not_turn_are_nothing_in_json():
    (part,) = numbers(
        "rotary", "--width", 6, "--set", "width=4", "--set", "pairing=interleaved", *WORDS
    )["worked"]
    assert part["numbers"]["turns"] == [
        *[pytest.approx(1)] * 2,
        *[pytest.approx(0.01)] * 2,
        None,
        None,
    ]


def test_pope_is_written_as_sizes_and_angles():
    size = math.log(1 + math.e)
    assert f"q: {size:.6g}·cos(3/1) = {size * math.cos(3):.4f}".replace("-", "−") in show(
        "pope", "--width", 4, *WORDS
    )


def test_alibi_is_written_as_slope_times_distance():
    text = show("alibi", *WORDS)
    assert "the key stands 2 positions before the query" in text
    assert "head 1   −0.25·2 = −0.5 " in text
    assert "head 4   −0.00390625·2 = −0.0078125 " in text
    assert "relative weight e^(−0.5000) = 0.6065" in text


@pytest.mark.parametrize(
    ("position", "key", "said"),
    [
        (20, 0, "bucket 10, counted outwards from the query: the offsets −16 to −22"),
        (3, 1, "bucket 2, counted outwards from the query: that offset alone"),
        (0, 20, "bucket 10, counted outwards from the query: the offsets 16 to 22"),
        (200, 0, "bucket 15, counted outwards from the query: the offsets −91 to −256 and beyond"),
    ],
)
def test_t5_names_the_bucket(position, key, said):
    assert said in show("t5", "--position", position, "--key", key, *WORDS)


def test_t5_adds_the_number_of_the_bucket():
    (part,) = numbers("t5", "--position", 20, "--key", 0, *WORDS)["worked"]
    with seeded(0):
        table = locant.make("t5", dim=64, heads=4, length=100).table
    assert part["numbers"]["bias"] == pytest.approx(table[10].tolist())


def test_learned_shows_its_row_and_the_step_to_the_next():
    (part,) = numbers("learned", "--width", 4, "--seed", 5, *WORDS)["worked"]
    with seeded(5):
        table = locant.make("learned", dim=4, length=100).table
    assert part["numbers"]["values"] == pytest.approx(table[3].tolist())
    assert part["numbers"]["step to 4"] == pytest.approx((table[4] - table[3]).tolist())
    (last,) = numbers("learned", "--width", 4, "--seed", 5, "--position", 99, *WORDS)["worked"]
    assert last["numbers"]["step from 98"] == pytest.approx((table[99] - table[98]).tolist())


def test_what_steps_in_whole_positions_is_given_no_derivative():
    text = show("hybrid", "--width", 4, *WORDS)
    assert "dimension 0   sin(3/1) = 0.1411     step to 4: −0.8979" in text
    assert "dimension 2   sin(3/100) = 0.0300   step to 4: 0.0100\n" in text
    assert "derivative" not in text


def test_shaw_shows_the_vector_that_the_key_gets():
    score, value = numbers("shaw", "--width", 4, *WORDS)["worked"]
    with seeded(0):
        shaw = locant.make("shaw", dim=4, length=100)
    assert score["numbers"]["key_gets"] == pytest.approx(shaw.keys[14].tolist(), abs=1e-6)
    assert value["numbers"]["value_gets"] == pytest.approx(shaw.values[14].tolist(), abs=1e-6)
    gain = (shaw.keys[14] @ torch.tensor([1.0, 2.0, -1.0, 1.0])).item() / 2
    assert score["numbers"]["after"] == pytest.approx(1 + gain, abs=1e-6)


def test_without_positions_the_score_is_the_contents():
    assert "= 1.0000, at these positions and at any other" in show("none", "--width", 4, *WORDS)


@pytest.mark.parametrize("name", EVERY)
def test_every_encoding_is_worked_out(name):
    parts = work_out(build(name))
    assert parts
    for part in parts:
        assert all(part.lines)
        assert not {"nan", "inf"} & set(" ".join(part.lines).replace(",", " ").split())


def test_what_is_written_about_an_encoding_is_true_of_it():
    """A wave that is found but does not give the value is not written; the value still is."""

    class Jump(Encoding):
        extrapolates = True

        def embed(self, x, pos):
            return x + torch.where(pos < 5_000, pos / 10, pos).sin()[..., None].to(x.dtype)

    near, far = (work_out(Jump(Shape(2)), position)[0].lines[0] for position in (3, 5_001))
    assert near.startswith("dimension 0   sin(3/10) = 0.2955")
    assert far.startswith(f"dimension 0   {math.sin(5_001):.4f} ".replace("-", "−"))
