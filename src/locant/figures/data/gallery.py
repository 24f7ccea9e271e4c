"""All pictures of one encoding: the numbers of those that say something, and why there are no others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch

from locant.encodings.base import Encoding
from locant.figures.data import mixing, offset, planes, scoring, vectors
from locant.figures.data.hooks import NotOffered, Numbers, still

PICTURES: dict[
    str, Callable[[Encoding], Numbers]
] = {  # each is drawn by the file of that name in locant.figures.plots
    "heat": vectors.heat,
    "waves": vectors.waves,
    "wavelengths": vectors.wavelengths,
    "similarity": vectors.similarity,
    "product": vectors.product,
    "offset": offset.offset,
    "numbers": scoring.numbers,
    "score": scoring.score,
    "bias": scoring.bias,
    "rotation": planes.rotation,
    "resolution": scoring.resolution,
    "mixing": mixing.mixing,
}


@torch.no_grad()
def pictures(
    encoding: Encoding, position: float = 3, key: float = 1
) -> tuple[dict[str, Numbers], dict[str, str]]:
    """The numbers of every picture that fits an encoding; for every other, the reason.

    position, key  where the query and the key stand that are turned
    """
    encoding = still(encoding)
    drawn: dict[str, Numbers] = {}
    left_out: dict[str, str] = {}
    for name, view in (
        PICTURES | {"rotation": partial(planes.rotation, position=position, key=key)}
    ).items():
        try:
            drawn[name] = view(encoding)
        except NotOffered as reason:
            left_out[name] = str(reason)
    return drawn, left_out
