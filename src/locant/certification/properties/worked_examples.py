"""Worked examples: the numbers written in the encoding's own file, for people to check by hand,
hold."""

from __future__ import annotations

import doctest
import inspect
import re
import sys
from typing import Any

import numpy as np
import torch

import locant.encodings.registry
from locant.certification.probe import Probe, PropertyResult
from locant.shapes import Shape

NAME = "examples"
SENTENCE = "The worked numbers in its own file hold."
CLAIM = "law"
BOUND = "every example, as printed"
WHY = "a wrong sign, pairing or slope can obey every symmetry; a number worked out by hand tells"


def measure(probe: Probe) -> PropertyResult:
    cls = type(probe.encoding)
    module = sys.modules.get(cls.__module__)
    text = "\n\n".join(
        inspect.cleandoc(doc) for doc in (getattr(module, "__doc__", None), cls.__doc__) if doc
    )
    if ">>>" not in text:
        return PropertyResult(
            None, "–", "Its file has no worked example (a >>> line and its result)."
        )

    def make(name: str, *, dim: int, heads: int = 1, length: int = 512, **options: Any) -> Any:
        own = locant.encodings.registry.names()
        here = inspect.getfile(cls).endswith(f"{name}.py") or name not in own
        if here:
            return cls(Shape(dim, heads, length), **options)
        return locant.encodings.registry.make(name, dim=dim, heads=heads, length=length, **options)

    names = {
        **vars(module),
        "make": make,
        "torch": torch,
        "np": np,
        "locant": locant,
        "Shape": Shape,
    }
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    test = doctest.DocTestParser().get_doctest(text, names, cls.__name__, None, None)
    wrong: list[str] = []
    with torch.enable_grad():
        result = doctest.DocTestRunner(verbose=False, optionflags=flags).run(
            test, out=wrong.append, clear_globs=False
        )
    if result.failed:
        return PropertyResult(
            False, f"{result.failed} wrong", _first(wrong), {"failed": result.failed}
        )
    return PropertyResult(
        True, str(result.attempted), f"All {result.attempted} lines of its worked examples hold."
    )


def _first(wrong: list[str]) -> str:
    """The failing example in one line: what was run, what it gave, and what it should have
    given."""
    text = wrong[0].partition("Failed example:\n")[2]
    code, *parts = re.split(
        r"^(?:Expected|Got|Exception raised)(?:: *| nothing)$", text, flags=re.MULTILINE
    )
    code = _line(re.sub(r"  +# .*", "", code))
    if len(parts) < 2:
        return f"{code} raised {_line(wrong[0].strip().splitlines()[-1])}"
    want, got = (_line(part) or "nothing" for part in parts)
    return f"{code} gives {got}, not {want}"


def _line(text: str) -> str:
    return " ".join(text.split())[:150]
