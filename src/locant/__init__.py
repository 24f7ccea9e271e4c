"""locant tells a transformer where each token is, and tells you which way of telling it works.

>>> import locant
>>> rope = locant.make("rotary", dim=64, heads=4)
>>> rope.shape
Shape(dim=64, heads=4, length=512)

The names below are loaded when they are first used, so that the commands that need no torch import
none. So are the modules: `locant.testing`, `locant.encodings.Rotary` and the rest need no import of
their own.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "adapt": "locant.encodings.adapt",
    "names": "locant.encodings.registry",
    "make": "locant.encodings.registry",
    "Shape": "locant.shapes",
    "Encoding": "locant.encodings.base",
    "attend": "locant.attention.functional",
    "Attention": "locant.attention.layer",
    "Cache": "locant.attention.kv_cache",
    "Transformer": "locant.nn.transformer",
    "certify": "locant.certification.certificate",
    "permute_for_pairing": "locant.encodings.rotary",
    "plan": "locant.attention.planning",
}

if (
    TYPE_CHECKING
):  # for editors and type checkers; modules that are not listed here are found all the same
    from locant import anomaly as anomaly
    from locant import attention as attention
    from locant import certification as certification
    from locant import encodings as encodings
    from locant import figures as figures
    from locant import hf as hf
    from locant import lab as lab
    from locant import nn as nn
    from locant import positions as positions
    from locant import testing as testing
    from locant.attention.functional import attend
    from locant.attention.kv_cache import Cache
    from locant.attention.layer import Attention
    from locant.attention.planning import plan
    from locant.certification.certificate import certify
    from locant.encodings.adapt import adapt
    from locant.encodings.base import Encoding
    from locant.encodings.registry import make, names
    from locant.encodings.rotary import permute_for_pairing
    from locant.nn.transformer import Transformer
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
        f"locant has no name {name!r}. It has: {', '.join(__all__)}\n  Its modules: "
        f"{', '.join(_modules())}"
    )


def __dir__() -> list[str]:
    return sorted({*__all__, *_modules()})


def _modules() -> list[str]:
    return [module.name for module in iter_modules(__path__) if not module.name.startswith("_")]
