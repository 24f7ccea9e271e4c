"""An encoding that uses no hook: the score is what the content makes it, wherever the tokens are."""

from __future__ import annotations

from locant.encodings.base import Encoding
from locant.figures.walkthrough.content import contents
from locant.figures.walkthrough.part import Part
from locant.figures.walkthrough.writing import fixed, plain, product, vector


def work_out(encoding: Encoding, position: float, key: float) -> Part:
    """A query at `position` and a key at `key`, of the first head."""
    head = encoding.shape.head
    q, k = (x.tolist() for x in contents(head))
    score = sum(a * b for a, b in zip(q, k, strict=True)) * head**-0.5
    lines = [
        f"q = {vector(q, plain)}, k = {vector(k, plain)}",
        f"score: ({product(q, k)})/√{head} = {fixed(score)}, at these positions and at any other",
    ]
    title = f"a query at {plain(position)} and a key at {plain(key)}, in a head of width {head}"
    return Part("no hook", title, lines, {"before": score, "after": score})
