"""Order lost, or not: the words of a sentence are shuffled; do the outputs just follow them?"""

from __future__ import annotations

import torch
from torch import Tensor

from locant._internal.seeds import stable_seed
from locant._internal.user_code import user_code
from locant.certification.probe import seeded
from locant.explorer.answers import answer
from locant.explorer.orders import verdict
from locant.explorer.pictures import Size, made
from locant.figures.data.hooks import places
from locant.nn.transformer import Transformer

ROUNDING = 1e-4  # of an output's size: less is float32 rounding


@torch.no_grad()
def shuffled(name: str, size: Size, words: list[str], order: list[int]) -> bytes:
    """Outputs (T, D) of the sentence, and of the shuffled one with its words put back; by how much each word's moved.

    order  for each place of the shuffled sentence, the word that stands there

    What can be concluded from it is answered as a sentence, `verdict`.
    """
    with user_code(name):
        encoding = made(name, {**size, "length": max(size["length"], len(words))})
        with seeded(1):
            model = Transformer(encoding, layers=2, causal=encoding.causal_only).eval()
        pos = places(encoding, torch.arange(len(words)))
        x = torch.stack([_meaning(word, encoding.shape.dim) for word in words])[None]  # (1, T, D)
        straight = model(x, pos)[0]
        moved = model(x[:, order], pos)[0]
    back = torch.empty_like(moved)
    back[order] = moved  # the output of each word, wherever it stood
    change = (back - straight).norm(dim=1) / straight.norm(dim=1).clamp(min=1e-12)
    follow = bool((change <= ROUNDING).all())
    return answer(
        {
            "words": words,
            "order": order,
            "straight": straight.double().numpy(),
            "back": back.double().numpy(),
            "change": change.double().numpy(),
            "follow": follow,
            "verdict": verdict(words, order, follow=follow),
        }
    )


def _meaning(word: str, dim: int) -> Tensor:
    """A vector (D) for a word, the same wherever it stands."""
    return torch.randn(
        dim, generator=torch.Generator().manual_seed(stable_seed(f"word/{word.lower()}"))
    )
