"""`locant show`: the arithmetic a person can check, the pictures, and what is said when it cannot be done."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import pytest
import torch
from typer.testing import CliRunner

import locant
from common import EVERY, build
from locant.cli.app import app
from locant.encodings.base import Encoding
from locant.shapes import Shape
from locant.subject import seeded
from locant.worked import work_out

WORDS = ("--no-pictures",)


def show(*arguments):
    """What `locant show …` prints."""
    done = CliRunner().invoke(app, ["show", *map(str, arguments)], env={"COLUMNS": "120"})
    assert done.exit_code == 0, done.output + repr(done.exception)
    return done.stdout


def numbers(*arguments):
    """What `locant show … --json` prints; NaN is no JSON."""

    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(show(*arguments, "--json"), parse_constant=refuse)


def refused(*arguments):
    done = CliRunner().invoke(app, ["show", *map(str, arguments)])
    assert done.exit_code == 2, done.output + repr(done.exception)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr


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
    assert "PE(p, 2c) = sin(p·ω_c)" in text
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
        wave, slope = (math.cos(angle), -math.sin(angle)) if at % 2 else (math.sin(angle), math.cos(angle))
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
    assert "pair (0, 2) turns by 1/1 a position" in text
    assert "q: 1·cos(3/1) − (−1)·sin(3/1) = −0.8489,  1·sin(3/1) + (−1)·cos(3/1) = 1.1311" in text
    assert "k: 1·cos(1/100) − (−1)·sin(1/100) = 1.0099,  1·sin(1/100) + (−1)·cos(1/100) = −0.9900" in text
    assert "score without positions: (1·2 + 2·1 + (−1)·1 + 1·(−1))/√4 = 1.0000" in text
    turned = [(1 + 1j * -1, 2 + 1j * 1, 1.0), (2 + 1j * 1, 1 + 1j * -1, 0.01)]
    after = sum((q * k.conjugate() * complex(math.cos(2 * w), math.sin(2 * w))).real for q, k, w in turned) / 2
    assert f"= {after:.4f}".replace("-", "−") in text
    assert f"100 positions on: {after:.4f}, the same" in text


def test_dimensions_that_do_not_turn_are_nothing_in_json():
    (part,) = numbers("rotary", "--width", 6, "--set", "width=4", "--set", "pairing=interleaved", *WORDS)["worked"]
    assert part["numbers"]["turns"] == [*[pytest.approx(1)] * 2, *[pytest.approx(0.01)] * 2, None, None]


def test_pope_is_written_as_sizes_and_angles():
    size = math.log(1 + math.e)
    assert f"q: {size:.6g}·cos(3/1) = {size * math.cos(3):.4f}".replace("-", "−") in show("pope", "--width", 4, *WORDS)


def test_alibi_is_written_as_slope_times_distance():
    text = show("alibi", *WORDS)
    assert "the key stands 2 positions before the query" in text
    assert "head 1   −0.25·2 = −0.5 " in text
    assert "head 4   −0.00390625·2 = −0.0078125 " in text
    assert "weighs e^(−0.5000) = 0.6065" in text


@pytest.mark.parametrize(
    ("position", "key", "said"),
    [
        (20, 0, "bucket 10, counted from the query outwards: the offsets −16 to −22"),
        (3, 1, "bucket 2, counted from the query outwards: that offset alone"),
        (0, 20, "bucket 10, counted from the query outwards: the offsets 16 to 22"),
        (200, 0, "bucket 15, counted from the query outwards: the offsets −91 to −256 and farther"),
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


# ---------------------------------------------------------------- pictures


def test_the_pictures_are_written_and_their_paths_printed(tmp_path):
    out = tmp_path / "new" / "folder"
    text = show("none", "--dim", 16, "--length", 12, "--out", out, "--format", "svg,png", "--dark")
    files = sorted(out.iterdir())
    assert {file.suffix for file in files} == {".svg", ".png"}
    assert len(files) == 2 * 3
    assert [file for file in files if f"    {file}\n" not in text] == []
    assert (
        "no heat, waves, wavelengths, similarity, product, offset: it adds no vectors to the input and turns none"
        in text
    )
    assert "#15181d" in (out / "score.svg").read_text(encoding="utf-8")


def test_without_a_folder_they_go_where_the_user_is(mine, monkeypatch):
    monkeypatch.chdir(mine.parent)
    told = numbers("mine.py:Mine", "--dim", 8, "--heads", 2, "--length", 6, "--position", 2)
    assert set(told["pictures"]) == {"numbers", "score", "bias", "resolution", "mixing"}
    for files in told["pictures"].values():
        assert all((mine.parent / file).is_file() for file in files)
    assert told["pictures"]["score"] == ["locant-pictures/Mine/score.png"]
    assert set(told["left_out"]) >= {"heat", "rotation"}


MINE = '''"""Mine: near is better."""
from locant.encodings.base import Encoding, difference
print("a user's file may print")

class Mine(Encoding):
    shift_invariant = extrapolates = real_positions = True
    def bias(self, q_pos, k_pos):
        return -2.0 * difference(q_pos, k_pos).abs()

class Broken(Encoding):
    def embed(self, x, pos):
        raise TypeError("three is not four")

class Wide(Encoding):
    extrapolates = True
    def __init__(self, shape):
        super().__init__(shape)
        if shape.dim < 16:
            raise ValueError("Wide needs room.")
    def embed(self, x, pos):
        return x + pos[..., None]
'''


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    return tmp_path / "mine.py"


def test_a_users_own_encoding_is_worked_out(mine):
    (part,) = numbers(f"{mine}:Mine", "--position", 2.5, *WORDS)["worked"]
    assert part["lines"][1].startswith("head 1   −2·2 = −4")
    assert part["numbers"]["slope"] == [-2.0] * 4


def test_widths_that_do_not_fit_are_left_out_unless_asked_for(mine):
    assert "Position 3 at width 64" in show(f"{mine}:Wide", *WORDS)
    assert "Wide needs room." in refused(f"{mine}:Wide", "--width", 8, *WORDS)


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (("sinusoidl",), ["'sinusoidl'", "Did you mean 'sinusoidal'?"]),
        (("gone.py:Mine",), ["there is no file", "gone.py"]),
        (("rotary", "--width", 5), ["the rotated width 5", "multiple of 2"]),
        (("rotary", "--dim", 12, "--heads", 4), ["the rotated width 3"]),
        (("sinusoidal", "--width", 0), ["--width", "at least 1"]),
        (("sinusoidal", "--width", 5000), ["1,024", "5,000"]),
        (("sinusoidal", "--dim", 10, "--heads", 3), ["dim=10", "heads=3"]),
        (("sinusoidal", "--position", -1), ["--position", "≥ 0", "-1"]),
        (("sinusoidal", "--position", "nan"), ["--position"]),
        (("sinusoidal", "--position", 1e10), ["1,000,000"]),
        (("alibi", "--key", -2), ["--key", "≥ 0"]),
        (("learned", "--position", 100), ["past position 99", "--length 101"]),
        (("learned", "--key", 700), ["position 700", "--length 701"]),
        (("t5", "--position", 2.5), ["t5", "whole positions", "2.5"]),
        (("sinusoidal", "--length", 1), ["2 to 2,000", "--length 1"]),
        (("sinusoidal", "--length", 10**6), ["2 to 2,000"]),
        (("sinusoidal", "--format", "gif"), ["'gif'", "png, svg, pdf"]),
        (("sinusoidal", "--set", "base"), ["--set base=500", "'base'"]),
        (("sinusoidal", "--set", "length=9"), ["--length 9"]),
        (("sinusoidal", "--set", "bse=3"), ["no option 'bse'", "Did you mean 'base'?"]),
        (("sinusoidal", "--set", "base=-3"), ["base", "-3"]),
        (
            ("sinusoidal", "--out", "/dev/null/pictures"),
            ["--out /dev/null/pictures cannot be written", "another place"],
        ),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_a_mistake_is_answered_with_a_sentence(arguments, fragments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = refused(*arguments)
    assert [one for one in fragments if one not in told] == [], told


def test_a_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "taken").touch()
    assert "taken cannot be written" in refused("none", "--out", tmp_path / "taken")


def test_a_users_encoding_that_fails_is_told_in_a_sentence(mine):
    assert "TypeError: three is not four" in refused(f"{mine}:Broken", *WORDS)


def test_help_and_mistakes_import_neither_torch_nor_matplotlib():
    code = (
        "import sys; from typer.testing import CliRunner; from locant.cli.app import app\n"
        "for arguments in (['show', '--help'], ['show', 'rotry'], ['show', 'rotary', '--format', 'gif']):\n"
        "    assert CliRunner().invoke(app, arguments).exit_code in (0, 2)\n"
        "assert not {'torch', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
