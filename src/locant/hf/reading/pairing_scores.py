"""Which pairing the weights of a rotary checkpoint were trained with: both are scored on a text.

Half and interleaved pairs differ by the order of rows in the query and key projections, and a
checkpoint that was converted without reordering them loads without a word and writes noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from locant.encodings.base import Encoding
from locant.encodings.registry import make
from locant.encodings.rotary import PAIRINGS, Rotary
from locant.hf.checkpoints.tokenizer_files import load_tokenizer
from locant.hf.reading.model_reader import read
from locant.hf.reading.model_state import in_eval_mode, need_weights
from locant.hf.reading.substitution import substituted

MIN_TOKENS = 16
ERRORS = 3.0  # standard errors by which one pairing must be ahead


@dataclass(frozen=True)
class PairingScores:
    """How well each pairing predicts a text, in bits a token; fewer are better.

    pairing   the better one; None where the text cannot tell them apart
    expected  the one that the model runs with, as its model type says
    """

    half: float
    interleaved: float
    pairing: str | None
    expected: str
    tokens: int

    @property
    def message(self) -> str:
        """One sentence for a person."""
        scores = f"half {self.half:.2f}, interleaved {self.interleaved:.2f} bits a token"
        if self.pairing is None:
            return (
                f"{self.tokens} tokens cannot tell the pairings apart ({scores}): give a longer "
                "text of the kind that the model was trained on."
            )
        if self.pairing == self.expected:
            return f"the weights have {self.pairing} pairs, as the model runs them ({scores})."
        return (
            f"the weights have {self.pairing} pairs, but the model runs them as {self.expected} "
            f"({scores}).\n  Reorder the query and key projections: "
            f"locant.permute_for_pairing(weight, heads=…, to={self.expected!r})"
        )


def pairing(model: Any, text: str | Sequence[int] | Tensor, tokenizer: Any = None) -> PairingScores:
    """Score both pairings of a causal rotary model on a text, and say which one its weights have.

    text       a text, or its token ids
    tokenizer  for a text; when it is not given, it is looked for where the model was loaded from
    """
    need_weights("pairing", model)
    encodings = read(model)
    rotary = [encoding for encoding in encodings if isinstance(encoding, Rotary)]
    if not rotary:
        raise ValueError(
            f"{model.config.model_type} has no rotary encoding, so there are no pairs to lie one "
            "way or the other."
        )
    tokens = _tokens(model, text, tokenizer)
    with in_eval_mode(model):
        losses = {one: _losses(model, _paired(encodings, one), tokens) for one in PAIRINGS}
    ahead = losses["interleaved"] - losses["half"]  # (T − 1)
    error = ahead.std().item() / math.sqrt(ahead.numel())
    better = "half" if ahead.mean() > 0 else "interleaved"
    return PairingScores(
        half=losses["half"].mean().item(),
        interleaved=losses["interleaved"].mean().item(),
        pairing=better if ahead.mean().abs().item() > ERRORS * error else None,
        expected=rotary[0].pairing,
        tokens=tokens.numel(),
    )


def _tokens(model: Any, text: str | Sequence[int] | Tensor, tokenizer: Any) -> Tensor:
    """Return the token ids of a text: (1, T)."""
    if isinstance(text, str):
        tokenizer = load_tokenizer(model.name_or_path) if tokenizer is None else tokenizer
        text = tokenizer(text)["input_ids"]
    tokens = torch.as_tensor(text).long().reshape(1, -1)
    if tokens.numel() < MIN_TOKENS:
        raise ValueError(
            f"the text has {tokens.numel()} tokens; at least {MIN_TOKENS} are needed to tell "
            "pairings apart, and some hundred are better."
        )
    return tokens


def _paired(encodings: Sequence[Encoding], name: str) -> list[Encoding]:
    """Return the encodings of a model with their pairs laid out the given way."""
    laid: dict[int, Encoding] = {}
    for encoding in encodings:
        if id(encoding) not in laid:
            rotates = isinstance(encoding, Rotary)
            other = {**encoding.config(), "pairing": name} if rotates else None
            laid[id(encoding)] = make(**other) if other else encoding
    return [laid[id(encoding)] for encoding in encodings]


@torch.no_grad()
def _losses(model: Any, encodings: Sequence[Encoding], tokens: Tensor) -> Tensor:
    """Return the bits that each token after the first costs: (T − 1)."""
    positions = torch.arange(tokens.shape[1])[None]
    several = max(encoding.axes for encoding in encodings)
    at = positions if several == 1 else positions[..., None].expand(-1, -1, several)
    with substituted(model, encodings, at):
        logits = model(input_ids=tokens, use_cache=False).logits[0, :-1].float()
    return functional.cross_entropy(logits, tokens[0, 1:], reduction="none") / math.log(2)
