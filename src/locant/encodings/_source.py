"""Read a class from its source file, with all that it inherits, without running anything.

A base class is followed to where it is defined: in the same file, in a file beside it, in the
package that the file belongs to, or in locant. Other bases (torch.nn.Module, …) say nothing about
an encoding and are left out. Attributes and methods are found in Python's own order of inheritance.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from locant._internal.checks import did_you_mean

FOLDER = Path(__file__).parent  # locant/encodings
LIBRARY = FOLDER.parents[1]  # the folder that holds the package locant
BASE = FOLDER / "base.py"


class ClassName(NamedTuple):
    """A class and the file that defines it."""

    path: Path
    name: str


BASE_CLASS = ClassName(BASE, "Encoding")


@dataclass(frozen=True)
class Definition:
    """What one class states itself: constant attributes, methods, and its bases in order.

    assigned  the attributes that are not constants, such as `bias = other_method`
    restored  those of them that are the base class's own: `bias = Encoding.bias`
    """

    attributes: dict[str, Any]
    methods: dict[str, ast.FunctionDef]
    assigned: frozenset[str]
    restored: frozenset[str]
    bases: tuple[ClassName, ...]
    doc: str | None


class Module:
    """A parsed file: its classes, and what its imports bind."""

    def __init__(self, path: Path) -> None:
        try:
            self.tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError) as problem:
            raise ValueError(f"{path.name} is not Python that can be read: {problem}") from problem
        self.path = path
        self.doc = ast.get_docstring(self.tree)
        self.classes = {n.name: n for n in self.tree.body if isinstance(n, ast.ClassDef)}
        self.imports: dict[str, tuple[str, str]] = {}  # bound name → (module, name in it or "")
        self.star_imports: list[str] = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    self.imports[bound] = (alias.name if alias.asname else bound, "")
            elif isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or "")
                for alias in node.names:
                    if alias.name == "*":
                        self.star_imports.append(module)
                    else:
                        self.imports[alias.asname or alias.name] = (module, alias.name)


def read_module(path: Path) -> Module:
    """Parse a file; a file that did not change is parsed once."""
    return _read_module(path, path.stat().st_mtime_ns)


@cache
def _read_module(path: Path, _changed: int) -> Module:
    return Module(path)


def inheritance(path: Path, name: str) -> list[tuple[ClassName, Definition]]:
    """List a class and everything that it inherits from, in Python's order, as far as it is
    known."""
    start = ClassName(path, name)
    module = read_module(path)
    if name not in module.classes:
        raise ValueError(
            f"{path.name} has no class {name!r}.{did_you_mean(name, module.classes)}\n"
            f"  Its classes: {', '.join(module.classes) or 'none'}"
        )
    return [(found, define(found)) for found in _linearize(start, ())]


def need_base_class(path: Path, name: str) -> None:
    """Refuse a class that inherits from nothing, and so is no encoding."""
    if not read_module(path).classes[name].bases:
        raise ValueError(
            f"{name} is not an encoding: it inherits from nothing. Write class Mine(Encoding), or "
            "wrap a module\n  or a function that you have: locant.adapt(module, dim=64, heads=4)."
        )


def define(found: ClassName) -> Definition:
    """Read what one class states itself."""
    module = read_module(found.path)
    node = module.classes[found.name]
    attributes: dict[str, Any] = {}
    assigned, restored = set(), set()
    methods: dict[str, ast.FunctionDef] = {}
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            methods[item.name] = item
        for target, value in _assignments(item):
            if isinstance(value, ast.Constant):
                attributes[target] = value.value
                continue
            assigned.add(target)
            if isinstance(value, ast.Attribute) and value.attr == target:
                owner = _resolve(module, value.value, node.lineno)
                restored |= {target} if owner == BASE_CLASS else set()
    bases = []
    if found != BASE_CLASS:
        for expression in node.bases:
            base = _resolve(module, expression, node.lineno)
            if isinstance(base, ClassName):
                bases.append(base)
    doc = ast.get_docstring(node)
    return Definition(
        attributes, methods, frozenset(assigned), frozenset(restored), tuple(bases), doc
    )


def options_of(init: ast.FunctionDef) -> dict[str, Any]:
    """Read the keyword options of a constructor, with their defaults."""
    options = {}
    for arg, default in zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True):
        if default is not None:
            options[arg.arg] = _plain_value(default)
    return options


def _plain_value(node: ast.expr) -> Any:
    """Return a default as a plain value, or as its source text when it is not a literal."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)


