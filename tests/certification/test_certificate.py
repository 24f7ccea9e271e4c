"""Certificates: what is measured and how it is judged."""

from __future__ import annotations

import copy
import json
import math
import re
from types import ModuleType

import pytest
import torch
from torch import nn

import locant
from locant.certification.certificate import (
    FAILS,
    HOLDS,
    NOT_CLAIMED,
    NOT_JUDGED,
    SEEN,
    certify,
    judge,
    property_names,
)
from locant.certification.probe import PropertyResult
from locant.certification.properties.mixed_terms import angle, angle_from_lengths
from locant.encodings.base import Encoding, difference
from locant.shapes import Shape
from locant.testing import assert_certified

SMALL = {"dim": 16, "heads": 2, "length": 32}
SWIFT = [name for name in property_names() if name not in ("solves", "longer", "cost", "distinct")]


class Sum(Encoding):
    """A price for i + j in place of i − j."""

    shift_invariant = True
    real_positions = True

    def bias(self, q_pos, k_pos):
        return -difference(q_pos, -k_pos).float() / 100


class Broken(Encoding):
    def embed(self, x, pos):
        raise RuntimeError("the dog ate it\nand more")


class NotANumber(Encoding):
    def embed(self, x, pos):
        return x * float("nan")


class Noisy(Encoding):
    def embed(self, x, pos):
        return x + torch.randn_like(x) + pos[..., None]


@pytest.fixture(scope="module")
def paper():
    """Every property of a small rotary encoding."""
    return certify(locant.make("rotary", **SMALL), effort="quick", name="rotary")


@pytest.fixture(scope="module")
def failing():
    return certify(
        Sum(Shape(**SMALL)), effort="quick", only=["shift", "order", "reach", "nearness"]
    )


# ---------------------------------------------------------------- the certificate


def test_a_certificate_lists_what_holds_and_what_fails(paper, failing):
    assert [finding.name for finding in paper.findings] == property_names()
    assert paper.fails == []
    assert {"order", "shift", "cache", "precision"} <= set(paper.holds)
    assert failing.fails == ["shift"]
    assert failing["shift"].verdict == FAILS
    assert failing["nearness"].verdict == NOT_CLAIMED
    assert failing["reach"].verdict == SEEN
    assert failing["shift"].message.startswith("Scores move by ")


def test_an_unknown_line_of_a_certificate_is_answered_with_those_there_are(failing):
    with pytest.raises(ValueError, match=r"'shfit'. Did you mean 'shift'\?\n  Known: shift, order"):
        failing["shfit"]


def test_a_certificate_is_plain_values_that_json_can_hold(paper, failing):
    for one in (
        paper,
        failing,
        certify(NotANumber(Shape(**SMALL)), effort="quick", only=["order", "given", "gradients"]),
    ):
        said = json.loads(json.dumps(one.to_dict(), allow_nan=False))
        assert said["fails"] == one.fails
        assert said["holds"] == one.holds
        assert [finding["name"] for finding in said["findings"]] == [
            finding.name for finding in one.findings
        ]
        assert said["shape"] == SMALL
        assert said["versions"]["torch"] == str(torch.__version__)


def test_a_certificate_as_text_has_a_line_for_every_property(paper, failing):
    text = str(paper)
    assert text.startswith("Certificate of rotary (dim 16, heads 2, length 32; quick, seed 0)")
    for finding in paper.findings:
        assert f"{finding.mark} {finding.name} " in text
        assert finding.message in text
    assert str(failing).endswith("1 holds, 1 fails: shift")


def test_bounds_are_told_in_words(paper):
    assert paper["shift"].bound == "0.0001 in float32, 0.1 in bfloat16"
    assert not any(finding.bound.startswith("{") for finding in paper.findings)


# ---------------------------------------------------------------- certify


