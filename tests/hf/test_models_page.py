"""docs/models.md: its entries come out again, and its reproductions print what they say."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "models.md").read_text(encoding="utf-8")
SAME = f"transformers {version('transformers')}" in PAGE
AGAIN = [("llama", "causal"), ("gpt2", "causal"), ("opt", "causal"), ("bart", "causal")]
AGAIN += [("bert", "masked"), ("modernbert", "masked"), ("t5", "seq2seq"), ("bamba", "causal")]
AGAIN += [("moshi", "causal")]  # the only one that parts packed sequences with a cache


def test_the_page_lists_at_least_a_hundred_architectures_with_every_property():
    entries = re.findall(r"^- `[^`]+`: (?:fails|nothing fails)", PAGE, re.M)
    assert len(entries) >= 100
    from locant.hf.checking.certify_model import model_properties

    assert all(f"| **{name}** |" in PAGE for name in model_properties())


@pytest.mark.slow
@pytest.mark.skipif(not SAME, reason="docs/models.md is of another transformers: make it anew")
@pytest.mark.parametrize("entry", AGAIN, ids="-".join)
def test_an_architecture_gives_its_entry_again(entry, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    from make_models import examine
    from models_page import entry_line

    assert entry_line(examine(entry)) in PAGE.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", sorted((DOCS / "reproductions").glob("*.py")), ids=lambda path: path.stem
)
def test_a_reproduction_prints_what_its_comments_say(path):
    code = path.read_text(encoding="utf-8")
    assert code.strip() in PAGE
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    numbers = [float(line) for line in done.stdout.splitlines() if re.fullmatch(r"[\d.e+-]+", line)]
    bounds = re.findall(r"([<>]) ([\d.e-]+)", " ".join(re.findall(r"#(.*)", code)))
    assert len(numbers) == len(bounds) > 0
    for number, (sign, bound) in zip(numbers, bounds, strict=True):
        assert number < float(bound) if sign == "<" else number > float(bound)
