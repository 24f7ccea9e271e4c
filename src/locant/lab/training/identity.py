"""Find the code that decides a run: all that its task, encoding and training loop can reach.

Definitions count, not files: a function, a class or a constant counts when something that counts
names it. Each is reduced to its syntax tree without docstrings, types of arguments and the words of
errors. A comment, a moved or split file, or a new function beside the others therefore retrains
nothing; after a changed formula, stored runs no longer count.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = Path(__file__).parents[2]
Start = tuple[Path, str]  # a file, and a name in it


def reached(starts: Iterable[Start]) -> dict[Start, list[str]]:
    """Collect every definition that counts: (file, name) → the digests of its statements."""
    found: dict[Start, list[str]] = {}
    waiting = list(starts)
    while waiting:
        path, name = start = waiting.pop()
        if start in found:
            continue
        source = read_source(path)
        statements = source.defined.get(name, [])
        found[start] = [statement.digest for statement in statements]
        waiting += [other for statement in statements for other in _named(statement, source)]
        if name in source.imported:
            waiting += _whole(source.imported[name])
        if name:
            waiting.append(
                (path, "")
            )  # what a file does when it is imported counts with any of its definitions
    return found


def fingerprint(starts: Iterable[Start], *more: str) -> str:
    """Name the code that can be reached, whatever its files are called, and further texts."""
    listed = tuple(starts)
    return _fingerprint(listed, more, tuple(path.stat().st_mtime_ns for path, _ in listed))


@cache
def _fingerprint(
    starts: tuple[Start, ...], more: tuple[str, ...], _changed: tuple[int, ...]
) -> str:
    digests = sorted({digest for some in reached(starts).values() for digest in some})
    return _digest("\n".join([*digests, *more]))


class Statement(NamedTuple):
    """The digest of a statement, and the names in it, each with the attribute taken ("" for
    none)."""

    digest: str
    names: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Source:
    """A file: its statements by the name they define ("" for none), and the names it imports."""

    path: Path
    defined: dict[str, list[Statement]] = field(default_factory=dict)
    imported: dict[str, Start] = field(
        default_factory=dict
    )  # name → file, name there ("" for the file itself)


def read_source(path: Path) -> Source:
    """Parse a file as it is now."""
    return _parsed(path, path.stat().st_mtime_ns)


@cache
def _parsed(path: Path, _changed: int) -> Source:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    source = Source(path)
    for node in ast.walk(tree):  # also what is imported inside functions
        source.imported.update(_imports(node, path))
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) or _for_readers(node):
            continue
        statement = _statement(node)
        for name in list(_defines(node)) or [""]:
            source.defined.setdefault(name, []).append(statement)
    return source


def _imports(node: ast.AST, path: Path) -> Iterator[tuple[str, Start]]:
    """List the names that an import takes from locant's files, or from those beside a user's
    file."""
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            there = _import(node.module, alias.name, path)
            if there is not None:
                yield alias.asname or alias.name, there
    elif isinstance(node, ast.Import):
        for alias in node.names:
            file = _file(alias.name, path)
            if file is not None:
                yield alias.asname or alias.name.partition(".")[0], (file, "")


def _import(module: str, name: str, beside: Path) -> Start | None:
    """Resolve `from module import name` to a file or a name in one; None outside of user code and
    locant."""
    whole = _file(f"{module}.{name}", beside)
    if whole is not None:
        return whole, ""
    file = _file(module, beside)
    return None if file is None else (file, name)


def _file(module: str, beside: Path) -> Path | None:
    """Find the file of a module of locant, or of one beside a user's own file."""
    first, *rest = module.split(".")
    ours = first == PACKAGE.name
    if not ours and beside.is_relative_to(PACKAGE):
        return None
    stem = PACKAGE.joinpath(*rest) if ours else beside.parent.joinpath(first, *rest)
    ways = (stem.with_suffix(".py"), stem / "__init__.py")
    return next((path for path in ways if path.is_file()), None)


def _defines(node: ast.stmt) -> Iterator[str]:
    """List the names that a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def _for_readers(node: ast.stmt) -> bool:
    """Say whether a statement is a docstring, or an import for types only."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def _named(statement: Statement, source: Source) -> Iterator[Start]:
    """List what a statement names, as defined in its file or imported from another."""
    for name, attribute in statement.names:
        if name in source.defined:
            yield source.path, name
        elif name in source.imported:
            path, there = source.imported[name]
            yield from [(path, attribute)] if attribute and not there else _whole((path, there))


def _whole(there: Start) -> list[Start]:
    """Return one name of a file, or all of them when none is given."""
    path, name = there
    return [(path, name)] if name else [(path, one) for one in read_source(path).defined]


def _statement(node: ast.stmt) -> Statement:
    bare = _Stripper().visit(node)
    parts = list(ast.walk(bare))
    dotted = {id(part.value): part.attr for part in parts if isinstance(part, ast.Attribute)}
    names = {(part.id, dotted.get(id(part), "")) for part in parts if isinstance(part, ast.Name)}
    return Statement(_digest(ast.dump(bare)), frozenset(names))


class _Stripper(ast.NodeTransformer):
    """Remove what decides no number: docstrings, types of arguments, words of errors, imports."""

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            node.body = [one for one in node.body if not _for_readers(one)] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        return super().visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.Raise()

    def visit_Import(self, node: ast.Import) -> ast.AST:
        return ast.Pass()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        return ast.Pass()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
