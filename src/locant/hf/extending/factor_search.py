"""Search one factor for each rotated pair, after LongRoPE: on documents that are not reported.

LongRoPE (Ding et al. 2024, arXiv:2402.13753) searches a factor a pair by evolution, never less for
a slower pair than for a faster one, and starts from the known methods. So does this search, with a
small budget: it keeps the best candidate and tries changes of it, each by one pass over every
search document.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from locant.encodings._rope.scalings import Yarn
from locant.hf.extending.context_methods import Context, Method, rotated_width, searched_method
from locant.hf.extending.token_scores import KeptPasses

if TYPE_CHECKING:
    from transformers import PreTrainedModel

STEP = 0.25  # how far a change reaches: a share of ln s


@dataclass(frozen=True)
class Candidate:
    """Factors of every pair, and what scales rotated queries and keys."""

    factors: tuple[float, ...]
    scale: float


def starting_points(width: int, base: float, factor: float, trained: int) -> list[Candidate]:
    """List the factors of linear, NTK and YaRN scaling.

    >>> points = starting_points(8, 10_000.0, 4.0, 512)
    >>> [[round(one, 2) for one in point.factors] for point in points]
    [[4.0, 4.0, 4.0, 4.0], [1.0, 1.59, 2.52, 4.0], [1.0, 1.6, 4.0, 4.0]]
    """
    pairs = np.arange(width // 2)
    ntk = factor ** (pairs / max(1, width // 2 - 1))
    yarn = Yarn(factor=factor, original_length=trained)
    theta = base ** (-2 * pairs / width)
    kept = yarn.frequencies(width, base, torch.tensor(0.0)).numpy()
    return [
        Candidate((float(factor),) * len(pairs), 1.0),
        Candidate(tuple(float(one) for one in ntk), 1.0),
        Candidate(tuple(float(one) for one in theta / kept), yarn.vector_scale),
    ]


def change(candidate: Candidate, factor: float, random: np.random.Generator) -> Candidate:
    """Draw a neighbor: some factors move by the same share, and none falls below a faster one's."""
    logs = np.log(candidate.factors)
    start = int(random.integers(len(logs)))
    moved = logs.copy()
    moved[start:] += random.normal(scale=STEP * math.log(factor))
    moved = np.maximum.accumulate(moved.clip(0.0, math.log(2 * factor)))
    scale = max(1.0, candidate.scale + random.normal(scale=0.05))
    return Candidate(tuple(float(one) for one in np.exp(moved)), round(scale, 4))


def search_factors(
    model: PreTrainedModel,
    context: Context,
    factor: float,
    documents: Sequence[Tensor],
    passes: KeptPasses,
    *,
    steps: int,
    advance: Callable[[str], None],
    seed: int = 0,
) -> Method:
    """Find the factors that read the far part of the search documents with the fewest bits.

    steps  how many candidates are tried, the three known ones included
    """
    random = np.random.default_rng(seed)
    base, width = model.config.rope_parameters["rope_theta"], rotated_width(model)
    waiting = starting_points(width, base, factor, context.trained)
    best, fewest = waiting[0], math.inf
    for _ in range(max(steps, len(waiting))):
        candidate = waiting.pop(0) if waiting else change(best, factor, random)
        method = searched_method(model, context, factor, list(candidate.factors), candidate.scale)
        found = [passes.bits(method, ids)[context.trained :].mean() for ids in documents]
        bits = float(np.mean(found))
        advance("searching factors")
        if bits < fewest:
            best, fewest = candidate, bits
    return searched_method(model, context, factor, list(best.factors), best.scale)