@pytest.mark.parametrize(
    ("settings", "fragment"),
    [
        (
            {"only": ["shfit"]},
            "no property is called 'shfit'. Did you mean 'shift'?\n  Known: order, solves",
        ),
        ({"only": ["order", "zebra"]}, "no property is called 'zebra'.\n"),
        ({"effort": "quik"}, "effort='quik'. Did you mean 'quick'?\n  Allowed: quick, usual, full"),
    ],
)
def test_what_cannot_be_certified_is_answered_with_what_can(settings, fragment):
    seen = []
    with pytest.raises(ValueError, match=re.escape(fragment)):
        certify(locant.make("rotary", **SMALL), progress=seen.append, **settings)
    assert seen == []  # told before anything runs


@pytest.mark.parametrize("thing", ["rotary", nn.Linear(4, 4), None])
def test_what_is_no_encoding_is_answered_with_adapt(thing):
    with pytest.raises(ValueError, match=rf"Got {type(thing).__name__} instead.\n.*locant.adapt"):
        certify(thing)


def test_one_property_may_be_named_without_a_list():
    assert certify(locant.make("rotary", **SMALL), effort="quick", only="shift").holds == ["shift"]


def test_progress_names_each_property_as_it_comes():
    seen = []
    certify(
        locant.make("alibi", **SMALL),
        effort="quick",
        only=["shift", "causal"],
        progress=seen.append,
    )
    assert seen == ["shift", "causal"]


def test_certifying_changes_neither_the_encoding_nor_torchs_random_state():
    encoding = locant.make("t5", **SMALL).train()
    weights, drawn = copy.deepcopy(encoding.state_dict()), torch.random.get_rng_state()
    held = {key: repr(value) for key, value in vars(encoding).items()}
    assert certify(encoding, effort="quick").fails == []
    assert torch.equal(torch.random.get_rng_state(), drawn)
    assert {key: repr(value) for key, value in vars(encoding).items()} == held
    assert encoding.training
    for key, weight in encoding.state_dict().items():
        assert torch.equal(weight, weights[key])
    assert all(parameter.grad is None for parameter in encoding.parameters())


def test_an_encoding_that_draws_in_forward_leaves_torchs_random_state_alone_and_is_caught():
    drawn = torch.random.get_rng_state()
    one, two = (
        certify(Noisy(Shape(**SMALL)), effort="quick", only=["given", "pure"]) for _ in range(2)
    )
    assert torch.equal(torch.random.get_rng_state(), drawn)
    assert one.fails == ["given", "pure"]
    assert one == two


def test_the_same_seed_gives_the_same_findings_and_another_one_others():
    encoding = locant.make("t5", **SMALL)
    one, two = (certify(encoding, effort="quick", only=SWIFT) for _ in range(2))
    assert one.findings == two.findings
    assert (
        certify(encoding, effort="quick", only=["order"], seed=3)["order"].numbers
        != one["order"].numbers
    )


def test_some_properties_give_what_all_of_them_give(paper):
    alone = certify(locant.make("rotary", **SMALL), effort="quick", only=["cache", "shift"])
    assert [alone["cache"], alone["shift"]] == [paper["cache"], paper["shift"]]


def test_what_an_encoding_raises_is_a_finding():
    paper = certify(Broken(Shape(**SMALL)), effort="quick")
    assert len(paper.findings) == len(property_names())
    assert "given" in paper.fails
    assert paper["given"].message == "It raised RuntimeError: the dog ate it"
    assert paper["given"].value == "error"
    assert paper["shift"].verdict == NOT_CLAIMED


# ---------------------------------------------------------------- the verdict


def made(claim: str, name: str = "shift") -> ModuleType:
    module = ModuleType(f"locant.certification.properties.{name}")
    module.CLAIM, module.NAME = claim, name
    return module


