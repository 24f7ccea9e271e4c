"""Linear baselines for rows of tokens: least squares on counts, or on which token stands where."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from locant.lab.tasks.base import Batch, Scores

RIDGE = 1e-3


def _counts(tokens: Tensor, symbols: int) -> Tensor:
    return one_hot(tokens, symbols).sum(1).double()


def _places(tokens: Tensor, symbols: int) -> Tensor:
    return one_hot(tokens, symbols).flatten(1).double()


FEATURES: dict[str, Callable[[Tensor, int], Tensor]] = {
    "token counts": _counts,
    "token × place": _places,
}


def fit_and_score(name: str, seen: Batch, rows: Batch, classes: int) -> Scores:
    """Fit on the rows that were seen and give the share of the others that it gets right."""
    symbols = int(max(seen.inputs.max(), rows.inputs.max())) + 1
    x, y = (_with_one(FEATURES[name](part.inputs, symbols)) for part in (seen, rows))
    wanted = one_hot(seen.target, classes).double()
    weights = torch.linalg.solve(
        x.T @ x + RIDGE * len(x) * torch.eye(x.shape[1]).double(), x.T @ wanted
    )
    right = ((y @ weights).argmax(-1) == rows.target).double().mean().item()
    return {"accuracy": right}


def _with_one(features: Tensor) -> Tensor:
    return torch.cat([features, torch.ones(len(features), 1).double()], 1)
