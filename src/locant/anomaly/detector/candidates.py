"""Who takes part: the methods by name, made to fit a series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from locant._internal.checks import one_of
from locant.anomaly.detector.method import Method
from locant.anomaly.detector.plain import Harmonic, NearestWindow, SubPca
from locant.anomaly.detector.transformer import MaskedTransformer
from locant.lab.tasks._patches import Patches

METHODS = ("transformer", "harmonic", "sub-pca", "nearest-window")
TOKENS, WIDEST = 64, 8  # tokens of a window, and the most points in a patch
NUMBERS = 1_024  # in a window of all columns, for the plain methods

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Candidate:
    """A method that can be made anew; its settings are plain values, so that they can be kept in a file."""

    method: str
    encoding: str
    settings: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.method} ({self.encoding})" if self.encoding else self.method

    def make(self, progress: Progress | None = None) -> Method:
        """The method, still without any knowledge."""
        settings = dict(self.settings)
        if self.method == "harmonic":
            return Harmonic(**settings)
        if self.method == "sub-pca":
            return SubPca(**settings)
        if self.method == "nearest-window":
            return NearestWindow(**settings)
        patches = Patches(settings.pop("tokens"), settings.pop("width"))
        return MaskedTransformer(
            encoding=self.encoding, patches=patches, progress=progress, **settings
        )


def candidates(
    method: str,
    encodings: Sequence[str],
    *,
    length: int,
    columns: int,
    season: int | None,
    known: float | None,
    real: dict[str, bool],
    steps: int,
    seed: int,
) -> list[Candidate]:
    """Those that a method's name stands for ("auto" for all), fitting `length` rows of `columns` columns.

    season  in rows, where there is one; known: the same when the user gave it
    real    for each encoding whether true times are its positions
    """
    one_of("detect", "method", method, ("auto", *METHODS))
    least = int(np.clip(NUMBERS // columns, 4, 16))
    window = int(
        np.clip(season or 64, least, max(least, min(128, length // 10, NUMBERS // columns)))
    )
    patch = int(np.clip(-(-2 * (season or 128) // TOKENS), 1, max(1, min(WIDEST, length // 128))))
    tokens = int(min(TOKENS, length // 4 // patch))
    common = {"columns": columns, "tokens": tokens, "width": patch, "steps": steps, "seed": seed}
    every = [Candidate("transformer", name, {**common, "real": real[name]}) for name in encodings]
    every.append(Candidate("harmonic", "", {"columns": columns, "season": known}))
    every += [Candidate(name, "", {"window": window}) for name in ("sub-pca", "nearest-window")]
    return [one for one in every if method in ("auto", one.method)]
