"""Find encodings by name: which there are, what each states about itself, and how to build it.

Names, claims, hooks and options are read from source files without running them (`_source`), so
that listing needs no torch. `path.py:Class` names a user's own encoding; `make` runs that file.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from locant._internal.checks import did_you_mean
from locant.encodings import _source
from locant.encodings.claims import CLAIMS, HOOKS, evaluate_count, warn_of_learned
from locant.shapes import Shape

if TYPE_CHECKING:
    from locant.encodings.base import Encoding

FOLDER = Path(__file__).parent
NO_ENCODINGS = (
    "adapt",
    "base",
    "claims",
    "hooks",
    "registry",
)  # modules here that hold no encoding
ALIASES = {"rope": "rotary", "nope": "none", "sinusoid": "sinusoidal"}  # in lower case


@dataclass(frozen=True)
class Entry:
    """What the source of one encoding states about it; what its class inherits counts."""

    name: str
    path: Path
    class_name: str
    doc: str
    claims: dict[str, Any]
    hooks: tuple[str, ...]
    options: dict[str, Any]
    parameter_count: str
    paper: str

    @property
    def title(self) -> str:
        """The first line of the docstring."""
        return self.doc.strip().split("\n")[0]

    @property
    def formula(self) -> list[str]:
        """The formula from the docstring: its indented lines before the first example."""
        lines = self.doc.partition(">>>")[0].splitlines()
        return [line.strip() for line in lines if line.startswith("    ") and line.strip()]

    def parameters(self, shape: Shape, **options: Any) -> int:
        """Count the parameters that the encoding learns at this shape, with these options."""
        numbers = {**self.options, **options}
        numbers |= {
            "dim": shape.dim,
            "heads": shape.heads,
            "length": shape.length,
            "head": shape.head,
        }
        return evaluate_count(self.parameter_count, numbers)


def names() -> list[str]:
    """List the names of all encodings that come with locant, in alphabetical order.

    >>> names()[:3]
    ['alibi', 'continuous', 'cope']
    """
    stems = (path.stem for path in FOLDER.glob("[!_]*.py"))
    return sorted(stem for stem in stems if stem not in NO_ENCODINGS)


def canonical(name: str) -> str:
    """Return the name in `names()` that a word stands for; any other word is returned as it is.

    >>> canonical("RoPE"), canonical("ALiBi"), canonical("mine.py:Mine")
    ('rotary', 'alibi', 'mine.py:Mine')
    """
    if not isinstance(name, str):
        return name
    small = ALIASES.get(name.lower(), name.lower())
    return small if small in names() else name


def suggest(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean 'rotary'?" for a word near a known name or an alias; else nothing.

    >>> suggest("rop", ["rope_mixed", "rotary"])
    " Did you mean 'rotary'?"
    """
    hint = did_you_mean(name, [*known, *ALIASES])
    for alias, meant in ALIASES.items():
        hint = hint.replace(repr(alias), repr(meant))
    return hint


def claiming(claim: str) -> list[str]:
    """List the names of the encodings that make a claim.

    >>> claiming("prefers_near")
    ['alibi', 'forgetting', 'kerple']
    """
    return [name for name in names() if describe(name).claims[claim]]


def describe(name: str) -> Entry:
    """Read what an encoding states about itself, without running it.

    >>> describe("alibi").hooks
    ('bias',)
    """
    name = canonical(name)
    path, class_name = _locate(name)
    class_name = class_name or _first_encoding(path)
    lineage = _source.inheritance(path, class_name)
    module = _source.read_module(path)
    stated = _stated(lineage)
    return Entry(
        name=name,
        path=path,
        class_name=class_name,
        doc=module.doc or lineage[0][1].doc or class_name,
        claims={claim: stated[claim] for claim in (*CLAIMS, "axes")},
        hooks=tuple(hook for hook in HOOKS if _overrides(lineage, hook)),
        options=_options(lineage),
        parameter_count=str(stated["parameter_count"]),
        paper=str(stated["paper"]),
    )


def load(name: str) -> type[Encoding]:
    """Return the class behind a name, or behind `path.py:Class`."""
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
            "  Or wrap a plain module or function in Python: "
            "locant.certify(locant.adapt(module, dim=…, heads=…))"
        )
    return found


