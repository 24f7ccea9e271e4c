"""The detection methods, found by file: each subclass of `Method` with a `name` in this folder.

Names are read from the source, so that `locant detect --help` lists them without importing torch.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from locant._internal.checks import one_of

if TYPE_CHECKING:
    from locant.anomaly.detector.methods.base import Method, TrainingData

AUTO = "auto"


class _Source(NamedTuple):
    """Where a method is defined."""

    module: str
    class_name: str
    takes_encoding: bool


def names() -> tuple[str, ...]:
    """List the methods: first those that take an encoding, then the others by file.

    >>> names()
    ('transformer', 'harmonic', 'sub-pca', 'nearest-window')
    """
    return tuple(_sources())


def load(name: str) -> type[Method]:
    """Import the class of a method."""
    source = _sources()[one_of("detect", "method", name, names())]
    module = import_module(f"{__name__}.{source.module}")
    found: type[Method] = getattr(module, source.class_name)
    return found


@dataclass(frozen=True)
class Candidate:
    """A method with its options, which are plain values so that they can be saved in a file."""

    method: str
    encoding: str  # "" for methods that take none
    settings: dict[str, Any]

    @property
    def name(self) -> str:
        """Return the method, with its encoding where it has one."""
        return f"{self.method} ({self.encoding})" if self.encoding else self.method

    def make(self, progress: Callable[[float], None] | None = None) -> Method:
        """Make the method, still untrained."""
        kind = load(self.method)
        if not kind.takes_encoding:
            return kind(**self.settings)
        make: Any = kind
        made: Method = make(encoding=self.encoding, progress=progress, **self.settings)
        return made


def candidates(method: str, encodings: Sequence[str], data: TrainingData) -> list[Candidate]:
    """List the candidates that a method's name stands for: "auto" stands for all methods."""
    one_of("detect", "method", method, (AUTO, *names()))
    chosen = names() if method == AUTO else (method,)
    found = []
    for name in chosen:
        kind = load(name)
        for encoding in encodings if kind.takes_encoding else ("",):
            found.append(Candidate(name, encoding, kind.options(data, encoding)))
    return found


def _sources() -> dict[str, _Source]:
    """Find every method by name."""
    found: dict[str, _Source] = {}
    for folder in __path__:
        for path in sorted(Path(folder).glob("[a-z]*.py")):
            for name, source in _defined(path, path.stat().st_mtime_ns):
                found.setdefault(name, source)
    return dict(sorted(found.items(), key=lambda item: not item[1].takes_encoding))


@cache
def _defined(path: Path, _changed: int) -> list[tuple[str, _Source]]:
    """Read the names of the methods in a file without importing it."""
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.ClassDef):
            continue
        values = _constants(node)
        if isinstance(values.get("name"), str):
            takes_encoding = bool(values.get("takes_encoding"))
            found.append((values["name"], _Source(path.stem, node.name, takes_encoding)))
    return found


def _constants(node: ast.ClassDef) -> dict[str, Any]:
    """Read the attributes of a class whose values are constants."""
    found = {}
    for line in node.body:
        targets = line.targets if isinstance(line, ast.Assign) else []
        if isinstance(line, ast.AnnAssign):
            targets = [line.target]
        for target in targets:
            value = getattr(line, "value", None)
            if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
                found[target.id] = value.value
    return found
