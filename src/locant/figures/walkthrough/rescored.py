"""What a score becomes when the query is asked: where that is a vector for the distance, it is made visible."""

from __future__ import annotations

import torch
from torch import Tensor

from locant.encodings.base import Encoding
from locant.figures.data.hooks import index, places
from locant.figures.walkthrough.content import contents
from locant.figures.walkthrough.part import Part
from locant.figures.walkthrough.writing import CLOSE, fixed, plain, product, vector


def work_out(encoding: Encoding, position: float, key: float) -> Part:
    """A query at `position` and a key at `key`, of the first head."""
    head = encoding.shape.head
    q, k = contents(head)
    scale = head**-0.5
    before = float(q @ k) * scale
    after = _score(encoding, q * scale, k, position, key)
    lines = [f"q = {vector(q.tolist(), plain)}, k = {vector(k.tolist(), plain)}"]
    lines.append(
        f"score without positions: ({product(q.tolist(), k.tolist())})/√{head} = {fixed(before)}"
    )
    gets = torch.tensor(
        [
            _score(encoding, one, 0 * k, position, key)
            for one in torch.eye(head, dtype=torch.float64)
        ],
        dtype=torch.float64,
    )
    if (
        abs(float(q @ gets) * scale + before - after) <= CLOSE
    ):  # the query is multiplied by a vector
        lines.append(f"a key at this distance gets a = {vector(gets.tolist())}")
        lines.append(
            f"q·a/√{head} = ({product(q.tolist(), gets.tolist())})/√{head} = {fixed(after - before)}"
        )
    lines.append(
        f"score with positions: {fixed(before)} + {fixed(after - before)} = {fixed(after)}".replace(
            "+ −", "− "
        )
    )
    numbers = {"before": before, "after": after, "key_gets": gets.tolist()}
    title = f"a query at {plain(position)} and a key at {plain(key)}, in a head of width {head}"
    return Part("rescore", title, lines, numbers)


def _score(encoding: Encoding, q: Tensor, k: Tensor, position: float, key: float) -> float:
    """The score of one scaled query and one key in the first head."""
    q, k = (x.expand(1, encoding.shape.heads, 1, -1) for x in (q, k))
    at = places(encoding, index(position)), places(encoding, index(key))
    return float(encoding.rescore(q @ k.mT, q, k, *at)[0, 0, 0, 0])
