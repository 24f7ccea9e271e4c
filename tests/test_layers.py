"""The import rule: left never imports right. Read from the source of every file, so that nothing can hide in a function."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import locant

ROOT = Path(locant.__file__).parent
ORDER = [  # the way of the data; neighbours in one set may know each other
    {"errors", "claims", "shapes", "seeds", "guests", "workers"},
    {"catalog"},
    {"samplers", "timestamps"},
    {"positions"},
    {"encodings"},
    {"paths"},
    {"cache", "dropout", "placing"},
    {"checking"},
    {"attention"},
    {"planning", "self_attention"},
    {"model"},
    {"tasks", "metrics", "baselines", "series"},
    {"training"},
    {"detection"},
    {"subject"},
    {"properties"},
    {"certificate", "adapters", "testing", "views", "worked"},
    {"results", "engine", "studies"},
    {"bench"},
    {"statistics"},
    {"plots"},
    {"report"},
    {"explorer"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}
FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))
LAZY = {("catalog", "encodings")}  # the catalog loads a class when it is asked for one
TORCH_FREE = ("__init__.py", "errors.py", "claims.py", "shapes.py", "catalog.py", "cli/__init__.py", "cli/app.py")
TORCH_FREE += ("cli/listing.py", "statistics/", "plots/", "report/", "statistics.py", "plots.py", "report.py")


def is_for_types_only(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imported(node, package, inside=False):
    """Every (module, whether it is inside a function) that a syntax tree imports; what only types need is left out."""
    for child in ast.iter_child_nodes(node):
        if is_for_types_only(child):
            continue
        if isinstance(child, ast.Import):
            yield from ((alias.name, inside) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            start = ".".join(package.split(".")[: len(package.split(".")) - child.level + 1]) if child.level else ""
            home = ".".join(part for part in (start, child.module) if part)
            yield home, inside
            yield from ((f"{home}.{alias.name}", inside) for alias in child.names)
        elif isinstance(child, ast.Call) and ast.unparse(child.func).endswith("import_module") and child.args:
            yield ast.unparse(child.args[0]).lstrip("f").strip("'\""), inside
        yield from imported(child, package, inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))


def imports_of(file):
    package = ".".join(("locant", *Path(file).parts[:-1]))
    return list(imported(ast.parse((ROOT / file).read_text(encoding="utf-8")), package))


def layer_of(module):
    """The layer that a dotted name belongs to: `locant.cli.app` → cli; nothing for what is not of locant."""
    parts = module.split(".")
    return parts[1] if parts[0] == "locant" and len(parts) > 1 and parts[1] in LEVEL else None


def wrong_imports(file, found):
    own = Path(file).parts[0].removesuffix(".py")
    layers = {(layer_of(module), inside) for module, inside in found if layer_of(module)}
    return sorted(
        other for other, inside in layers if LEVEL[other] > LEVEL[own] and not (inside and (own, other) in LAZY)
    )


@pytest.mark.parametrize("file", [file for file in FILES if file != "__init__.py"])
def test_left_never_imports_right(file):
    assert Path(file).parts[0].removesuffix(".py") in LEVEL, f"{file} has no place in the order"
    assert wrong_imports(file, imports_of(file)) == []


@pytest.mark.parametrize(
    ("file", "code", "wrong"),
    [
        ("shapes.py", "from locant.errors import whole_number", []),
        ("positions.py", "from locant import attention", ["attention"]),
        ("positions.py", "from . import attention", ["attention"]),
        ("encodings/alibi.py", "from ..model import Transformer", ["model"]),
        ("encodings/alibi.py", "import locant.cli.app as app", ["cli"]),
        ("encodings/alibi.py", "def f():\n    import locant.model", ["model"]),
        ("encodings/alibi.py", "from importlib import import_module\nimport_module('locant.model')", ["model"]),
        ("catalog.py", "import locant.encodings.base", ["encodings"]),
        ("catalog.py", "def load():\n    import locant.encodings.base", []),
        ("catalog.py", "if TYPE_CHECKING:\n    import locant.encodings.base", []),
    ],
)
def test_the_rule_sees_every_way_to_import(file, code, wrong):
    package = ".".join(("locant", *Path(file).parts[:-1]))
    assert wrong_imports(file, list(imported(ast.parse(code), package))) == wrong


def test_every_layer_that_exists_is_read():
    there = {Path(file).parts[0].removesuffix(".py") for file in FILES}
    assert {"errors", "catalog", "positions", "encodings", "attention", "model", "cli"} <= there
    assert len([module for file in FILES for module, _ in imports_of(file) if layer_of(module)]) > 50


@pytest.mark.parametrize("file", FILES)
def test_only_plots_import_matplotlib(file):
    outside = {module.split(".")[0] for module, _ in imports_of(file)}
    assert "matplotlib" not in outside or file.startswith("plots")


def reached(file, seen=None):
    """All modules that importing a file imports, other files of locant included; functions are not run."""
    seen = set() if seen is None else seen
    for module, inside in imports_of(file):
        if inside or module in seen:
            continue
        seen.add(module)
        path = Path(*module.split(".")[1:])
        for there in (path.with_suffix(".py"), path / "__init__.py") if module.startswith("locant.") else ():
            if there.as_posix() in FILES:
                reached(there.as_posix(), seen)
    return seen


@pytest.mark.parametrize("file", [file for file in FILES if file.startswith(TORCH_FREE)])
def test_what_needs_no_torch_reaches_none(file):
    assert "torch" not in {module.split(".")[0] for module in reached(file)}


@pytest.mark.parametrize("file", [file for file in FILES if file.startswith(("tasks", "metrics"))] + ["shapes.py"])
def test_tasks_and_metrics_know_no_encoding(file):
    assert "encodings" not in {layer_of(module) for module, _ in imports_of(file)}


def test_importing_locant_and_reading_its_names_imports_no_torch():
    code = "import sys, locant; dir(locant); locant.names(); locant.Shape(8); locant.__version__; dir(locant.encodings)"
    subprocess.run([sys.executable, "-c", f"{code}; assert 'torch' not in sys.modules"], check=True, timeout=60)


def test_every_public_name_is_there_when_it_is_asked_for():
    assert [name for name in locant.__all__ if getattr(locant, name) is None] == []
    assert set(locant.__all__) <= set(dir(locant))
    with pytest.raises(AttributeError, match="has no name 'zebra'"):
        _ = locant.zebra