def _assignments(item: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """List the names that a statement of a class body assigns, each with its value."""
    targets: list[ast.expr] = []
    if isinstance(item, ast.Assign):
        targets = item.targets
    elif isinstance(item, ast.AnnAssign):
        targets = [item.target]
    else:
        return
    for target in targets:
        if isinstance(target, ast.Name) and item.value is not None:
            yield target.id, item.value


def _resolve(module: Module, expression: ast.expr, line: int) -> ClassName | Path | None:
    """Find the class, or the file of the module, that an expression such as `near.Base` names.

    Classes of the same file count when they are defined above `line`: `class Rotary(Rotary)`
    derives from the imported class of that name.
    """
    if isinstance(expression, ast.Subscript):  # Base[int]
        return _resolve(module, expression.value, line)
    if isinstance(expression, ast.Name):
        return _find(module.path, expression.id, frozenset(), line)
    if isinstance(expression, ast.Attribute):
        owner = _resolve(module, expression.value, line)
        return _find(owner, expression.attr, frozenset()) if isinstance(owner, Path) else None
    return None


def _find(
    path: Path, name: str, seen: frozenset[tuple[Path, str]], line: float = math.inf
) -> ClassName | Path | None:
    """Find a name in a file: a class of its own, an import, or a module of the package."""
    if (path, name) in seen:  # files that import from each other in a circle
        return None
    seen = seen | {(path, name)}
    module = read_module(path)
    if name in module.classes and module.classes[name].lineno < line:
        return ClassName(path, name)
    if name in module.imports:
        source, original = module.imports[name]
        file = _file_of(source, path)
        found = _find(file, original, seen) if file is not None and original else file
        if found is not None:
            return found
    for source in module.star_imports:
        file = _file_of(source, path)
        found = _find(file, name, seen) if file is not None else None
        if found is not None:
            return found
    if path.name != "__init__.py":
        return None
    if path.parent == FOLDER and (home := _home_of(name)) is not None:
        return ClassName(home, name)
    return _existing(path.parent / name)


def _home_of(class_name: str) -> Path | None:
    """Find the file in locant/encodings that defines a class."""
    for path in sorted(FOLDER.glob("[!_]*.py")):
        if class_name in read_module(path).classes:
            return path
    return None


def _file_of(module: str, importer: Path) -> Path | None:
    """Find the file of an imported module: locant's, beside the importer, or in its package."""
    level = len(module) - len(module.lstrip("."))
    parts = [part for part in module.lstrip(".").split(".") if part]
    if level:
        return _existing(importer.parents[level - 1].joinpath(*parts))
    if parts[0] == "locant":
        return _existing(LIBRARY.joinpath(*parts))
    folder = importer.parent
    if (found := _existing(folder.joinpath(*parts))) is not None:
        return found
    while (folder / "__init__.py").is_file():
        folder = folder.parent
    return _existing(folder.joinpath(*parts))


def _existing(path: Path) -> Path | None:
    """Return the file of the module at `path`: path.py, or path/__init__.py."""
    for file in (path.parent / f"{path.name}.py", path / "__init__.py"):
        if file.is_file():
            return file
    return None


def _linearize(start: ClassName, above: tuple[ClassName, ...]) -> list[ClassName]:
    """Order a class and its bases as Python does (C3); bases that form a circle are left out."""
    bases = [base for base in define(start).bases if base not in (*above, start)]
    lines = [_linearize(base, (*above, start)) for base in bases]
    lines.append(list(bases))
    order = [start]
    while lines := [line for line in lines if line]:
        later = {found for line in lines for found in line[1:]}
        heads = [line[0] for line in lines]
        chosen = next((head for head in heads if head not in later), heads[0])
        order.append(chosen)
        lines = [[found for found in line if found != chosen] for line in lines]
    return order
