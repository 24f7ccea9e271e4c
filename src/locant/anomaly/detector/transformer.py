"""Masked reconstruction: a transformer learns to fill in hidden patches from the rest; what it fills in is expected.

Whole patches are hidden, so that what they hold can come only from their surroundings, and from where they are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from locant._internal.seeds import stable_seed
from locant.anomaly.detector.method import Flags, Floats, Stretch
from locant.encodings.registry import make
from locant.lab.tasks._masks import GROUPS, spans, turns
from locant.lab.tasks._patches import Patches
from locant.lab.training.build import matched
from locant.lab.training.loop import train
from locant.nn.transformer import Transformer

DIM, HEADS, LAYERS, FFN = 64, 4, 2, 128
BATCH, RATE, BLOCK = 32, 3e-3, 128


class MaskedTransformer:
    """A small transformer with one encoding.

    real  whether true times are positions (the encoding must take real ones), or the count of patches
    """

    def __init__(
        self,
        columns: int,
        *,
        encoding: str,
        patches: Patches,
        real: bool = False,
        steps: int = 200,
        seed: int = 0,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        self.patches, self.steps, self.seed, self.real, self.progress = (
            patches,
            steps,
            seed,
            real,
            progress,
        )
        self.least = patches.window
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(stable_seed("detector", seed))
            encoder = matched(
                make(encoding, dim=DIM, heads=HEADS, length=patches.tokens), patches.tokens
            )
            width = patches.width * columns
            entrance, head = nn.Linear(width + 1, DIM), nn.Linear(DIM, width)
            self.model = Transformer(encoder, layers=LAYERS, embed=entrance, head=head, ffn=FFN)

    def fit(self, clean: Stretch) -> None:
        """Learn to fill in hidden patches of windows drawn from the stretch."""

        def loss_at(step: int) -> Tensor:
            draw = np.random.default_rng(stable_seed("detector windows", self.seed, step))
            starts = draw.integers(len(clean.values) - self.patches.window + 1, size=BATCH)
            hidden = spans(BATCH, self.patches.tokens, draw)
            wanted = self.patches.cut(clean.values, starts)
            said = self._fill(wanted, hidden, self._places(clean, starts))
            target = torch.from_numpy(wanted[hidden]).float()
            return nn.functional.smooth_l1_loss(said[torch.from_numpy(hidden)], target)

        def after(done: int, _loss: float, _optimiser: object) -> None:
            if self.progress is not None:
                self.progress(done / self.steps)

        train(
            self.model,
            loss_at,
            steps=self.steps,
            rate=RATE,
            warm_up=self.steps // 10,
            schedule="cosine",
            after=after,
        )

    def expect(self, series: Stretch, hidden: Flags) -> Floats:
        """Every token by the mask that hides it; the median over the windows that hold it."""
        starts = self.patches.starts(len(series.values))
        draw = np.random.default_rng(stable_seed("detector masks", self.seed))
        whose = turns(len(starts), self.patches.tokens, draw)  # (N, tokens)
        covered, wanted = (
            self.patches.covered(hidden, starts),
            self.patches.cut(series.values, starts),
        )
        places, said = self._places(series, starts), np.empty_like(wanted)
        for turn in range(GROUPS):
            mine = whose == turn
            for first in range(0, len(starts), BLOCK):
                some = slice(first, first + BLOCK)
                pos = places if places.ndim == 1 else places[some]
                with torch.no_grad():
                    filled = self._fill(wanted[some], (mine | covered)[some], pos).double().numpy()
                said[some][mine[some]] = filled[mine[some]]
        return self.patches.laid(said, starts, len(series.values))

    def state(self) -> dict[str, Tensor]:
        return dict(self.model.state_dict())

    def restore(self, state: dict[str, Tensor]) -> None:
        self.model.load_state_dict(state)
        self.model.eval()

    def _fill(self, windows: np.ndarray, hidden: Flags, pos: Tensor) -> Tensor:
        """Windows (B, tokens, width) with the hidden tokens left out and marked → what the model puts there."""
        shown = np.concatenate([np.where(hidden[..., None], 0.0, windows), hidden[..., None]], -1)
        return self.model(torch.from_numpy(shown).float(), pos)

    def _places(self, series: Stretch, starts: np.ndarray) -> Tensor:
        if self.real:
            return torch.from_numpy(self.patches.places(series.at, starts))
        return torch.arange(self.patches.tokens)
