"""Masked reconstruction: a transformer learns to fill in hidden patches, and so predicts every row.

Whole patches are hidden, so that the prediction can come only from the rest of the window and from
the positions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from locant._internal.seeds import stable_seed
from locant.anomaly.detector.methods.base import Method, TrainingData
from locant.anomaly.detector.time_grid import Flags, Floats, Segment
from locant.anomaly.series.model_input import GROUPS, Patches, hide_spans, mask_groups
from locant.encodings.registry import describe, make
from locant.lab.training.build import matched
from locant.lab.training.loop import train
from locant.nn.transformer import Transformer

DIM, HEADS, LAYERS, FFN = 64, 4, 2, 128
BATCH, LEARNING_RATE = 32, 3e-3
WINDOWS_AT_ONCE = 128  # in a forward pass of `predict`
MIN_OBSERVED = 0.5  # of the values of a patch; with fewer it is hidden
MAX_TOKENS, MAX_PATCH = 64, 8  # of a window; rows of a patch


class MaskedTransformer(Method):
    """A small transformer with one encoding.

    tokens, width  patches of a window, and rows of a patch
    real           whether true times are positions (the encoding must take real positions);
                   otherwise patches are counted
    """

    name = "transformer"
    takes_encoding = True

    @classmethod
    def options(cls, data: TrainingData, encoding: str) -> dict[str, Any]:
        longest = max(1, min(MAX_PATCH, data.rows // 128))
        two_seasons = -(-2 * (data.season or 128) // MAX_TOKENS)  # a window shows two seasons
        width = int(np.clip(two_seasons, 1, longest))
        return {
            "columns": data.columns,
            "tokens": int(min(MAX_TOKENS, data.rows // 4 // width)),
            "width": width,
            "steps": data.steps,
            "seed": data.seed,
            "real": data.irregular and bool(describe(encoding).claims["real_positions"]),
        }

    def __init__(
        self,
        columns: int,
        *,
        encoding: str,
        tokens: int,
        width: int,
        real: bool = False,
        steps: int = 200,
        seed: int = 0,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        self.patches = Patches(tokens, width)
        self.steps, self.seed, self.real, self.progress = steps, seed, real, progress
        self.takes_times = real
        self.min_rows = self.patches.window
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(stable_seed("detector", seed))
            made = make(encoding, dim=DIM, heads=HEADS, length=tokens)
            encoder = matched(made, tokens)
            features = width * columns
            embed, head = nn.Linear(features + 1, DIM), nn.Linear(DIM, features)
            self.model = Transformer(encoder, layers=LAYERS, embed=embed, head=head, ffn=FFN)

    def fit(self, clean: Segment) -> None:
        """Learn to fill in hidden patches of windows drawn from the segment."""

        def loss_at(step: int) -> Tensor:
            draw = np.random.default_rng(stable_seed("detector windows", self.seed, step))
            starts = draw.integers(len(clean.values) - self.patches.window + 1, size=BATCH)
            masked = hide_spans(BATCH, self.patches.tokens, draw)
            windows = self.patches.cut(clean.values, starts)
            hidden = masked | self._absent(clean, starts)
            filled = self._fill(windows, hidden, self._positions(clean, starts))
            filled, target = filled[torch.from_numpy(masked)], torch.from_numpy(windows[masked])
            if clean.observed is not None:
                known = self.patches.cut(clean.observed.astype(np.float64), starts)[masked] > 0
                filled, target = filled[torch.from_numpy(known)], target[torch.from_numpy(known)]
                if not known.any():
                    return filled.sum()
            return nn.functional.smooth_l1_loss(filled, target.float())

        def after(done: int, _loss: float, _optimizer: object) -> None:
            if self.progress is not None:
                self.progress(done / self.steps)

        train(
            self.model,
            loss_at,
            steps=self.steps,
            lr=LEARNING_RATE,
            warm_up=self.steps // 10,
            schedule="cosine",
            after=after,
        )

    def predict(self, series: Segment, hidden: Flags) -> Floats:
        """Predict each token from the mask that hides it; take the median over its windows."""
        starts = self.patches.starts(len(series.values))
        draw = np.random.default_rng(stable_seed("detector masks", self.seed))
        turn_of = mask_groups(len(starts), self.patches.tokens, draw)  # (N, tokens)
        covered = self.patches.covered(hidden, starts) | self._absent(series, starts)
        windows = self.patches.cut(series.values, starts)
        positions = self._positions(series, starts)
        predicted = np.empty_like(windows)
        for turn in range(GROUPS):
            masked = turn_of == turn
            for first in range(0, len(starts), WINDOWS_AT_ONCE):
                some = slice(first, first + WINDOWS_AT_ONCE)
                pos = positions if positions.ndim == 1 else positions[some]
                with torch.no_grad():
                    filled = self._fill(windows[some], (masked | covered)[some], pos)
                predicted[some][masked[some]] = filled.double().numpy()[masked[some]]
        return self.patches.merge(predicted, starts, len(series.values))

    def state(self) -> dict[str, Tensor]:
        return dict(self.model.state_dict())

    def restore(self, state: dict[str, Tensor]) -> None:
        self.model.load_state_dict(state)
        self.model.eval()

    def _fill(self, windows: np.ndarray, hidden: Flags, pos: Tensor) -> Tensor:
        """Fill in windows (B, tokens, width) whose hidden tokens are zeroed and marked."""
        visible = np.where(hidden[..., None], 0.0, windows)
        inputs = np.concatenate([visible, hidden[..., None]], -1)
        return self.model(torch.from_numpy(inputs).float(), pos)

    def _absent(self, series: Segment, starts: np.ndarray) -> Flags:
        """Flag the tokens (N, tokens) of which less than half was observed."""
        if series.observed is None:
            return np.zeros((len(starts), self.patches.tokens), np.bool_)
        observed = self.patches.cut(series.observed.astype(np.float64), starts)
        return observed.mean(-1) < MIN_OBSERVED

    def _positions(self, series: Segment, starts: np.ndarray) -> Tensor:
        """Return the positions of tokens: (N, tokens) by true times, or (tokens,) by count."""
        if self.real:
            return torch.from_numpy(self.patches.positions(series.positions, starts))
        return torch.arange(self.patches.tokens)
