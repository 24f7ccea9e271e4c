"""What the code imports is declared, and what is declared is used."""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest

import locant

ROOT = Path(locant.__file__).parent
PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
MODULES = {"pillow": "PIL", "jinja2": "jinja2"}  # where a module has another name than its package
OPTIONAL = {"x_transformers", "rotary_embedding_torch"}  # peers of the bench
OPTIONAL |= {"IPython"}  # a notebook has it already
OPTIONAL |= {"sklearn"}  # who puts a detector into its pipelines has it already
READ_AS_FILES = {"plotly"}  # the explorer serves its plotly.min.js without importing it
NEEDED_BY_TRANSFORMERS = {"gguf", "accelerate"}  # it opens GGUF files with them


def declared():
    """The modules of the packages that users get, without those of tests."""
    extras = PROJECT["optional-dependencies"]
    listed = [*PROJECT["dependencies"], *extras["lab"], *extras["explore"], *extras["ray"]]
    listed += extras["hf"]
    names = {re.match(r"[A-Za-z0-9_.-]+", one)[0].lower() for one in listed} - {"locant"}
    return {MODULES.get(name, name) for name in names}


def imported():
    """The modules that any file of locant imports, outside of Python's own and its own."""
    found = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"locant"}


def test_what_is_imported_is_declared():
    assert imported() - OPTIONAL - declared() == set()


def test_what_is_declared_is_used():
    assert declared() - READ_AS_FILES - NEEDED_BY_TRANSFORMERS - imported() == set()


CLONE = Path(__file__).parents[1]
SCRIPTS = [
    path
    for folder in ("docs", "course", "examples", "benchmarks")
    for path in sorted((CLONE / folder).rglob("*.py"))
]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(CLONE).as_posix())
def test_what_a_script_imports_of_locant_is_there(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("locant"):
            module = importlib.import_module(node.module)
            for alias in node.names:
                if not hasattr(module, alias.name):
                    importlib.import_module(f"{node.module}.{alias.name}")
