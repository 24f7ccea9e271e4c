"""One color for each encoding, everywhere: in pictures, reports and the explorer. Plain values, no
library.

They were chosen by search so that any two of the first differ (CIEDE2000 ≥ 14; ≥ 8.9 as seen with
deuteranopia or protanopia), any two of all by half as much, and all are readable on white and on
dark (contrast ≥ 3 : 1). A dash goes with each
color, so that no line depends on color alone.

>>> color_of("rotary"), color_of("mine.py:Mine")
('#d01a00', '#68689c')
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

COLORS = {
    "none": "#828282",  # the controls are gray and dull
    "scrambled": "#825b68",
    "sinusoidal": "#8f0df7",  # added to the input: violets, blues, a deep green
    "hybrid": "#8268f7",
    "fourier": "#758fd0",
    "continuous": "#689ca9",
    "learned": "#34825b",
    "rotary": "#d01a00",  # rotating queries and keys: red, orange
    "pope": "#f76800",
    "alibi": "#41a941",  # on the scores: greens, and purple for the one that uses the query
    "t5": "#007500",
    "relative": "#829c75",
    "shaw": "#b62782",
    # the second shelf: as far from all others as a search could find
    "kerple": "#669955",
    "sandwich": "#997733",
    "dynamic": "#779988",
    "fire": "#bb6666",
    "tape": "#0066bb",
    "swin": "#776644",
    "log_cpb": "#667777",
    "transformer_xl": "#dd2277",
    "time2vec": "#5566dd",
    "xpos": "#ff0022",
    "rope_mixed": "#dd7766",
    "forgetting": "#bb00bb",
    "inkling": "#227788",
    "deberta": "#bb3333",
    "cope": "#b469b4",
    "erpe": "#879696",
}
SPARE = ("#f75b9c", "#d0274e", "#68689c")  # for encodings that are not ours
DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (6, 2),
    (2, 1.5),
    (6, 2, 1.5, 2),
    (10, 3),
    (4, 1.5, 1.5, 1.5, 1.5, 1.5),
)

NEAR_INK = 0.6  # the share of ink in the first of several shades


@dataclass(frozen=True)
class Theme:
    """Background, text and grid, and the color maps of matrices: diverging around 0, sequential."""

    paper: str
    ink: str
    muted: str
    grid: str
    diverging: tuple[str, ...]
    sequential: tuple[str, ...]


THEMES = {
    "light": Theme(
        paper="#ffffff",
        ink="#1c1f24",
        muted="#5c636e",
        grid="#dde0e5",
        diverging=("#0b3d78", "#2f79b5", "#9cc6e0", "#f7f7f7", "#f5c08f", "#cf6f1d", "#7f3300"),
        sequential=("#f4f6f8", "#c3dae8", "#7fb2d0", "#3a7fb0", "#0f4c81", "#07264a"),
    ),
    "dark": Theme(
        paper="#15181d",
        ink="#e8eaed",
        muted="#a3abb8",
        grid="#343a43",
        diverging=("#b5dcff", "#4c9be0", "#1f4f7d", "#1b1e23", "#7d4113", "#e08a3c", "#ffdcb5"),
        sequential=("#1b1e23", "#123a5e", "#1f6aa5", "#4da3dd", "#a6d4f5", "#f0f8ff"),
    ),
}


def color_of(name: str) -> str:
    """Return the color of an encoding; for a name that is not ours, a spare one that depends on
    the name only."""
    return COLORS.get(name) or SPARE[_number(name) % len(SPARE)]


def dash(name: str) -> tuple[float, ...]:
    """Return the dash that goes with a color: lengths of strokes and gaps, empty for a solid line.

    >>> dash("none"), dash("scrambled")
    ((), (6, 2))
    """
    known = list(COLORS)
    return DASHES[(known.index(name) if name in known else _number(name)) % len(DASHES)]


def shades(name: str, count: int, theme: str = "light") -> list[str]:
    """Return shades of an encoding's color, from near the ink to its own, for heads or dimensions.

    >>> shades("rotary", 3)
    ['#641d16', '#9a1c0b', '#d01a00']
    """
    left = range(count - 1, -1, -1)
    return [
        mixed(color_of(name), THEMES[theme].ink, NEAR_INK * at / max(count - 1, 1)) for at in left
    ]


def mixed(one: str, other: str, share: float) -> str:
    """Mix a share of one color into another.

    >>> mixed("#000000", "#ff0000", 0.5)
    '#800000'
    """
    parts = zip(_channels(one), _channels(other), strict=True)
    return "#" + "".join(f"{round((1 - share) * a + share * b):02x}" for a, b in parts)


def _channels(code: str) -> tuple[int, int, int]:
    red, green, blue = (int(code[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def _number(name: str) -> int:
    """Hash a name to the same number on every machine and in every run; folders play no part."""
    return hashlib.sha256(name.replace("\\", "/").rpartition("/")[2].encode()).digest()[0]
