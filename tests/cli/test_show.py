"""`locant show`: the pictures, a user's own encoding, and what is said when it cannot be done."""

from __future__ import annotations

import subprocess
import sys

import pytest
from common_show import WORDS, numbers, refused, show

# ---------------------------------------------------------------- pictures


def test_the_pictures_are_written_and_their_paths_printed(tmp_path):
    out = tmp_path / "new" / "folder"
    text = show("none", "--dim", 16, "--length", 12, "--out", out, "--format", "svg,png", "--dark")
    files = sorted(out.iterdir())
    assert {file.suffix for file in files} == {".svg", ".png"}
    assert len(files) == 2 * 3
    assert [file for file in files if f"    {file}\n" not in text] == []
    assert (
        "no heat, waves, wavelengths, similarity, product, offset: "
        "it adds no vectors to the input and rotates no keys" in text
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
        (("learned", "--key", 700), ["700 was asked for", "--length 701"]),
        (("t5", "--position", 2.5), ["t5", "integer positions", "2.5"]),
        (("sinusoidal", "--length", 1), ["2 to 2,000", "--length 1"]),
        (("sinusoidal", "--length", 10**6), ["2 to 2,000"]),
        (("sinusoidal", "--format", "gif"), ["'gif'", "png, svg, pdf"]),
        (("sinusoidal", "--set", "base"), ["--set base=500", "'base'"]),
        (("sinusoidal", "--set", "length=9"), ["--length 9"]),
        (("sinusoidal", "--set", "bse=3"), ["no option 'bse'", "Did you mean 'base'?"]),
        (("sinusoidal", "--set", "base=-3"), ["base", "-3"]),
        (
            ("sinusoidal", "--out", "/dev/null/pictures"),
            ["--out /dev/null/pictures cannot be written", "another path"],
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
        "for arguments in (['--help'], ['rotry'], ['rotary', '--format', 'gif']):\n"
        "    arguments = ['show', *arguments]\n"
        "    assert CliRunner().invoke(app, arguments).exit_code in (0, 2)\n"
        "assert not {'torch', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
