"""A query and a key in small whole numbers, so that a person can check the sums."""

from __future__ import annotations

import torch
from torch import Tensor

QUERY, KEY = (1.0, 2.0, -1.0, 1.0), (2.0, 1.0, 1.0, -1.0)


def contents(width: int) -> tuple[Tensor, Tensor]:
    """The query and the key of one head, (d) each.

    >>> contents(5)[0].tolist()
    [1.0, 2.0, -1.0, 1.0, 1.0]
    """
    q, k = (
        torch.tensor([part[at % len(part)] for at in range(width)], dtype=torch.float64)
        for part in (QUERY, KEY)
    )
    return q, k
