"""The state that a loaded model is in: whether its weights have values, and its training mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


def need_weights(asker: str, model: nn.Module) -> None:
    """Refuse a model whose weights are on the meta device: they have shapes, but no values."""
    without = [name for name, weight in model.named_parameters() if weight.is_meta]
    if without:
        raise ValueError(
            f"{asker} runs the model, but {len(without)} of its weights are on the meta device "
            f"and have no values: {', '.join(without[:2])}{' …' if len(without) > 2 else ''}.\n"
            "  Load it whole into memory, without device_map: locant.hf.load(path)"
        )


@contextmanager
def in_eval_mode(model: nn.Module) -> Iterator[None]:
    """Run a model without dropout inside the block; each of its modules has its mode back after.

    >>> layer = nn.Dropout()
    >>> with in_eval_mode(layer):
    ...     layer.training
    False
    >>> layer.training
    True
    """
    training = {module: module.training for module in model.modules()}
    model.eval()
    try:
        yield
    finally:
        for module, mode in training.items():
            module.training = mode
