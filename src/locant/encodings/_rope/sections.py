r"""Sections (M-RoPE): one ladder of frequencies over the head, each pair takes one of several axes.

    chunked      the first sections[0] pairs take axis 0, the next sections[1] axis 1, …
    interleaved  pair c takes axis a = c mod n while c < n·sections[a] (a ≥ 1, n axes), else axis 0

Wang et al. 2024 (Qwen2-VL), arXiv:2409.12191, §2.1, chunked; Qwen3-VL, arXiv:2511.21631,
interleaved, so that every axis has fast and slow pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from locant._internal.checks import whole_number


def axis_of_each_pair(sections: Sequence[int], layout: str, pairs: int) -> list[int]:
    """Which axis each of the pairs takes its position from.

    >>> axis_of_each_pair([2, 1, 1], "chunked", 4)
    [0, 0, 1, 2]
    >>> axis_of_each_pair([4, 2, 2], "interleaved", 8)
    [0, 1, 2, 0, 1, 2, 0, 0]
    """
    if layout == "chunked":
        return [axis for axis, size in enumerate(sections) for _ in range(size)][:pairs]
    count = len(sections)
    return [c % count if c < count * sections[c % count] else 0 for c in range(pairs)]


def check_sections(sections: Any, layout: str, width: int, axes: int) -> tuple[int, ...]:
    """The sections as whole numbers, when they share out all pairs of the rotated width."""
    if not isinstance(sections, list | tuple) or len(sections) < 2:
        raise ValueError(
            f"rotary needs the number of pairs of each axis for sections, such as [16, 24, 24]. "
            f"Got {sections!r} instead."
        )
    sizes = tuple(whole_number("rotary", "sections", size, least=0) for size in sections)
    if axes not in (1, len(sizes)):
        raise ValueError(
            f"rotary was asked for axes={axes} and {len(sizes)} sections, {list(sizes)}.\n"
            "  Leave axes out: every section has its own axis."
        )
    pairs = width // 2
    taken = axis_of_each_pair(sizes, layout, pairs)
    counts = [taken.count(axis) for axis in range(len(sizes))]
    if sum(sizes) != pairs or counts != list(sizes):
        means = ""
        if layout == "interleaved":
            means = f" Over these pairs they stand for {counts}, if that is what you mean."
        raise ValueError(
            f"rotary was asked for sections={list(sizes)}, {layout}, but the rotated width {width} "
            f"has {pairs} pairs to share out.\n  Give sections that add up to {pairs}.{means}"
        )
    return sizes
