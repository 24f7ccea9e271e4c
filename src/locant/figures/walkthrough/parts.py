"""One worked part for each hook that an encoding uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from locant.encodings.base import Encoding, overrides
from locant.figures.data.hooks import still
from locant.figures.walkthrough import added, biased, rescored, turned, unchanged, valued
from locant.figures.walkthrough.part import Part

HOOKS: dict[str, Callable[[Encoding, float, float], Part]] = {
    "embed": added.work_out,
    "rotate": turned.work_out,
    "bias": biased.work_out,
    "rescore": rescored.work_out,
    "mix": valued.work_out,
}


@torch.no_grad()
def work_out(
    encoding: Encoding, position: float = 3, key: float = 1, hooks: Iterable[str] = tuple(HOOKS)
) -> list[Part]:
    """Through each of these hooks that the encoding uses: a token at `position`, or a query there and a key at `key`."""
    encoding = still(encoding)
    if not any(overrides(encoding, hook) for hook in HOOKS):
        return [unchanged.work_out(encoding, position, key)]
    return [HOOKS[hook](encoding, position, key) for hook in hooks if overrides(encoding, hook)]