def make(name: str, *, dim: int, heads: int = 1, length: int = 512, **options: Any) -> Encoding:
    """Build an encoding by name.

    name     one of `names()` or `ALIASES`, in any case; or "path.py:Class" for your own
    dim      model width D
    heads    number of heads H
    length   number of positions that the encoding is made for
    options  the encoding's own options, such as base=500_000.0 for rotary

    >>> make("rotary", dim=64, heads=4, pairing="interleaved").pairing
    'interleaved'
    >>> type(make("RoPE", dim=64, heads=4)).__name__
    'Rotary'
    >>> make("rop", dim=64)
    Traceback (most recent call last):
    ValueError: no encoding is called 'rop'. Did you mean 'rotary'?
      Known: alibi, continuous, cope, deberta, dynamic, ...
    """
    name = canonical(name)
    cls = load(name)
    from locant.encodings.base import constructor_options

    allowed = constructor_options(cls)
    for option in options:
        if option not in allowed:
            defaults = describe(name).options.items()
            listed = ", ".join(f"{key}={value!r}" for key, value in defaults)
            raise ValueError(
                f"{name} has no option {option!r}.{did_you_mean(option, allowed)}\n"
                f"  Its options, with defaults: {listed or 'none at all'}"
            )
    shape = Shape(dim, heads, length)
    try:
        inspect.signature(cls).bind(shape, **options)
    except TypeError as problem:
        raise ValueError(
            f"{name} cannot be made so: {problem}. Give it as an option of make."
        ) from None
    encoding = cls(shape, **options)
    given = {option: options.get(option, default) for option, default in allowed.items()}
    encoding._requested = name, given
    return encoding


def _locate(name: str) -> tuple[Path, str]:
    """Return the file and, for a user's own encoding, the class that a name stands for."""
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
            f"no encoding is called {name!r}.{suggest(name, names())}\n"
            f"  Known: {', '.join(names())}"
        )
    return FOLDER / f"{name}.py", ""


def _first_encoding(path: Path) -> str:
    """Return the first class of a file that is an encoding."""
    for class_name in _source.read_module(path).classes:
        found = [owner for owner, _ in _source.inheritance(path, class_name)]
        if _source.BASE_CLASS in found:
            return class_name
    raise ValueError(f"{path.name} defines no encoding.")


Lineage = list[tuple[_source.ClassName, _source.Definition]]


def _stated(lineage: Lineage) -> dict[str, Any]:
    """Return the class attributes that the base class names, as the class states or inherits
    them."""
    stated = dict(_source.define(_source.BASE_CLASS).attributes)
    for owner, definition in reversed(lineage):
        own = {key: value for key, value in definition.attributes.items() if key in stated}
        learned = definition.attributes.get("learned")
        if isinstance(learned, str) and "parameter_count" not in own:
            warn_of_learned(f"{owner.path.name}:{owner.name}")
            own["parameter_count"] = learned
        stated |= own
    return stated


def _overrides(lineage: Lineage, hook: str) -> bool:
    """Tell whether a class has, or inherits, its own version of a hook."""
    for owner, definition in lineage:
        if owner == _source.BASE_CLASS or hook in definition.restored:
            return False
        if hook in definition.methods or hook in definition.assigned:
            return True
    return False


def _options(lineage: Lineage) -> dict[str, Any]:
    """Return the options of the constructor, and of the inherited one that it passes **options
    to."""
    options: dict[str, Any] = {}
    for owner, definition in lineage:
        init = definition.methods.get("__init__")
        if owner == _source.BASE_CLASS:
            break
        if init is not None:
            options = {**_source.options_of(init), **options}
            if init.args.kwarg is None:
                break
    return options


def _run_file(path: Path) -> Any:
    """Import a user's file under a module name of its own; it may import the files beside it."""
    module_name = f"locant_user_{path.stem}_{abs(hash(str(path))):x}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} cannot be imported as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as problem:
        del sys.modules[module_name]
        raise ValueError(
            f"{path.name} failed while it was imported: {type(problem).__name__}: {problem}"
        ) from problem
    return module