@pytest.mark.parametrize(
    ("claim", "name", "claims", "ok", "verdict"),
    [
        ("law", "given", {}, True, HOLDS),
        ("law", "given", {}, False, FAILS),
        ("shift_invariant", "shift", {"shift_invariant": True}, True, HOLDS),
        ("shift_invariant", "shift", {"shift_invariant": True}, False, FAILS),
        ("shift_invariant", "shift", {}, True, NOT_CLAIMED),
        ("shift_invariant", "shift", {}, False, NOT_CLAIMED),
        ("tells_order", "order", {"tells_order": False}, True, FAILS),  # it denies what it does
        ("tells_order", "order", {"tells_order": False}, False, NOT_CLAIMED),
        ("tells_direction", "direction", {"tells_direction": False}, True, FAILS),
        ("tells_direction", "solves", {"tells_direction": False}, True, NOT_CLAIMED),
        ("seen", "reach", {}, True, SEEN),
        ("seen", "reach", {}, False, SEEN),
        ("law", "examples", {}, None, NOT_JUDGED),
        ("seen", "longer", {}, None, NOT_JUDGED),
    ],
)
def test_a_measurement_and_a_claim_make_a_verdict(claim, name, claims, ok, verdict):
    encoding = locant.adapt(nn.Identity(), dim=8, **claims)
    assert judge(made(claim, name), encoding, PropertyResult(ok, "", "")) == verdict


def test_the_value_of_another_position_fails_whatever_is_claimed():
    clipped = PropertyResult(None, "clips", "", {"clips": True})
    assert (
        judge(made("extrapolates", "beyond"), locant.adapt(nn.Identity(), dim=8), clipped) == FAILS
    )


# ---------------------------------------------------------------- past the length

TRAINABLE = {"dim": 32, "heads": 4, "length": 256}


def test_a_model_that_has_not_learned_its_own_length_gets_no_tick_for_longer_rows():
    paper = certify(locant.make("none", **TRAINABLE), effort="quick", only=["beyond", "longer"])
    assert paper.holds == []
    longer = paper["longer"]
    assert (longer.verdict, longer.value) == (NOT_JUDGED, "unsolved")
    assert 0.125 < longer.numbers["accuracy at 1x"] < 0.95
    loss = longer.numbers["loss at 1x"]
    assert longer.message.startswith(
        "Not judged: in 300 steps it did not solve its own length, 32 tokens ("
    )
    assert f"loss {loss:.2f}; a guess: 12.5%, 2.08; solved from 95% on)." in longer.message


@pytest.mark.parametrize(
    ("name", "outcome"), [("shaw", "holds"), ("t5", "degrades"), ("learned", "fails")]
)
def test_a_model_that_has_solved_its_own_length_is_told_what_becomes_of_longer_rows(name, outcome):
    longer = certify(locant.make(name, **TRAINABLE), effort="quick", only="longer")["longer"]
    assert (longer.verdict, longer.value) == (SEEN, outcome)
    assert longer.numbers["accuracy at 1x"] >= 0.95
    past = [longer.numbers[f"accuracy at {times}x"] for times in (2, 4, 8)]
    assert {"holds": past[2] >= 0.95, "degrades": past[0] >= 0.5 > past[2], "fails": past[0] < 0.2}[
        outcome
    ]
    listed = ", ".join(
        f"{share:.0%} at {times}×" for share, times in zip(past, (2, 4, 8), strict=True)
    )
    assert longer.message.endswith(
        f"a guess: 12.5%, 2.08; solved from 95% on). Past that length it {outcome}: {listed} right."
    )


def test_positions_that_end_too_early_for_longer_rows_are_not_judged_by_them():
    longer = certify(locant.make("learned", **SMALL), effort="quick", only="longer")["longer"]
    assert longer.verdict == NOT_JUDGED
    assert (
        longer.message
        == "Not judged: its positions end at 31, and rows of 64 tokens are the shortest tried."
    )


