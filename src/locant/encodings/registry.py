"""From a name to an encoding: what there is, what each one says of itself, and how to build it.

Names and claims are read from the source files without running them, so that listing needs no torch.
`path.py:Class` names a user's own encoding; that file is run, because the user asked for it.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import operator
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from locant._internal.checks import did_you_mean
from locant.encodings.claims import CLAIMS, HOOKS
from locant.shapes import Shape

if TYPE_CHECKING:
    from locant.encodings.base import Encoding

FOLDER = Path(__file__).parent
NO_ENCODINGS = ("adapt", "base", "claims", "registry")  # files of this folder that hold none
ALIASES = {
    "rope": "rotary",
    "nope": "none",
    "sinusoid": "sinusoidal",
}  # other words that people know, in small letters


@dataclass(frozen=True)
class Entry:
    """What the source of one encoding says about it."""

    name: str
    path: Path
    class_name: str
    doc: str
    claims: dict[str, Any]
    hooks: tuple[str, ...]
    options: dict[str, Any]
    learned: str
    paper: str

    @property
    def title(self) -> str:
        """The first line of the file's text."""
        return self.doc.strip().split("\n")[0]

    @property
    def formula(self) -> list[str]:
        """As it stands in the encoding's own file: the indented lines before the first example."""
        lines = self.doc.partition(">>>")[0].splitlines()
        return [line.strip() for line in lines if line.startswith("    ") and line.strip()]

    def parameters(self, shape: Shape, **options: Any) -> int:
        """How many numbers it learns at this size."""
        numbers = {**self.options, **options}
        numbers |= {
            "dim": shape.dim,
            "heads": shape.heads,
            "length": shape.length,
            "head": shape.head,
        }
        return arithmetic(self.learned, numbers)


def names() -> list[str]:
    """The names of all encodings that come with locant, in alphabetical order.

    >>> names()[:3]
    ['alibi', 'continuous', 'fourier']
    """
    return sorted(
        p.stem
        for p in FOLDER.glob("*.py")
        if not p.stem.startswith("_") and p.stem not in NO_ENCODINGS
    )


def canonical(name: str) -> str:
    """Give the name in `names()` that a word stands for, in capitals or not; a word that is no name stays as it is.

    >>> canonical("RoPE"), canonical("ALiBi"), canonical("mine.py:Mine")
    ('rotary', 'alibi', 'mine.py:Mine')
    """
    if not isinstance(name, str):
        return name
    small = ALIASES.get(name.lower(), name.lower())
    return small if small in names() else name


def claiming(claim: str) -> list[str]:
    """The names of the encodings that make a claim.

    >>> claiming("prefers_near")
    ['alibi']
    """
    return [name for name in names() if describe(name).claims[claim]]


def describe(name: str) -> Entry:
    """Read what an encoding says of itself, without running it.

    >>> describe("alibi").hooks
    ('bias',)
    """
    name = canonical(name)
    path, class_name = _locate(name)
    return _read(name, path, class_name, path.stat().st_mtime_ns)


def load(name: str) -> type[Encoding]:
    """The class behind a name, or behind `path.py:Class`."""
    name = canonical(name)
    path, class_name = _locate(name)
    if path.parent == FOLDER:
        module = importlib.import_module(f"locant.encodings.{path.stem}")
    else:
        module = _run_file(path)
    found = getattr(module, describe(name).class_name)
    from locant.encodings.base import Encoding

    if not (isinstance(found, type) and issubclass(found, Encoding)):
        raise ValueError(
            f"{name}: {class_name} is not an encoding.\n"
            "  Derive it: from locant.encodings.base import Encoding; class Mine(Encoding): ...\n"
            "  Or wrap a plain module or function in Python: locant.certify(locant.adapt(module, dim=…, heads=…))"
        )
    return found


def make(name: str, *, dim: int, heads: int = 1, length: int = 512, **options: Any) -> Encoding:
    """Build an encoding by name.

    name     one of `names()`, in capitals or not, or a word of `ALIASES`; or "path.py:Class" for your own
    dim      model width D; heads: number of heads H; length: the positions it is made for
    options  the encoding's own, such as base=500_000.0 for rotary

    >>> make("rotary", dim=64, heads=4, pairing="interleaved").pairing
    'interleaved'
    >>> type(make("RoPE", dim=64, heads=4)).__name__
    'Rotary'
    >>> make("rop", dim=64)
    Traceback (most recent call last):
    ValueError: no encoding is called 'rop'. Did you mean 'rotary'?
      Known: alibi, continuous, fourier, hybrid, learned, none, pope, relative, rotary, shaw, sinusoidal, t5
    """
    name = canonical(name)
    cls = load(name)
    allowed = [
        p.name for p in inspect.signature(cls).parameters.values() if p.kind is p.KEYWORD_ONLY
    ]
    for option in options:
        if option not in allowed:
            listed = ", ".join(f"{key}={value!r}" for key, value in describe(name).options.items())
            raise ValueError(
                f"{name} has no option {option!r}.{did_you_mean(option, allowed)}\n"
                f"  Its options, with defaults: {listed or 'none at all'}"
            )
    shape = Shape(dim, heads, length)
    try:
        bound = inspect.signature(cls).bind(shape, **options)
    except TypeError as problem:
        raise ValueError(
            f"{name} cannot be made so: {problem}. Give it as an option of make."
        ) from None
    bound.apply_defaults()
    encoding = cls(shape, **options)
    encoding._asked = name, {option: bound.arguments[option] for option in allowed}
    return encoding


