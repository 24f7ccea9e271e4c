"""One file, one formula, one name. A file that defines a subclass of `Encoding` is found by itself.

>>> from locant.encodings import Rotary
>>> Rotary(Shape(64, heads=4), pairing="interleaved").pairing
'interleaved'

Every class is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from locant._internal.checks import did_you_mean
from locant.encodings import registry

if TYPE_CHECKING:  # for editors and type checkers; what is not listed here is found all the same
    from locant.encodings.alibi import Alibi as Alibi
    from locant.encodings.base import Encoding as Encoding
    from locant.encodings.continuous import Continuous as Continuous
    from locant.encodings.cope import Cope as Cope
    from locant.encodings.deberta import Deberta as Deberta
    from locant.encodings.dynamic import Dynamic as Dynamic
    from locant.encodings.erpe import Erpe as Erpe
    from locant.encodings.fire import Fire as Fire
    from locant.encodings.forgetting import Forgetting as Forgetting
    from locant.encodings.fourier import Fourier as Fourier
    from locant.encodings.hybrid import Hybrid as Hybrid
    from locant.encodings.inkling import Inkling as Inkling
    from locant.encodings.kerple import Kerple as Kerple
    from locant.encodings.learned import Learned as Learned
    from locant.encodings.log_cpb import LogCPB as LogCPB
    from locant.encodings.none import Nothing as Nothing
    from locant.encodings.pope import Pope as Pope
    from locant.encodings.relative import Relative as Relative
    from locant.encodings.rope_mixed import RopeMixed as RopeMixed
    from locant.encodings.rotary import Rotary as Rotary
    from locant.encodings.sandwich import Sandwich as Sandwich
    from locant.encodings.shaw import Shaw as Shaw
    from locant.encodings.sinusoidal import Sinusoidal as Sinusoidal
    from locant.encodings.swin import Swin as Swin
    from locant.encodings.t5 import T5 as T5
    from locant.encodings.tape import Tape as Tape
    from locant.encodings.time2vec import Time2Vec as Time2Vec
    from locant.encodings.transformer_xl import TransformerXL as TransformerXL
    from locant.encodings.xpos import Xpos as Xpos


def __getattr__(name: str) -> Any:
    if name in (*registry.NO_ENCODINGS, *registry.names()):
        return import_module(f"locant.encodings.{name}")
    if name.startswith("_"):
        raise AttributeError(f"locant.encodings has no name {name!r}.")
    homes = _homes()
    if name not in homes:
        raise AttributeError(
            f"locant.encodings has no name {name!r}.{did_you_mean(name, homes)}\n  Its classes: "
            f"{', '.join(homes)}"
        )
    return getattr(import_module(f"locant.encodings.{homes[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*_homes(), *registry.NO_ENCODINGS, *registry.names()])


def _homes() -> dict[str, str]:
    """The file of every class."""
    return {"Encoding": "base"} | {
        registry.describe(name).class_name: name for name in registry.names()
    }
