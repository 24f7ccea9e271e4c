"""The commands as a user runs them: real processes, their exit codes, what they print, and what
they do not import."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import locant
from locant.encodings import registry as catalog
from locant.encodings.claims import CLAIMS

LOCANT = Path(sys.executable).with_name("locant")
QUIET = ("PYTHONIOENCODING", "PYTHONUTF8", "LC_ALL", "LANG", "COLUMNS", "FORCE_COLOR", "TERM")

MINE = '''"""Nähe: a price for distance − nothing else."""
from pathlib import Path
from locant.encodings.base import Encoding, difference

Path(__file__).with_name("it_was_run").touch()

class Near(Encoding):
    prefers_near = True
    parameter_count = "3 * heads"
    paper = "Müller et al. 2031, arXiv:3101.00001"
    def bias(self, q_pos, k_pos):
        return -difference(q_pos, k_pos).abs() / self.shape.length
'''


def run(*arguments, cwd=None, **environment):
    """Run `locant …` with its output in pipes."""
    env = {key: value for key, value in os.environ.items() if key not in QUIET}
    env |= {"COLUMNS": "80", "PYTHONIOENCODING": "utf-8"} | environment
    done = subprocess.run([LOCANT, *arguments], env=env, cwd=cwd, capture_output=True, timeout=60)
    done.stdout, done.stderr = (
        text.decode(errors="replace") for text in (done.stdout, done.stderr)
    )
    return done


def works(*arguments, **settings):
    done = run(*arguments, **settings)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def refused(*arguments, **settings):
    """Exit status 2 and a sentence without a trace on the error channel; nothing on the other."""
    done = run(*arguments, **settings)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "can't encode" not in done.stderr
    assert done.stdout == ""
    return done.stderr


@pytest.fixture
def mine(tmp_path):
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    return tmp_path / "mine.py"


# ---------------------------------------------------------------- what works


def test_help_says_what_locant_is_and_names_its_commands():
    text = works("--help")
    assert "Positional encodings for self-attention" in text
    assert "list" in text
    assert "--dim" in works("list", "--help")


LEARNED = {  # by hand, at dim 32, heads 4, length 100
    "alibi": 0,
    "continuous": 128 + 128 + 128 * 32 + 32,
    "cope": 65 * 8,
    "deberta": 4 * 256 * 32,
    "dynamic": 2 * 32 + 32 * 32 + 32 + 32 * 4,
    "erpe": 4 * 199,
    "fire": 2 + 2 * 32 + 32 * 4,
    "forgetting": 4 * 32 + 4,
    "fourier": 16 + 32 * 128 + 128 + 128 * 32 + 32,
    "hybrid": 3201,
    "inkling": 4 * 16 * 32 + 16 * 128,
    "kerple": 8,
    "learned": 3200,
    "log_cpb": 512 + 512 + 512 * 4,
    "none": 0,
    "pope": 32,
    "relative": 257 * 4,
    "rope_mixed": 16,
    "rotary": 0,
    "sandwich": 0,
    "shaw": 2 * 33 * 8,
    "sinusoidal": 0,
    "swin": 15 * 4,
    "t5": 128,
    "tape": 0,
    "time2vec": 64,
    "transformer_xl": 2 * 32 + 32 * 32,
    "xpos": 0,
}
SIZE = ("--dim", "32", "--heads", "4", "--length", "100")


def test_list_as_json_has_every_encoding_with_its_learned_count():
    rows = json.loads(works("list", "--json", *SIZE))
    assert {row["name"]: row["parameters"] for row in rows} == LEARNED
    assert all(row["learned"] == row["parameters"] for row in rows)
    formulas = {row["name"]: row["parameter_count"] for row in rows}
    assert formulas["learned"] == "length * dim"
    assert all(row["learned_formula"] == formulas[row["name"]] for row in rows)
    for row in rows:
        said = catalog.describe(row["name"])
        assert row["claims"] == said.claims
        assert row["options"] == said.options
        assert row["title"] == said.title
        assert Path(row["file"]) == said.path


def test_the_table_shows_every_name_and_learned_count():
    lines = [line.split() for line in works("list", *SIZE).splitlines()]
    for name, count in LEARNED.items():
        row = next(words for words in lines if words[:1] == [name])
        assert f"{count:,}" in row
    assert {"dim", "32,", "heads", "4,", "length", "100"} <= set(lines[0])


def test_at_eighty_columns_nothing_is_cut_off():
    text = works("list")
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    joined = re.sub(r"\s", "", text)
    for name in locant.names():
        assert any(line.split()[:1] == [name] for line in text.splitlines())
        assert re.search(r"arXiv:\S+", catalog.describe(name).paper)[0] in joined
    assert set(re.findall(r"arXiv:\d{4}\.\d{5}", text)) == {
        re.search(r"arXiv:\S+", catalog.describe(name).paper)[0] for name in locant.names()
    }


def test_the_legend_explains_every_claim():
    joined = re.sub(r"\s+", " ", works("list"))
    assert [claim for claim, meaning in CLAIMS.items() if meaning not in joined] == []


def test_chosen_encodings_are_listed_in_the_order_asked_for():
    assert [row["name"] for row in json.loads(works("list", "t5", "alibi", "--json"))] == [
        "t5",
        "alibi",
    ]


def test_a_reader_that_stops_early_causes_no_trace():
    text = subprocess.run(
        f"{LOCANT} list | head -1", shell=True, capture_output=True, timeout=60, text=True
    )
    assert "encodings at dim" in text.stdout
    assert text.stderr == ""


# ---------------------------------------------------------------- a user's own file


def test_a_users_file_is_listed_without_being_run(mine):
    text = works("list", "rotary", "mine.py:Near", "--heads", "8", cwd=mine.parent)
    assert re.search(r"mine\.py:Near +scores +24 +order side near", text)
    (row,) = json.loads(works("list", f"{mine}:Near", "--json"))
    assert (row["parameters"], row["acts_on"], row["title"]) == (
        12,
        ["scores"],
        "Nähe: a price for distance − nothing else.",
    )
    assert not mine.with_name("it_was_run").exists()


def test_a_users_file_in_a_deep_folder_has_its_whole_row_at_eighty_columns(mine):
    deep = mine.parent / "a_folder_with_a_rather_long_name" / "and_another_one_inside_of_it"
    deep.mkdir(parents=True)
    text = works("list", f"{mine.rename(deep / 'mine.py')}:Near")
    assert "Near" in text
    assert "scores" in text
    assert "arXiv:3101.00001" in text


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["table", "json"])
@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (("list", "--dim", "10", "--heads", "3"), ["dim=10", "heads=3", "1, 2, 5, 10"]),
        (("list", "--dim", "0"), ["dim", "0"]),
        (("list", "--heads", "-2"), ["heads", "-2"]),
        (("list", "--length", "0"), ["length", "0"]),
        (("list", "--dim", "wide"), ["--dim", "integer"]),
        (("list", "rotry"), ["'rotry'", "Did you mean 'rotary'?", "alibi, continuous"]),
        (("list", "zebra"), ["'zebra'", "alibi, continuous"]),
        (("list", "gone.py:Mine"), ["gone.py", "there is no file"]),
        (("list", "gone.py"), ["gone.py", "names no class"]),
        (("lst",), ["lst", "list"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_mistake_is_answered_with_a_sentence_and_status_2(arguments, fragments, as_json):
    told = refused(*arguments, *as_json)
    assert [one for one in fragments if one not in told] == [], told


@pytest.mark.parametrize("learned", ["dim **", "zebras", "dim / 2", "dim ** dim"])
def test_a_users_file_with_a_wrong_formula_is_answered_with_a_sentence(mine, learned):
    mine.write_text(MINE.replace("3 * heads", learned), encoding="utf-8")
    assert learned in refused("list", f"{mine}:Near")


def test_a_users_file_that_cannot_be_read_is_answered_with_a_sentence(mine):
    assert "'Nier'" in refused("list", f"{mine}:Nier")
    mine.write_bytes(bytes(range(256)))
    assert "mine.py" in refused("list", f"{mine}:Near")
    mine.write_text("class Near(:")
    assert "invalid syntax" in refused("list", f"{mine}:Near")


# ---------------------------------------------------------------- where it runs


ASCII = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
OLD = {"PYTHONIOENCODING": "", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
plain = pytest.mark.parametrize(
    "environment", [ASCII, OLD], ids=["PYTHONIOENCODING=ascii", "LC_ALL=C"]
)


@plain
@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["list", "--json"]], ids=" ".join)
def test_a_terminal_that_knows_only_ascii_is_enough(arguments, environment):
    works(*arguments, **environment)


@plain
def test_a_terminal_that_knows_only_ascii_is_told_what_is_wrong(environment):
    assert "Did you mean 'rotary'?" in refused("list", "rotry", **environment)
    assert "dim=10" in refused("list", "--dim", "10", "--heads", "3", **environment)


@plain
@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["table", "json"])
def test_a_users_text_beyond_ascii_is_listed_on_a_terminal_that_knows_only_ascii(
    mine, as_json, environment
):
    assert "arXiv:3101.00001" in works(
        "list", "mine.py:Near", *as_json, cwd=mine.parent, **environment
    )


@pytest.mark.parametrize(
    "arguments", [["--help"], ["list", "--help"], ["list"], ["list", "--json"], ["list", "rotry"]]
)
def test_these_commands_import_no_torch(arguments):
    code = (
        "import sys; from typer.testing import CliRunner; from locant.cli.app import app\n"
        f"done = CliRunner().invoke(app, {arguments!r}); assert done.exit_code in (0, 2), done\n"
        "assert not {'torch', 'numpy', 'matplotlib', 'polars'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_class_that_inherits_from_nothing_is_no_encoding(tmp_path):
    (tmp_path / "plain.py").write_text("class Plain:\n    pass\n")
    assert "Plain is not an encoding" in refused("list", f"{tmp_path / 'plain.py'}:Plain")
