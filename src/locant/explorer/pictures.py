"""The numbers of one picture of one encoding, and what a worker needs to make an encoding."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from locant._internal.user_code import user_code
from locant.certification.probe import seeded
from locant.encodings.base import Encoding
from locant.encodings.registry import make
from locant.explorer.answers import answer
from locant.figures.data import PICTURES
from locant.figures.data.hooks import NotOffered, Numbers, still

Size = dict[str, Any]  # dim, heads, length and the encoding's own options, as `make` takes them


def made(name: str, size: Size) -> Encoding:
    """The encoding with the same numbers at every call, learned ones as they start."""
    with seeded(0):
        return make(name, **size)


@torch.no_grad()
def picture(name: str, size: Size, view: str, head: int) -> bytes:
    """{"numbers": …}, or {"reason": why there is none}."""
    with user_code(name):
        encoding = still(made(name, size))
        draw: Callable[[Encoding], Numbers] = (
            partial(_one_head, head=head) if view == "bias" else PICTURES[view]
        )
        try:
            return answer(
                {"numbers": draw(encoding), "learns": any(True for _ in encoding.parameters())}
            )
        except NotOffered as reason:
            return answer({"reason": str(reason)})


def _one_head(encoding: Encoding, head: int) -> Numbers:
    """What is added to the scores of one head, (Q, K)."""
    bias = PICTURES["bias"](encoding)["bias"]
    chosen = min(head, len(bias))
    return {"values": bias[chosen - 1], "head": chosen}
