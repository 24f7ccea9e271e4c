"""Differences to none, seed by seed: means with intervals, and the letters of the rows that cannot be told apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

from matplotlib.axes import Axes

from locant.plots.entrants import Entrant, height, key, listed
from locant.plots.estimate import estimate, key_lines
from locant.plots.frame import PLAIN, Array, Frame

COLUMN = 0.17  # inches for a letter


def draw(
    entrants: Sequence[Entrant],
    *,
    gaps: Sequence[Array],
    letters: Sequence[str],
    metric: str,
    better: str,
    against: str = "none",
    each: str = "seed",
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """gaps: a row's score minus that of `against`, one number a seed; letters: a row's tie groups, as in "ab"; each: what a
    dot stands for.
    """
    look = frame.look
    groups = sorted({mark for row in letters for mark in marks(row)}, key=lambda mark: (len(mark), mark))
    width = 0.35 + COLUMN * max(len(groups), 2)
    with frame.axes(
        1, 2, size=(6.6 + width, height(entrants)), title=f"{metric}: difference to {against}, paired by {each}",
        width_ratios=[6.6, width], sharey=True,
    ) as axes:  # fmt: skip
        for at, (one, values) in enumerate(zip(entrants, gaps, strict=True)):
            estimate(axes[0], at, values, one, look)
        axes[0].axvline(0, color=look.muted, linewidth=1, zorder=1)
        axes[0].set_xlabel(f"{metric} minus that of {against} ({'right' if better == 'higher' else 'left'} is better)")
        for at, row in enumerate(letters):
            for mark in marks(row):
                axes[1].text(
                    groups.index(mark), at, mark, ha="center", va="center", fontsize=9.5, family="DejaVu Sans Mono"
                )
        listed(axes[:1], entrants, look)
        _bare(axes[1], len(groups))
        key(axes[0], entrants, look, *key_lines(look, max(map(len, gaps)), each))
    return tuple(axes)


def _bare(axes: Axes, groups: int) -> None:
    axes.set_xlim(-0.7, max(groups, 2) - 0.3)
    axes.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
    axes.spines[:].set_visible(False)
    axes.grid(visible=False)
    axes.set_title("ties", loc="left")


def marks(letters: str) -> list[str]:
    """The tie groups in a row's letters; after z they are numbers.

    >>> marks("ab[27]")
    ['a', 'b', '[27]']
    """
    return re.findall(r"[a-z]|\[\d+\]", letters)
