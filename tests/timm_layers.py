"""Layers of timm as references, without torchvision: the file of a layer runs, the package's own
`__init__` does not."""

from __future__ import annotations

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest


def timm_layer(name: str) -> ModuleType:
    """The module timm.layers.NAME; the test is skipped where timm is not installed."""
    spec = find_spec("timm") if "timm" not in sys.modules else sys.modules["timm"].__spec__
    if spec is None or spec.origin is None:
        pytest.skip("needs timm as a reference: pip install --no-deps timm")
    root, before = Path(spec.origin).parent, dict(sys.modules)
    for package, folder in (("timm", root), ("timm.layers", root / "layers")):
        empty = ModuleType(package)
        empty.__path__ = [str(folder)]
        sys.modules[package] = empty
    try:
        return importlib.import_module(f"timm.layers.{name}")
    finally:
        for module in [one for one in sys.modules if one.partition(".")[0] == "timm"]:
            del sys.modules[module]
        sys.modules.update({key: kept for key, kept in before.items() if "timm" in key})
