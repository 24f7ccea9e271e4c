"""What comes out of a value of zeros that gets all the weight: what its distance alone gives to the output."""

from __future__ import annotations

import torch

from locant.encodings.base import Encoding
from locant.figures.data.hooks import index, places
from locant.figures.walkthrough.part import Part
from locant.figures.walkthrough.writing import plain, vector


def work_out(encoding: Encoding, position: float, key: float) -> Part:
    """A query at `position` that looks at a key at `key` alone, in the first head."""
    shape = encoding.shape
    weight = torch.ones(1, shape.heads, 1, 1, dtype=torch.float64)
    nothing = torch.zeros(1, shape.heads, 1, shape.head, dtype=torch.float64)
    out = encoding.mix(
        weight, nothing, places(encoding, index(position)), places(encoding, index(key))
    )[0, 0, 0]
    title = f"a value at {plain(key)} seen from {plain(position)}, in a head of width {shape.head}"
    return Part(
        "mix",
        title,
        [f"a value of zeros comes out as {vector(out.tolist())}"],
        {"value_gets": out.tolist()},
    )
