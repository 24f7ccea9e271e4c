"""Pretrained models of transformers: read, certify, swap and extend their positions.

read_config   a config → one encoding for each layer
read          a loaded model → one encoding for each layer, with its learned tables
first_position  where a model's table starts to count: 2 for RoBERTa
pairing       which pairing the weights of a rotary checkpoint were trained with
certify       padding, packing, caches, long positions: what holds for a whole model
swap          another encoding in a model, and back
extend        a longer context without training, compared on the user's own text

Nothing here downloads anything, runs code that comes with a checkpoint, or unpickles objects.

>>> from locant import hf
>>> encodings = hf.read(hf.load("checkpoint"))  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from locant._internal.checks import did_you_mean, how_to_install

if TYPE_CHECKING:
    from locant.hf.checking.certify_model import certify as certify
    from locant.hf.checkpoints.loading import load as load
    from locant.hf.extending.extend_context import extend as extend
    from locant.hf.reading.config_reader import read_config as read_config
    from locant.hf.reading.model_reader import first_position as first_position
    from locant.hf.reading.model_reader import read as read
    from locant.hf.reading.pairing_scores import pairing as pairing
    from locant.hf.swapping.swap_encoding import swap as swap

_HOME = {
    "load": "locant.hf.checkpoints.loading",
    "read_config": "locant.hf.reading.config_reader",
    "read": "locant.hf.reading.model_reader",
    "first_position": "locant.hf.reading.model_reader",
    "pairing": "locant.hf.reading.pairing_scores",
    "certify": "locant.hf.checking.certify_model",
    "swap": "locant.hf.swapping.swap_encoding",
    "extend": "locant.hf.extending.extend_context",
}


def __getattr__(name: str) -> Any:
    """Load a public name, or a module of this room, when it is first used."""
    if find_spec(f"locant.hf.{name}") is not None:
        return import_module(f"locant.hf.{name}")
    if name not in _HOME:
        raise AttributeError(
            f"locant.hf has no name {name!r}.{did_you_mean(name, _HOME)} It has: {', '.join(_HOME)}"
        )
    need_transformers()
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOME)


def need_transformers() -> None:
    """Raise an ImportError that says how to get transformers where it is not installed."""
    if find_spec("transformers") is None:
        raise ImportError(
            f"locant.hf needs transformers, which is not installed.{how_to_install('hf')}"
        )