def _locate(name: str) -> tuple[Path, str]:
    """The file and, for a user's own encoding, the class that a name stands for."""
    if not isinstance(name, str):
        raise ValueError(
            f"an encoding is named by a word or by 'path.py:Class'. Got {name!r} instead."
        )
    if ".py" in name:
        file, colon, class_name = name.rpartition(":")
        if not colon or not class_name.isidentifier():
            raise ValueError(
                f"{name!r} names no class. Write the file and the class: 'mine.py:Mine'."
            )
        path = Path(file).expanduser().resolve()
        if not path.is_file():
            raise ValueError(
                f"there is no file {file!r}, asked for by {name!r}. Looked in {path.parent}."
            )
        return path, class_name
    if name not in names():
        raise ValueError(
            f"no encoding is called {name!r}.{did_you_mean(name, names())}\n  Known: {', '.join(names())}"
        )
    return FOLDER / f"{name}.py", ""


@cache
def _read(name: str, path: Path, class_name: str, _changed: int) -> Entry:
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError) as problem:
        raise ValueError(f"{path.name} is not Python that can be read: {problem}") from problem
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    if not class_name:
        class_name = next(
            key for key, node in classes.items() if "Encoding" in map(ast.unparse, node.bases)
        )
    if class_name not in classes:
        raise ValueError(
            f"{path.name} has no class {class_name!r}.{did_you_mean(class_name, classes)}\n"
            f"  Its classes: {', '.join(classes) or 'none'}"
        )
    node = classes[class_name]
    own = dict(_literals(node))
    said = _defaults() | {key: value for key, value in own.items() if key in _defaults()}
    methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    return Entry(
        name=name,
        path=path,
        class_name=class_name,
        doc=ast.get_docstring(tree) or ast.get_docstring(node) or class_name,
        claims={claim: said[claim] for claim in (*CLAIMS, "axes")},
        hooks=tuple(hook for hook in HOOKS if hook in methods),
        options=_options(methods.get("__init__")),
        learned=str(said["learned"]),
        paper=str(said["paper"]),
    )


@cache
def _defaults() -> dict[str, Any]:
    """What the base class claims: nothing."""
    tree = ast.parse((FOLDER / "base.py").read_text(encoding="utf-8"))
    node = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Encoding")
    return dict(_literals(node))


def _literals(node: ast.ClassDef) -> Iterator[tuple[str, Any]]:
    """The class attributes that are plain values."""
    for item in node.body:
        target: ast.expr | None = item.target if isinstance(item, ast.AnnAssign) else None
        if isinstance(item, ast.Assign) and len(item.targets) == 1:
            target = item.targets[0]
        value = getattr(item, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
            yield target.id, value.value


def _options(init: ast.FunctionDef | None) -> dict[str, Any]:
    """The keyword options of a constructor, with their defaults."""
    if init is None:
        return {}
    pairs = zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True)
    return {arg.arg: _value(default) for arg, default in pairs if default is not None}


def _value(node: ast.expr) -> Any:
    """A default as a plain value; its own text when it is none."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)


def arithmetic(formula: str, numbers: dict[str, Any]) -> int:
    """The value of a formula in +, -, *, // over named numbers.

    >>> arithmetic("2 * hidden + dim // 2", {"hidden": 3, "dim": 8})
    10
    """
    try:
        return _worked_out(ast.parse(formula, mode="eval").body, numbers)
    except (SyntaxError, KeyError, TypeError, ValueError, ZeroDivisionError) as problem:
        raise ValueError(
            f"learned = {formula!r} cannot be worked out: {type(problem).__name__} {problem}.\n"
            f"  It is a formula in +, -, *, // over whole numbers and: {', '.join(numbers)}"
        ) from None


def _worked_out(node: ast.expr, numbers: dict[str, Any]) -> int:
    if isinstance(node, ast.Constant):
        return int(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        return int(numbers[node.id])
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](
            _worked_out(node.left, numbers), _worked_out(node.right, numbers)
        )
    raise ValueError(ast.unparse(node))


_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}


def _run_file(path: Path) -> Any:
    """Import a user's file under a name of its own."""
    module_name = f"locant_user_{path.stem}_{abs(hash(str(path))):x}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} cannot be imported as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as problem:
        del sys.modules[module_name]
        raise ValueError(
            f"{path.name} failed while it was imported: {type(problem).__name__}: {problem}"
        ) from problem
    return module
