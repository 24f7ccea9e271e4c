"""The numbers behind the pictures, each against the same thing written a second way."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import numpy as np
import pytest
import torch

import locant
from common import EVERY, build
from locant.encodings.base import Encoding
from locant.figures.data import catalog, measure, measure_all
from locant.figures.data.base import NotApplicable
from locant.shapes import Shape

FIGURES = Path(locant.__file__).parent / "figures"
FILES = [*(FIGURES / "data").glob("*.py"), *(FIGURES / "walkthrough").glob("*.py")]


def seen(name, picture, **size):
    """The numbers of one picture."""
    return measure(picture, build(name, **size))


@pytest.fixture(scope="module")
def sinusoidal():
    return measure_all(build("sinusoidal", length=40))[0]


@pytest.mark.parametrize("name", EVERY)
def test_every_encoding_has_at_least_three_pictures_and_a_reason_for_each_other(name):
    drawn, left_out = measure_all(build(name, length=24))
    assert len(drawn) >= 3
    assert sorted([*drawn, *left_out]) == sorted(catalog())
    assert all(reason and reason[0].islower() for reason in left_out.values())
    for numbers in drawn.values():
        arrays = [value for value in numbers.values() if isinstance(value, np.ndarray)]
        assert all(np.isfinite(array).all() for array in arrays)


def test_what_is_drawn_goes_by_the_hooks_and_never_by_a_name():
    assert len(FILES) > 15
    for file in FILES:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        code = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        assert not set(locant.names()) & set(code), file


def test_looking_changes_nothing_in_the_encoding():
    encoding = build("hybrid").train()
    before = {name: value.clone() for name, value in encoding.state_dict().items()}
    measure_all(encoding)
    assert encoding.training
    assert all(parameter.requires_grad for parameter in encoding.parameters())
    assert all((value == before[name]).all() for name, value in encoding.state_dict().items())
    assert encoding.table.dtype == torch.float32


def test_the_heat_map_holds_the_sines_and_cosines(sinusoidal):
    values = sinusoidal["heat"]["values"]
    assert values.shape == (40, 32)
    assert values[7, 10] == pytest.approx(math.sin(7 / 10_000 ** (10 / 32)))
    assert values[7, 11] == pytest.approx(math.cos(7 / 10_000 ** (10 / 32)))


@pytest.mark.parametrize("name", ["sinusoidal", "sinusoidal halves"])
def test_sines_and_cosines_are_drawn_apart(name):
    panels = seen(name, "waves")["panels"]
    assert list(panels) == ["sine", "cosine"]
    assert all(abs(wave[0]) < 1e-9 for wave in panels["sine"].values())
    assert all(wave[0] == pytest.approx(1) for wave in panels["cosine"].values())
    assert {len(lines) for lines in panels.values()} == {4}


def test_a_turning_pair_is_drawn_as_the_cosine_and_sine_of_its_angle():
    waves = seen("rotary", "waves")
    at, panels = waves["positions"], waves["panels"]
    assert panels["cosine"]["pair (1, 5)"] == pytest.approx(np.cos(at / 10))
    assert panels["sine"]["pair (1, 5)"] == pytest.approx(np.sin(at / 10))


def test_the_waves_that_transformer_xl_puts_beside_its_keys_are_drawn():
    encoding = locant.make("transformer_xl", dim=8, heads=2, length=40)  # keys are 4 + 8 wide
    waves = measure("waves", encoding)
    at, panels = waves["positions"], waves["panels"]
    assert list(panels["cosine"]) == [f"dimension {4 + pair}" for pair in range(4)]
    assert list(panels["sine"]) == [f"dimension {8 + pair}" for pair in range(4)]
    for pair in range(4):
        angle = at / 10**pair
        assert panels["cosine"][f"dimension {4 + pair}"] == pytest.approx(np.cos(angle))
        assert panels["sine"][f"dimension {8 + pair}"] == pytest.approx(np.sin(angle))


@pytest.mark.parametrize("length", [8, 24, 64])
def test_every_encoding_with_vectors_has_lines_in_every_panel_of_waves(length):
    for name in locant.names():
        try:
            panels = measure("waves", locant.make(name, dim=32, heads=4, length=length))["panels"]
        except NotApplicable:
            continue
        assert panels, name
        assert all(panels.values()), name


def test_keys_that_rotate_and_grow_are_drawn_as_they_are():
    waves = measure("waves", locant.make("xpos", dim=8, heads=1, length=24))
    growth = (0.4 / 1.4) ** (-(waves["positions"] - 12) / 512)
    at = waves["positions"]
    expected = growth * (np.cos(at) - np.sin(at))
    assert list(waves["panels"]) == [""]
    assert waves["panels"][""]["dimension 0"] == pytest.approx(expected)


@pytest.mark.parametrize(("name", "width"), [("sinusoidal", 32), ("rotary interleaved", 8)])
def test_wavelengths_are_2π_times_the_base_to_the_power_of_2c_by_the_width(name, width):
    found = seen(name, "wavelengths")
    expected = [2 * math.pi * 10_000 ** (2 * (column // 2) / width) for column in range(width)]
    assert found["dimensions"].tolist() == list(range(width))
    assert found["wavelengths"] == pytest.approx(expected, rel=1e-9)


def test_every_panel_of_waves_has_lines_and_shows_the_encoding_not_one_odd_dimension():
    for name in ("transformer_xl", "xpos"):
        panels = seen(name, "waves")["panels"]
        assert panels
        assert all(len(lines) == 4 for lines in panels.values()), name


def test_waves_that_are_none_have_no_wavelength():
    for name in ("learned", "continuous", "fourier"):
        with pytest.raises(NotApplicable, match="none of its dimensions is a plain wave"):
            seen(name, "wavelengths")


def test_similarity_is_one_on_the_diagonal_and_symmetric(sinusoidal):
    cosines = sinusoidal["similarity"]["cosines"]
    assert np.diag(cosines) == pytest.approx(1)
    assert cosines == pytest.approx(cosines.T)
    assert cosines[3, 9] == pytest.approx(
        np.mean([math.cos(6 / 10_000 ** (2 * c / 32)) for c in range(16)])
    )


def test_the_product_depends_on_the_distance_alone_for_waves_and_not_for_a_table(sinusoidal):
    products = sinusoidal["product"]["products"]
    assert products == pytest.approx(np.tile(products[0], (3, 1)))
    assert not np.allclose(*seen("learned", "product")["products"][:2], atol=0.1)


def test_the_offset_is_a_matrix_of_two_by_two_rotations(sinusoidal):
    found = sinusoidal["offset"]
    matrix, k = found["transformation"], found["offset"]
    expected = np.zeros((32, 32))
    for c in range(16):
        turn = k / 10_000 ** (2 * c / 32)
        block = [[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]]
        expected[2 * c : 2 * c + 2, 2 * c : 2 * c + 2] = block
    assert matrix == pytest.approx(expected, abs=1e-6)
    values = sinusoidal["heat"]["values"]
    assert values[k:] == pytest.approx(values[:-k] @ matrix.T, abs=1e-6)


@pytest.mark.parametrize("name", ["learned", "continuous", "fourier", "hybrid"])
def test_where_no_one_matrix_moves_every_position_none_is_drawn(name):
    with pytest.raises(NotApplicable, match="matrix"):
        seen(name, "offset")


def test_vectors_that_leave_the_matrix_open_have_none():
    with pytest.raises(NotApplicable, match="its 95 vectors do not determine which matrix"):
        # equal to the waves at the start
        measure("offset", locant.make("hybrid", dim=64, heads=4, length=100))


def test_the_small_matrix_is_the_corner_of_the_vectors_or_of_the_bias(sinusoidal):
    assert sinusoidal["numbers"]["values"] == pytest.approx(sinusoidal["heat"]["values"][:11, :11])
    apart = np.abs(np.subtract.outer(np.arange(11), np.arange(11)))
    assert seen("alibi", "numbers")["values"] == pytest.approx(-0.25 * apart)


def test_the_score_of_alibi_falls_by_the_slope():
    found = seen("alibi", "score")
    slopes = np.array([0.25, 0.0625, 0.015625, 0.00390625])
    assert found["scores"] == pytest.approx(
        8**0.5 - slopes[:, None] * np.abs(found["distances"]), abs=1e-6
    )


def test_the_score_of_rotary_is_a_sum_of_cosines():
    found = seen("rotary", "score")
    angles = np.multiply.outer(10_000.0 ** (-np.arange(4) / 4), found["distances"])
    assert found["scores"][2] == pytest.approx(2 * np.cos(angles).sum(0) / 8**0.5)


@pytest.mark.parametrize("name", ["t5", "relative", "alibi two-sided"])
def test_the_bias_of_every_head_is_what_the_encoding_gives(name):
    encoding, at = build(name), torch.arange(64)
    found = measure("bias", encoding)["bias"]
    assert found == pytest.approx(encoding.bias(at, at)[0].detach().numpy())


def test_a_bias_that_all_heads_share_is_drawn_for_each():
    class Near(Encoding):
        extrapolates = True

        def bias(self, q_pos, k_pos):
            return -(q_pos[:, None] - k_pos[None, :]).abs()  # (Q, K), whole numbers

    found = measure_all(Near(Shape(8, 4, 16)))[0]["bias"]["bias"]
    assert found.shape == (4, 16, 16)
    assert (found == found[0]).all()


@pytest.mark.parametrize("name", ["rotary", "rotary interleaved", "rotary partial"])
def test_a_turned_pair_keeps_its_length_and_turns_by_position_times_frequency(name):
    found = measure("rotation", build(name), position=5, key=2)
    for ends, position in ((found["queries"], 5), (found["keys"], 2)):
        start, end = ends[..., 0] + 1j * ends[..., 1]
        assert np.abs(end) == pytest.approx(np.abs(start))
        assert end / start == pytest.approx(np.exp(1j * position * found["turns"]))


def test_the_resolution_is_the_slope_for_alibi_and_nothing_without_positions():
    changes = seen("alibi", "resolution")["changes"]
    assert changes == pytest.approx(
        np.tile([[0.25], [0.0625], [0.015625], [0.00390625]], 63), rel=1e-4
    )
    assert not seen("none", "resolution")["changes"].any()


def test_distances_that_share_a_bucket_or_lie_past_the_table_cannot_be_told_apart():
    shaw = seen("shaw", "resolution")["changes"]
    assert shaw[:, :16].min() > 0.01
    assert shaw[:, 16:] == pytest.approx(0, abs=1e-12)
    t5 = seen("t5", "resolution")["changes"]
    assert np.flatnonzero(t5.any(0)).tolist() == [
        0,
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        11,
        15,
        22,
        31,
        45,
    ]  # the last of each bucket


@pytest.mark.parametrize("name", EVERY)
def test_token_and_position_make_up_both(name):
    parts = seen(name, "mixing")["parts"]
    assert parts["token"] + parts["position"] == pytest.approx(parts["token + position"])
    assert bool(parts["position"].any()) == (name.split()[0] != "none")


def test_what_acts_behind_the_softmax_is_shown_in_the_outputs():
    encoding = build("erpe")
    mixed = seen("erpe", "mixing")
    assert mixed["what"] == "outputs of head 1"
    v = mixed["parts"]["token"].shape[1]
    assert v == encoding.shape.head


class Stretch(Encoding):
    """A user's own that adds nothing: it stretches the token."""

    extrapolates = real_positions = True

    def embed(self, x, pos):
        return x * (1 + pos[..., None].to(x.dtype) / 10)


class Appended(Encoding):
    """A user's own that appends the position, on two axes."""

    axes = 2
    extrapolates = True

    def __init__(self, shape):
        super().__init__(shape)
        self.added_width = 2

    def embed(self, x, pos):
        return torch.cat([x, pos.to(x.dtype).expand(*x.shape[:-1], 2)], -1)


def test_a_users_own_encoding_has_its_pictures():
    drawn = measure_all(Stretch(Shape(8, 2, 16)))[0]
    assert drawn["heat"]["values"][:, 3] == pytest.approx(1 + np.arange(16) / 10)
    drawn = measure_all(Appended(Shape(8, 2, 16)))[0]
    assert drawn["heat"]["values"][5].tolist() == [5, 0]
    assert drawn["score"]["scores"].shape == (2, 31)


@pytest.mark.parametrize("name", locant.names())
@pytest.mark.parametrize("length", [2, 3, 7])
def test_few_positions_are_enough(name, length):
    encoding = build(name, dim=8, heads=2, length=length)
    assert len(measure_all(encoding, position=1, key=0)[0]) >= 3
