"""One word, one meaning: names in the code keep to GLOSSARY.md, and no two modules share a name."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import locant

ROOT = Path(locant.__file__).parent
GLOSSARY = Path(__file__).parents[1] / "GLOSSARY.md"
FILES = sorted(ROOT.rglob("*.py"))
ASKED = {
    "asked"
}  # of a threshold: the rate that was asked for, beside the one measured; it is stored
KEPT = {  # names that users could call, for one release more, and names that stored runs have
    **{f"anomaly/detector/{name}.py": ASKED for name in ("calibration", "detector", "fitting")},
    **{f"anomaly/detector/{name}.py": ASKED for name in ("settings", "threshold")},
    "anomaly/series/series.py": {"understood"},
    "anomaly/series/streaming.py": {"said"},
    "certification/certificate.py": {"said"},
    "lab/training/config.py": {"pace_every"},
}
MIRRORS = ("cli", "explorer/api", "figures/data", "figures/plots")  # named after what they show


def retired_words():
    listed = GLOSSARY.read_text(encoding="utf-8").split("## Retired words")[1]
    return set(re.findall(r"[a-z_]+", listed))


def names_in(tree):
    """Every name that a file gives: functions, classes, arguments, variables and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def words_of(name):
    """The words of a name: `was_told` and `WasTold` have two each."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)} | {name.lower()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_name_has_a_retired_word(path):
    names = {path.stem, *names_in(ast.parse(path.read_text(encoding="utf-8")))}
    names -= KEPT.get(path.relative_to(ROOT).as_posix(), set())
    retired = retired_words()
    assert sorted(name for name in names if words_of(name) & retired) == []


def test_the_glossary_lists_words_and_the_check_sees_them():
    assert {"told", "place", "at_hand"} <= retired_words()
    assert words_of("was_told") & words_of("WasTold") >= {"was", "told"}


def test_no_two_modules_share_a_name():
    homes = defaultdict(set)
    for path in FILES:
        folder = path.parent.relative_to(ROOT).as_posix()
        if path.stem not in ("__init__", "__main__", "base") and folder not in MIRRORS:
            homes[path.stem].add(folder)
    assert {name: sorted(some) for name, some in homes.items() if len(some) > 1} == {}


def test_every_file_that_contributing_links_to_is_there():
    text = (GLOSSARY.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\((src/[^)]+)\)", text)
    assert len(links) > 20
    assert [link for link in links if not (GLOSSARY.parent / link).exists()] == []
