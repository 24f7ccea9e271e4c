"""Checkpoints that are one file: GGUF, a RoBERTa of fairseq (.pt), a Llama of llama2.c (.bin)."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from locant._internal.checks import how_to_install
from locant.hf.checkpoints.fairseq_roberta import read_fairseq
from locant.hf.checkpoints.llama2c import read_llama2c, read_sizes

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def load_file(path: Path) -> PreTrainedModel:
    """Open a checkpoint that is one file, in float32, ready for inference."""
    if path.suffix == ".gguf":
        return _load_gguf(path)
    if path.suffix == ".pt":
        return _named(read_fairseq(path), path)
    sizes = read_sizes(path) if path.suffix == ".bin" else None
    if sizes is None:
        raise ValueError(
            f"{path.name} is no checkpoint that can be opened.\n"
            "  Give the folder that holds config.json and weights, a config.json, or a single "
            "file: .gguf, a RoBERTa of fairseq (.pt), a Llama of llama2.c (.bin)."
        )
    return _named(read_llama2c(path, sizes), path)


def _named(model: PreTrainedModel, path: Path) -> PreTrainedModel:
    """Remember where a model came from: there its tokenizer is."""
    model.name_or_path = str(path)
    return model.eval()


def _load_gguf(path: Path) -> PreTrainedModel:
    from transformers import AutoModelForCausalLM

    _need_gguf()
    try:
        with quiet_loading():
            model = AutoModelForCausalLM.from_pretrained(
                path.parent, gguf_file=path.name, dtype=torch.float32, local_files_only=True
            )
    except (OSError, ValueError, KeyError, IndexError, struct.error) as problem:
        first = (str(problem).strip() or type(problem).__name__).splitlines()[0]
        raise ValueError(
            f"{path.name} cannot be opened as a GGUF checkpoint: {first}\n"
            "  The file may be half-downloaded, or of an architecture that transformers cannot "
            "read from GGUF."
        ) from None
    return _named(model, path)


def _need_gguf() -> None:
    missing = [name for name in ("gguf", "accelerate") if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"GGUF files need {', '.join(missing)}, which is not installed.{how_to_install('hf')}"
        )


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Keep transformers from printing reports while a checkpoint is opened; a person at a terminal
    still sees its progress."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        if sys.stderr.isatty():
            yield
        else:  # the bar of GGUF files asks for no setting
            with redirect_stderr(StringIO()):
                yield
    finally:
        logging.set_verbosity(before)
