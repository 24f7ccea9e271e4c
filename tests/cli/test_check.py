"""`locant check` as a user runs it: real processes, their exit status, what they print, and what
they leave behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import locant
from locant.testing import assert_certified

LOCANT = Path(sys.executable).with_name("locant")
WRONG = Path(__file__).parents[2] / "examples" / "wrong"
SMALL = ("--quick", "--dim", "16", "--heads", "2", "--length", "32")
ENV = {
    key: value
    for key, value in os.environ.items()
    if key not in ("FORCE_COLOR", "TERM", "PYTHONUTF8", "LC_ALL")
}
ENV |= {"COLUMNS": "100", "PYTHONIOENCODING": "utf-8", "OMP_NUM_THREADS": "1"}

MINE = '''"""A price for distance."""
from locant.encodings.base import Encoding, difference

print("a word while it is imported")

class Near(Encoding):
    shift_invariant = True
    prefers_near = True
    tells_direction = False
    def bias(self, q_pos, k_pos):
        print("a word while it runs")
        return -difference(q_pos, k_pos).abs()

class Far(Near):
    def bias(self, q_pos, k_pos):
        return difference(q_pos, k_pos).abs()
'''


def check(*arguments, cwd=None):
    """Run `locant check …` with its output in pipes."""
    command = [LOCANT, "check", *map(str, arguments)]
    done = subprocess.run(command, env=ENV, cwd=cwd, capture_output=True, timeout=120)
    done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in done.stderr, done.stderr
    return done


def refused(*arguments):
    done = check(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    return done.stderr


# ---------------------------------------------------------------- what holds, and what fails


def test_one_encoding_that_keeps_its_claims_is_told_in_sentences_with_status_0():
    done = check("rotary", *SMALL, "--only", "shift,cache", "--seed", "7")
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.startswith(
        "Certificate of rotary\ndim 16, heads 2, length 32 · quick, seed 7"
    )
    assert "✓ shift       Moving every position by the same amount changes no score." in done.stdout
    assert done.stdout.endswith("rotary: 2 hold, none fails\n")
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_the_command_and_the_function_take_the_same_effort_by_themselves():
    small = ("--dim", "16", "--heads", "2", "--length", "32")
    papers = json.loads(check("rotary", *small, "--only", "shift", "--json").stdout)
    command = (papers if isinstance(papers, dict) else papers[0])["effort"]
    rope = locant.make("rotary", dim=16, heads=2, length=32)
    function = locant.certify(rope, only="shift").effort
    assert command == function == assert_certified(rope, only="shift").effort == "usual"


def test_options_are_certified_and_named():
    yarn = "scaling.type=yarn", "scaling.factor=4", "scaling.original_length=8"
    sets = [word for text in ("pairing=interleaved", *yarn) for word in ("--set", text)]
    done = check("rotary", *SMALL, *sets, "--only", "shift", "--json")
    (paper,) = json.loads(done.stdout)
    assert paper["holds"] == ["shift"]
    assert paper["options"]["pairing"] == "interleaved"
    assert paper["options"]["scaling"]["type"] == "yarn"
    assert paper["options"]["scaling"]["factor"] == 4


def test_options_of_a_users_own_file_are_certified_and_named(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from locant.encodings import Rotary\nclass Mine(Rotary): ...\n"
    )
    done = check("mine.py:Mine", *SMALL, "--set", "base=500", "--only", "shift", cwd=tmp_path)
    assert done.stdout.startswith("Certificate of mine.py:Mine (base=500)\n")
    assert done.returncode == 0


def test_other_words_for_one_encoding_are_certified_once_by_its_name():
    done = check("RoPE", "rotary", *SMALL, "--only", "shift")
    assert done.returncode == 0
    assert done.stdout.startswith("Certificate of rotary\n")


def test_a_plain_module_is_answered_with_adapt(tmp_path):
    (tmp_path / "plain.py").write_text("import torch\nclass Plain(torch.nn.Module):\n    pass\n")
    assert "locant.adapt(" in refused(tmp_path / "plain.py:Plain", *SMALL)


def test_several_encodings_make_a_matrix_in_the_order_asked_for(tmp_path):
    page = tmp_path / "a" / "new folder" / "page.html"
    done = check("t5", "alibi", *SMALL, "--only", "causal,nearness", "--html", page)
    assert done.returncode == 0
    head, causal, nearness, *_ = done.stdout.splitlines()
    assert head.split() == ["t5", "alibi"]
    assert causal.split() == ["causal", "✓0", "✓0"]
    assert nearness.split()[2] == "✓mono"
    assert done.stderr == f"wrote {page}\n"
    assert "<h2>alibi</h2>" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "properties", "sentence"),
    [
        (
            "bf16_angles.py:Bf16Angles",
            "distinct,shift",
            r"in bfloat16 256 and 257, 0 apart\. Rounding makes them one",
        ),
        (
            "running_cache.py:RunningCache",
            "given,pure",
            r"the positions given are not used\..*Forward changes table",
        ),
        (
            "first_row.py:FirstRow",
            "shift,rows",
            r"✗ rows .*Rows computed together and alone differ by 0\.\d+ of their",
        ),
    ],
)
def test_each_wrong_example_is_told_what_is_wrong_with_status_1(name, properties, sentence):
    done = check(WRONG / name, "--quick", "--length", "512", "--only", properties)
    assert done.returncode == 1
    assert done.stderr == ""
    assert re.search(sentence, " ".join(done.stdout.split())), done.stdout
    assert "FAIL" in done.stdout.splitlines()[-1]
    assert "Bound: " in done.stdout


def test_every_wrong_example_is_short_and_says_in_one_line_what_was_meant():
    files = sorted(WRONG.glob("*.py"))
    assert [file.stem for file in files] == ["bf16_angles", "first_row", "running_cache"]
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert re.match(r'"""[A-Z].*\."""\n\n', text)
        assert len(text.splitlines()) < 30


# ---------------------------------------------------------------- JSON, Markdown, a page; a user's
# own file


def test_json_is_all_that_stands_on_stdout_even_when_the_users_file_prints(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    done = check(
        "mine.py:Near", "mine.py:Far", *SMALL, "--only", "shift,nearness", "--json", cwd=tmp_path
    )
    near, far = json.loads(done.stdout)
    assert done.returncode == 1
    assert (near["encoding"], near["holds"], near["fails"]) == (
        "mine.py:Near",
        ["shift", "nearness"],
        [],
    )
    assert (far["encoding"], far["holds"], far["fails"]) == ("mine.py:Far", ["shift"], ["nearness"])
    assert near["shape"] == {"dim": 16, "heads": 2, "length": 32}
    assert "a word while it is imported" in done.stderr
    assert "a word while it runs" in done.stderr


def test_markdown_is_a_table_and_failures_in_sentences(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    done = check(tmp_path / "mine.py:Far", *SMALL, "--only", "nearness", "--markdown")
    assert done.returncode == 1
    assert done.stdout.startswith("| property | `")
    assert "| **nearness** | ✗ @1 |" in done.stdout
    assert (
        "mine.py:Far`, nearness: Not monotone: the score first rises again at distance 1"
        in done.stdout
    )


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["rotry"], ["'rotry'", "Did you mean 'rotary'?", "alibi, continuous"]),
        (["gone.py:Mine"], ["there is no file 'gone.py'"]),
        (["rotary", "--dim", "10", "--heads", "3"], ["dim=10", "heads=3", "1, 2, 5, 10"]),
        (["rotary", "--dim", "0"], ["dim", "0"]),
        (["rotary", "--set", "bass=5"], ["no option 'bass'", "Did you mean 'base'?"]),
        (["rotary", "--set", "base"], ["--set needs field=value", "base=500"]),
        (["rotary", "--set", "dim=8"], ["write --dim 8"]),
        (["--set", "base=5"], ["that you name", "locant check rotary --set base=500"]),
        (["rotary", "--workers", "-1"], ["--workers", "-1"]),
        (["rotary", "--quick", "--full"], ["--quick and --full exclude each other"]),
        (
            ["rotary", "--only", "causal,shfit", *SMALL],
            ["'shfit'", "Did you mean 'shift'?", "Known: order, solves"],
        ),
        (
            ["alibi", "rotary", "--only", "causal", "--dim", "6", "--heads", "2"],
            ["the rotated width 3"],
        ),
    ],
    ids=" ".join,
)
def test_a_mistake_is_answered_with_a_sentence_and_status_2(arguments, fragments):
    told = refused(*arguments)
    assert [one for one in fragments if one not in told] == [], told


def test_a_page_that_cannot_be_written_is_told_before_anything_runs(tmp_path):
    (tmp_path / "file").write_text("")
    assert "cannot be written" in refused("rotary", "--html", tmp_path / "file" / "page.html")
    assert "cannot be written: File name too long" in refused(
        "rotary", "--html", tmp_path / ("x" * 300)
    )
    assert "is a folder" in refused("rotary", "--html", tmp_path)


def test_a_page_that_cannot_be_written_in_the_end_loses_no_certificate(tmp_path):
    in_the_way = (
        MINE + "\nfrom pathlib import Path\nPath(__file__).with_name('page.html').mkdir()\n"
    )
    (tmp_path / "mine.py").write_text(in_the_way)
    done = check("mine.py:Near", *SMALL, "--only", "causal", "--html", "page.html", cwd=tmp_path)
    assert done.returncode == 2
    assert "--html page.html cannot be written: Is a directory" in done.stderr
    assert "mine.py:Near: 1 holds, none fails" in done.stdout


# ---------------------------------------------------------------- Ctrl-C


def group(number):
    """The processes of a group."""
    rows = subprocess.run(
        ["ps", "-eo", "pid=,pgid=,stat="], capture_output=True, text=True, check=True
    ).stdout
    return [
        row
        for row in map(str.split, rows.splitlines())
        if row[1] == str(number) and "Z" not in row[2]
    ]


def wait_until(true, seconds):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    return true()


@pytest.mark.parametrize(
    ("workers", "processes", "seconds", "whole_group"),
    [
        (
            "2",
            4,
            0.1,
            True,
        ),  # as a terminal sends it; one of the processes is multiprocessing's own
        ("2", 4, 1.5, False),  # as `kill -INT` sends it
        ("1", 1, 3, True),
    ],
    ids=["workers that start", "workers, by kill", "no workers"],
)
def test_ctrl_c_ends_it_in_seconds_without_a_trace_or_a_process_left(
    workers, processes, seconds, whole_group
):
    run = subprocess.Popen(
        [LOCANT, "check", "rotary", "alibi", "t5", "--workers", workers],
        env=ENV,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert wait_until(lambda: len(group(run.pid)) >= processes, 30)
    time.sleep(seconds)
    assert run.poll() is None
    (os.killpg if whole_group else os.kill)(run.pid, signal.SIGINT)
    stdout, stderr = run.communicate(timeout=10)
    assert (run.returncode, stdout, stderr) == (130, b"", b"")
    assert wait_until(lambda: not group(run.pid), 5), group(run.pid)
