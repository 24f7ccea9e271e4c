"""Proof that encodings were read rightly: a model's logits with them in place of its own."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from locant.encodings.base import Encoding
from locant.encodings.none import Nothing
from locant.encodings.rotary import Rotary
from locant.hf.reading.substitution import substituted

POSITIONS = ((0, 1, 2, 3, 4, 5, 6), (3, 4, 9, 10, 30, 31, 40))  # of two rows, with gaps
TOKENS = 40  # of a row where positions are 0, 1, 2, …: T5's first shared bucket begins at 8
TOLERANCE = 1e-4  # of logits in float32


@dataclass(frozen=True)
class Comparison:
    """How logits with encodings in place differ from a model's own.

    difference  the largest difference of logits
    without     the largest difference when nothing stands in place: what positions do at all
    unserved    layers that have an encoding, but whose positions the model never asked for
    """

    difference: float
    without: float
    unserved: tuple[int, ...]

    @property
    def proven(self) -> bool:
        """Whether logits are equal, and would not be equal without the encodings."""
        seen = self.without > 100 * self.difference
        return self.difference < TOLERANCE and seen and not self.unserved


def compare(
    model: nn.Module,
    encodings: Sequence[Encoding],
    inputs: dict[str, Any],
    positions: Tensor | None = None,
) -> Comparison:
    """Run a model as it is, with encodings in place, and with nothing in place of its positions.

    inputs     what the model is called with
    positions  those of its tokens, (B,T) or (B,T,axes); 0, 1, 2, … when not given
    """
    batch, length = inputs["input_ids"].shape
    if positions is None:
        positions = torch.arange(length).expand(batch, length)
    own = _outputs(model, inputs)
    with substituted(model, encodings, positions) as served:
        ours = _outputs(model, inputs)
    with substituted(model, [Blank(encoding) for encoding in encodings], positions):
        without = _outputs(model, inputs)
    return Comparison(
        (ours - own).abs().max().item(),
        (without - own).abs().max().item(),
        _unserved(encodings, served.layers, served.found),
    )


def _unserved(encodings: Sequence[Encoding], layers: set[int], found: set[int]) -> tuple[int, ...]:
    """List the layers whose encoding was never asked for.

    A model whose list is longer than its stack of layers uses a layer several times: there, one
    use of an encoding that several layers share counts for all of them.
    """
    wanted = [n for n, encoding in enumerate(encodings) if not _is_nothing(encoding)]
    if len(found) < len(encodings):
        used = {id(encodings[n]) for n in layers}
        return tuple(n for n in wanted if id(encodings[n]) not in used)
    return tuple(n for n in wanted if n not in layers)


def _is_nothing(encoding: Encoding) -> bool:
    return isinstance(encoding, Nothing) and encoding.query_temperature is None


class Blank(Nothing):
    """No positions in the place of an encoding: its bias is 0."""

    def __init__(self, encoding: Encoding) -> None:
        super().__init__(encoding.shape)

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        batch = q_pos.shape[0] if q_pos.dim() == 2 else 1
        return torch.zeros(batch, self.shape.heads, q_pos.shape[-1], k_pos.shape[-1])


@torch.no_grad()
def _outputs(model: nn.Module, inputs: dict[str, Any]) -> Tensor:
    """Return the logits of a model, or its last hidden states."""
    output = model(**inputs)
    logits = getattr(output, "logits", None)
    return (output[0] if logits is None else logits).float()


def prove(model: Any, encodings: Sequence[Encoding], seed: int = 0) -> Comparison:
    """Compare a model with the encodings that were read from it, on a few random tokens.

    Where no layer has positions, they must change nothing: `without` is infinite then.
    """
    inputs, positions = probe_inputs(model, encodings, seed)
    if not all(_is_nothing(encoding) for encoding in encodings):
        return compare(model, encodings, inputs, positions)
    own = _outputs(model, inputs)
    moved_by_gaps = torch.arange(TOKENS).expand(2, -1) * 3
    if "position_ids" in inspect.signature(type(model).forward).parameters:
        inputs["position_ids"] = moved_by_gaps
    with substituted(model, encodings, moved_by_gaps) as served:
        moved = _outputs(model, inputs)
    return Comparison((moved - own).abs().max().item(), math.inf, tuple(sorted(served.layers)))


def probe_inputs(
    model: Any, encodings: Sequence[Encoding], seed: int = 0
) -> tuple[dict[str, Any], Tensor | None]:
    """Draw tokens for a model, at uneven positions where it takes them: its inputs, positions."""
    accepted = inspect.signature(type(model).forward).parameters
    generator = torch.Generator().manual_seed(seed)
    most = min(90, model.get_input_embeddings().num_embeddings)
    turns = any(isinstance(one, Rotary) for one in encodings) and "position_ids" in accepted
    length = len(POSITIONS[0]) if turns else TOKENS
    tokens = torch.randint(3, most, (2, length), generator=generator)
    inputs: dict[str, Any] = {"input_ids": tokens}
    if "use_cache" in accepted:
        inputs["use_cache"] = False
    if "attention_mask" in accepted:
        inputs["attention_mask"] = torch.ones_like(tokens)
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = tokens
    positions = None
    if turns:
        positions = torch.tensor(POSITIONS)
        inputs["position_ids"] = positions
        if any(encoding.axes > 1 for encoding in encodings):  # (axes, B, T) for the model
            inputs["position_ids"] = torch.stack([positions, positions + 3, 2 * positions])
            positions = inputs["position_ids"].movedim(0, -1)  # (B, T, axes) for us
    return inputs, positions


def shake(model: nn.Module, seed: int = 1) -> None:
    """Add noise to the weights of a fresh model, so that no zero hides what positions do."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.requires_grad:
                weight.add_(0.05 * torch.randn(weight.shape, generator=generator))
