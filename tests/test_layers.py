"""The import rule: left never imports right. Read from the source of every file, so that nothing
can hide in a function."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import locant

ROOT = Path(locant.__file__).parent
ORDER = [  # the way of the data; neighbours in one set may know each other
    {"_internal", "shapes", "positions"},
    {"encodings"},
    {"attention"},
    {"nn"},
    {"lab.tasks", "lab.training", "anomaly.series", "anomaly.metrics", "anomaly.baselines"},
    {"anomaly.detector", "certification", "lab.study", "lab.study_files", "lab.engine"}
    | {"lab.field_errors"}
    | {"lab.store", "lab.studies", "lab.binding", "lab.own_data", "lab.own_encodings"}
    | {"lab.progress", "lab.depth", "lab.needs"},
    {"lab.statistics", "figures.data", "figures.walkthrough", "figures.plots"},
    {"lab.report", "lab.study_result", "lab.comparison", "lab.compare", "lab.advice"}
    | {"hf", "testing"},
    {"explorer", "bench"},
    {"cli", "__main__"},
]
ROOMS = {"lab", "anomaly", "figures"}  # whose own rooms have levels
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}
FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))
TORCH_FREE = (
    "__init__.py",
    "_internal/checks.py",
    "_internal/text.py",
    "shapes.py",
    "encodings/__init__.py",
    "encodings/claims.py",
)
TORCH_FREE += ("encodings/registry.py", "cli/__init__.py", "cli/app.py", "cli/listing.py")
TORCH_FREE += ("__main__.py", "cli/_options.py", "cli/_output.py")
TORCH_FREE += ("positions/__init__.py", "positions/timestamp_", "anomaly/series/")
TORCH_FREE += ("lab/statistics/", "figures/plots/", "lab/report/")


def is_for_types_only(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imported(node, package, inside=False):
    """Every (module, whether it is inside a function) that a syntax tree imports; what only types
    need is left out."""
    for child in ast.iter_child_nodes(node):
        if is_for_types_only(child):
            continue
        if isinstance(child, ast.Import):
            yield from ((alias.name, inside) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            start = (
                ".".join(package.split(".")[: len(package.split(".")) - child.level + 1])
                if child.level
                else ""
            )
            home = ".".join(part for part in (start, child.module) if part)
            yield home, inside
            yield from ((f"{home}.{alias.name}", inside) for alias in child.names)
        elif (
            isinstance(child, ast.Call)
            and ast.unparse(child.func).endswith("import_module")
            and child.args
        ):
            yield ast.unparse(child.args[0]).lstrip("f").strip("'\""), inside
        yield from imported(
            child, package, inside or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        )


def imports_of(file):
    package = ".".join(("locant", *Path(file).parts[:-1]))
    return list(imported(ast.parse((ROOT / file).read_text(encoding="utf-8")), package))


def layer_of(module):
    """The layer of a dotted name: `locant.cli.app` → cli, `locant.lab.tasks.base` → lab.tasks; else
    nothing."""
    parts = module.split(".")
    if parts[0] != "locant" or len(parts) < 2:
        return None
    name = ".".join(parts[1:3]) if parts[1] in ROOMS else parts[1]
    return name if name in LEVEL else None


def own_layer(file):
    return layer_of(".".join(("locant", *Path(file).with_suffix("").parts)))


def wrong_imports(file, found):
    own = own_layer(file)
    return sorted(
        {other for module, _ in found if (other := layer_of(module)) and LEVEL[other] > LEVEL[own]}
    )


@pytest.mark.parametrize(
    "file", [file for file in FILES if file.removesuffix("/__init__.py") not in ROOMS]
)
def test_left_never_imports_right(file):
    if file == "__init__.py":
        return  # it names every room, and loads none before it is used
    assert own_layer(file) is not None, f"{file} is on no level of the order"
    assert wrong_imports(file, imports_of(file)) == []


@pytest.mark.parametrize(
    ("file", "code", "wrong"),
    [
        ("shapes.py", "from locant._internal.checks import whole_number", []),
        ("positions/makers.py", "from locant import attention", ["attention"]),
        ("positions/makers.py", "from .. import attention", ["attention"]),
        ("encodings/alibi.py", "from ..nn import Transformer", ["nn"]),
        ("encodings/alibi.py", "import locant.cli.app as app", ["cli"]),
        ("encodings/alibi.py", "def f():\n    import locant.nn.transformer", ["nn"]),
        (
            "encodings/alibi.py",
            "from importlib import import_module\nimport_module('locant.nn.transformer')",
            ["nn"],
        ),
        ("lab/tasks/order.py", "import locant.lab.report.study_page", ["lab.report"]),
        ("lab/report/study_page.py", "import locant.lab.tasks.order", []),
        ("shapes.py", "if TYPE_CHECKING:\n    import locant.encodings.base", []),
    ],
)
def test_the_rule_sees_every_way_to_import(file, code, wrong):
    package = ".".join(("locant", *Path(file).parts[:-1]))
    assert wrong_imports(file, list(imported(ast.parse(code), package))) == wrong


def test_every_layer_that_exists_is_read():
    assert {own_layer(file) for file in FILES} - {None} == set(LEVEL) - {
        "lab.studies"
    }  # those are TOML
    assert len(ORDER) <= 10
    assert (
        len([module for file in FILES for module, _ in imports_of(file) if layer_of(module)]) > 50
    )


@pytest.mark.parametrize("file", FILES)
def test_only_plots_import_matplotlib(file):
    outside = {module.split(".")[0] for module, _ in imports_of(file)}
    assert "matplotlib" not in outside or file.startswith("figures/plots")


def reached(file, seen=None):
    """All modules that importing a file imports, other files of locant included; functions are not
    run."""
    seen = set() if seen is None else seen
    for module, inside in imports_of(file):
        if inside or module in seen:
            continue
        seen.add(module)
        path = Path(*module.split(".")[1:])
        for there in (
            (path.with_suffix(".py"), path / "__init__.py") if module.startswith("locant.") else ()
        ):
            if there.as_posix() in FILES:
                reached(there.as_posix(), seen)
    return seen


@pytest.mark.parametrize("file", [file for file in FILES if file.startswith(TORCH_FREE)])
def test_what_needs_no_torch_reaches_none(file):
    assert "torch" not in {module.split(".")[0] for module in reached(file)}


@pytest.mark.parametrize(
    "file",
    [file for file in FILES if file.startswith(("lab/tasks", "anomaly/metrics"))] + ["shapes.py"],
)
def test_tasks_and_metrics_know_no_encoding(file):
    known = {module for module, _ in imports_of(file) if layer_of(module) == "encodings"}
    assert {module for module in known if "registry" not in module} <= {"locant.encodings"}


def test_importing_locant_and_reading_its_names_imports_no_torch():
    code = (
        "import sys, locant; dir(locant); locant.names(); locant.Shape(8); locant.__version__; "
        "dir(locant.encodings)"
    )
    subprocess.run(
        [sys.executable, "-c", f"{code}; assert 'torch' not in sys.modules"], check=True, timeout=60
    )


def test_every_public_name_is_there_when_it_is_asked_for():
    assert [name for name in locant.__all__ if getattr(locant, name) is None] == []
    assert set(locant.__all__) <= set(dir(locant))
    with pytest.raises(AttributeError, match="has no name 'zebra'"):
        _ = locant.zebra
