"""For other projects' tests: hold an encoding of one's own to its certificate."""

from __future__ import annotations

from collections.abc import Iterable

from locant.certification.certificate import Certificate, certify
from locant.encodings.base import Encoding


def assert_certified(
    encoding: Encoding, *, effort: str = "quick", seed: int = 0, only: Iterable[str] | None = None
) -> Certificate:
    """Certify an encoding; an AssertionError names every property that fails, with its measurement.

    >>> assert_certified(make("alibi", dim=16, heads=2), only=["nearness", "shift"]).fails
    []
    """
    paper = certify(encoding, effort=effort, seed=seed, only=only)
    if paper.fails:
        lines = [
            f"  {name}: {paper[name].message}\n    It should hold that: {paper[name].sentence}"
            for name in paper.fails
        ]
        raise AssertionError(
            "\n".join([f"{paper.encoding} fails {len(lines)} of its properties:", *lines])
        )
    return paper
