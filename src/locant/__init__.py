"""locant tells a transformer where each token is, and tells you which way of telling it works.

>>> import locant
>>> rope = locant.make("rotary", dim=64, heads=4)
>>> rope.shape
Shape(dim=64, heads=4, length=512)

The names below are loaded when they are first used, so that the commands that need no torch import none. So are the
modules: `locant.testing`, `locant.encodings.Rotary` and the rest need no import of their own.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "adapt": "locant.adapters",
    "names": "locant.catalog",
    "make": "locant.catalog",
    "Shape": "locant.shapes",
    "Encoding": "locant.encodings.base",
    "attend": "locant.attention",
    "Attention": "locant.self_attention",
    "Cache": "locant.cache",
    "Transformer": "locant.model",
    "certify": "locant.certificate",
    "permute_for_pairing": "locant.encodings.rotary",
    "plan": "locant.planning",
}

if TYPE_CHECKING:  # for editors and type checkers; modules that are not listed here are found all the same
    from locant import baselines as baselines
    from locant import detection as detection
    from locant import encodings as encodings
    from locant import metrics as metrics
    from locant import positions as positions
    from locant import properties as properties
    from locant import samplers as samplers
    from locant import series as series
    from locant import testing as testing
    from locant.adapters import adapt
    from locant.attention import attend
    from locant.cache import Cache
    from locant.catalog import make, names
    from locant.certificate import certify
    from locant.encodings.base import Encoding
    from locant.encodings.rotary import permute_for_pairing
    from locant.model import Transformer
    from locant.planning import plan
    from locant.self_attention import Attention
    from locant.shapes import Shape

__all__ = [
    "Attention",
    "Cache",
    "Encoding",
    "Shape",
    "Transformer",
    "adapt",
    "attend",
    "certify",
    "make",
    "names",
    "permute_for_pairing",
    "plan",
    "positions",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _modules():
        return import_module(f"locant.{name}")
    raise AttributeError(
        f"locant has no name {name!r}. It has: {', '.join(__all__)}\n  Its modules: {', '.join(_modules())}"
    )


def __dir__() -> list[str]:
    return sorted({*__all__, *_modules()})


def _modules() -> list[str]:
    return [module.name for module in iter_modules(__path__) if not module.name.startswith("_")]
