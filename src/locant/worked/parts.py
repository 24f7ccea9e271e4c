"""One worked part for each door that an encoding uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from locant.encodings.base import Encoding, overrides
from locant.views.doors import still
from locant.worked import added, biased, rescored, turned, unchanged, valued
from locant.worked.part import Part

DOORS: dict[str, Callable[[Encoding, float, float], Part]] = {
    "embed": added.work_out,
    "rotate": turned.work_out,
    "bias": biased.work_out,
    "rescore": rescored.work_out,
    "mix": valued.work_out,
}


@torch.no_grad()
def work_out(
    encoding: Encoding, position: float = 3, key: float = 1, doors: Iterable[str] = tuple(DOORS)
) -> list[Part]:
    """Through each of these doors that the encoding uses: a token at `position`, or a query there and a key at `key`."""
    encoding = still(encoding)
    if not any(overrides(encoding, door) for door in DOORS):
        return [unchanged.work_out(encoding, position, key)]
    return [DOORS[door](encoding, position, key) for door in doors if overrides(encoding, door)]