def test_values_that_are_not_finite_past_the_length_fail():
    class Burst(Encoding):
        extrapolates = True

        def embed(self, x, pos):
            return x + (
                pos[:, None]
                if int(pos.max()) < 2 * self.shape.length
                else pos[:, None] * float("inf")
            )

    beyond = certify(Burst(Shape(**SMALL)), effort="quick", only="beyond")["beyond"]
    assert (beyond.verdict, beyond.value) == (FAILS, "not finite")


# ---------------------------------------------------------------- locant.testing


def test_assert_certified_returns_the_certificate_of_what_holds():
    assert assert_certified(locant.make("alibi", **SMALL), only=["shift", "nearness"]).holds == [
        "shift",
        "nearness",
    ]


def test_assert_certified_names_the_property_and_its_measurement():
    with pytest.raises(AssertionError) as caught:
        assert_certified(Sum(Shape(**SMALL)), only=["order", "shift"])
    text = str(caught.value)
    assert text.startswith("Sum fails 1 of its properties:\n  shift: Scores move by ")
    assert "It should hold that: Moving every position by the same amount changes no score." in text


# ---------------------------------------------------------------- mixing


def test_the_tutorials_lengths_give_its_angle():
    assert round(angle_from_lengths(5.5801, 8.0000, 10.1047), 2) == 52.12
    turn = math.radians(52.12)
    token, total = (
        torch.tensor([5.5801, 0.0]),
        10.1047 * torch.tensor([math.cos(turn), math.sin(turn)]),
    )
    assert float((total - token).norm()) == pytest.approx(
        8.0000, abs=1e-3
    )  # the position's own length
    assert angle(token[None], total[None]) == pytest.approx(52.12, abs=1e-3)


def test_mixing_measures_the_angle_that_the_lengths_give():
    numbers = certify(locant.make("sinusoidal", **SMALL), effort="quick", only=["mixing"])[
        "mixing"
    ].numbers
    assert numbers["position"] == pytest.approx(
        math.sqrt(16 / 2), rel=1e-6
    )  # half a square for each wave
    assert 0 < numbers["degrees"] < 90


@pytest.mark.parametrize("dimensions", [2, 4])
def test_a_bias_may_leave_out_leading_dimensions(dimensions):
    class Short(Encoding):
        shift_invariant = extrapolates = cacheable_keys = prefers_near = True
        tells_direction = False

        def bias(self, q_pos, k_pos):
            price = -(q_pos[..., :, None] - k_pos[..., None, :]).abs() / 8.0
            return price if price.dim() == dimensions else difference(q_pos, k_pos).abs() / -8.0

    skip = ("solves", "longer", "cost")
    names = [name for name in property_names() if name not in skip]
    assert certify(Short(Shape(dim=16, heads=2, length=32)), effort="quick", only=names).fails == []


class Distance(Encoding):
    """A price for |m − n|, and no position past the length."""

    tells_direction = False

    def bias(self, q_pos, k_pos):
        return -difference(q_pos, k_pos).abs().float()


@pytest.mark.parametrize("seed", range(8))
def test_order_is_seen_in_three_positions_whatever_is_drawn(seed):
    for encoding in (Distance(Shape(16, 2, 3)), locant.make("learned", dim=16, heads=2, length=3)):
        assert (
            certify(encoding, effort="quick", only=["order"], seed=seed)["order"].verdict == HOLDS
        )


@pytest.mark.parametrize("length", [1, 2])
def test_the_order_of_fewer_than_three_positions_is_not_judged(length):
    for encoding in (
        Distance(Shape(16, 2, length)),
        locant.make("learned", dim=16, heads=2, length=length),
    ):
        found = certify(encoding, effort="quick", only=["order"])["order"]
        assert found.verdict == NOT_JUDGED
        assert "fewer than three positions" in found.message


def test_a_certificate_of_no_property_at_all_is_refused():
    with pytest.raises(ValueError, match="no property at all"):
        locant.testing.assert_certified(locant.make("alibi", dim=8, heads=2), only=[])
