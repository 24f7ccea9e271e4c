"""Where a model of transformers gets its positions from, and what stands there while it is swapped.

rotary   a module that turns position_ids into cosines and sines: now those of no rotation
table    an embedding of position_ids, added to the input: now the encoding's own `embed`
order    T5, MPT and Bloom count tokens: a token's position is its number in the sequence

The stand-ins also note position_ids, because not every model hands them on to its layers.
"""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from locant.encodings.base import Encoding, overrides

Found = TypeVar("Found", bound=nn.Module)
ROTARY = "rotary_emb"
TABLES = ("position_embeddings", "wpe")


class NoRotation(nn.Module):
    """Answer as a model's rotary module does, with cosines of 1 and sines of 0."""

    def __init__(self, own: nn.Module) -> None:
        super().__init__()
        self.own = own
        self.position_ids: Tensor | None = None

    def forward(self, x: Tensor, position_ids: Tensor, *more: Any, **named: Any) -> Any:
        self.position_ids = position_ids
        cosine, sine = self.own(x, position_ids, *more, **named)
        return torch.ones_like(cosine), torch.zeros_like(sine)


class EmbeddedPositions(nn.Module):
    """Answer as a model's table of positions does, with what an encoding adds to its input.

    own  the model's table, kept for its dtype and width
    """

    def __init__(self, encoding: Encoding, own: nn.Embedding) -> None:
        super().__init__()
        self.encoding, self.own = encoding, own
        self.position_ids: Tensor | None = None
        _need_addition(encoding, own)

    def forward(self, position_ids: Tensor) -> Tensor:
        self.position_ids = position_ids
        weight = self.own.weight
        zeros = weight.new_zeros(*position_ids.shape, weight.shape[-1])
        return self.encoding.embed(zeros, position_ids) if _embeds(self.encoding) else zeros


def find_rotary(model: nn.Module) -> list[tuple[nn.Module, str, nn.Module]]:
    """List the rotary modules: (the module that holds it, its name there, the rotary module)."""
    return _find(model, (ROTARY,), nn.Module)


def find_tables(model: nn.Module) -> list[tuple[nn.Module, str, nn.Embedding]]:
    """List the tables of positions, as `find_rotary` lists rotary modules."""
    return _find(model, TABLES, nn.Embedding)


def _find(
    model: nn.Module, names: tuple[str, ...], kind: type[Found]
) -> list[tuple[nn.Module, str, Found]]:
    found = []
    for owner in model.modules():
        for name in names:
            own = owner._modules.get(name)
            if isinstance(own, kind):
                found.append((owner, name, own))
    return found


def _embeds(encoding: Encoding) -> bool:
    return overrides(encoding, "embed")


def _need_addition(encoding: Encoding, own: nn.Embedding) -> None:
    """Refuse an encoding whose `embed` does more than add: the table's answer is only added."""
    if not _embeds(encoding):
        return
    width = own.weight.shape[-1]
    x = torch.linspace(-1, 1, width, dtype=own.weight.dtype, device=own.weight.device)
    x, pos = x.view(1, 1, width), torch.zeros(1, dtype=torch.long, device=x.device)
    with torch.no_grad():
        apart = encoding.embed(x, pos) - encoding.embed(torch.zeros_like(x), pos) - x
    if apart.abs().max() > 1e-2:
        raise ValueError(
            f"{type(encoding).__name__} changes its input in other ways than by adding to it, so "
            "it cannot stand for a model's table of positions."
        )
