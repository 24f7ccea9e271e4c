"""What `locant check` does with checkpoints and configs of whole models."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from locant.encodings.registry import canonical, names

Paper = dict[str, Any]
MODEL_FILES = (".gguf", ".json", ".safetensors", ".pt", ".pth", ".bin")
NO_OPTIONS = {"dim": 64, "heads": 4, "length": 512}  # the defaults of --dim, --heads and --length


def is_model_source(word: str) -> bool:
    """Tell whether an argument names a checkpoint rather than an encoding.

    >>> [is_model_source(word) for word in ("rotary", "mine.py:Mine", "./smollm", "a.gguf", "rop")]
    [False, False, True, True, False]
    """
    if canonical(word) in names() or ".py:" in word or word.endswith(".py"):
        return False
    is_path = os.sep in word or word.startswith(".") or word.endswith(MODEL_FILES)
    return is_path or Path(word).exists()


def model_calls(
    words: list[str], config: Path | None, make: dict[str, Any], certify: dict[str, Any]
) -> list[tuple[Any, ...]]:
    """Return a call of `certify_model` for each checkpoint or config; none where encodings are
    named."""
    sources = [word for word in words if is_model_source(word)]
    others = [word for word in words if word not in sources]
    if config is None and not sources:
        return []
    if others and sources:
        raise ValueError(
            f"{others[0]} is an encoding and {sources[0]} a checkpoint: their properties differ.\n"
            "  Check them in two calls."
        )
    if words and config is not None:
        raise ValueError("--config builds a model of its own: leave the other names out.")
    if make != NO_OPTIONS:
        raise ValueError(
            "--set, --dim, --heads and --length say how an encoding is made; a checkpoint has its "
            "own.\n  Leave them out, or change its config.json."
        )
    return [(source, certify) for source in sources or [str(config)]]


def certify_model(
    source: str, options: dict[str, Any], progress: Callable[[str], None] | None = None
) -> Paper:
    """Open a checkpoint, or build the model of a config at a small size, and certify it."""
    try:
        from locant.hf import certify, load

        _quiet_transformers()
        with redirect_stdout(sys.stderr):
            if progress is not None:
                progress("loading")
            if source.endswith(".json"):
                model = _build_small(source, options["seed"])
                name = f"{model.config.model_type} (small, random weights)"
            else:
                model, name = load(source), Path(source).resolve().name
            return certify(model, name=name, progress=progress, **options).to_dict()
    except ImportError as problem:  # transformers, or what it needs for GGUF
        raise ValueError(str(problem)) from None


def _build_small(source: str, seed: int) -> Any:
    """Build the model of a config at a small size, with weights that let every token show."""
    from locant.hf.checking.certify_model import refuse_without_attention
    from locant.hf.checkpoints.loading import load, load_config
    from locant.hf.checkpoints.random_weights import randomize

    if Path(source).exists():
        refuse_without_attention(load_config(source))
    try:
        return randomize(load(source, seed=seed), seed)
    except (AttributeError, KeyError, TypeError, RuntimeError) as problem:
        raise ValueError(
            f"the model of {source} cannot be built at a small size: {problem}\n"
            "  Build it yourself, and give the model: locant.hf.certify(model)"
        ) from None


def _quiet_transformers() -> None:
    """Keep the progress bars and warnings of transformers off the terminal."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
