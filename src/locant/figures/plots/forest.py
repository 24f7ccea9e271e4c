"""Differences to none, paired by seed, and the groups of encodings that cannot be distinguished."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from locant.figures.plots.entrants import Entrant, height, key, listed
from locant.figures.plots.estimate import estimate, key_lines
from locant.figures.plots.frame import PLAIN, Array, Frame

COLUMN = 0.6  # inches for the groups


def draw(
    entrants: Sequence[Entrant],
    *,
    gaps: Sequence[Array],
    groups: Sequence[int],
    metric: str,
    better: str,
    against: str = "none",
    each: str = "seed",
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw the paired differences of every entrant.

    gaps    an entrant's score minus that of `against`, one number per seed
    groups  1 for encodings that cannot be distinguished from the leading one, 2 from the best of
            the rest, and so on; 0 for entrants that do not compete
    each    what a dot stands for
    """
    look = frame.look
    with frame.axes(
        1,
        2,
        size=(6.6 + COLUMN, height(entrants)),
        title=f"{metric}: difference to {against}, paired by {each}",
        width_ratios=[6.6, COLUMN],
        sharey=True,
    ) as axes:
        for at, (one, values) in enumerate(zip(entrants, gaps, strict=True)):
            estimate(axes[0], at, values, one, look)
        axes[0].axvline(0, color=look.muted, linewidth=1, zorder=1)
        axes[0].set_xlabel(
            f"{metric} minus that of {against} ({'right' if better == 'higher' else 'left'} is "
            "better)"
        )
        for at, group in enumerate(groups):
            if group:
                axes[1].text(0, at, str(group), ha="center", va="center", fontsize=9.5)
        listed(axes[:1], entrants, look)
        _bare(axes[1])
        key(axes[0], entrants, look, *key_lines(look, max(map(len, gaps)), each))
    return tuple(axes)


def _bare(axes: Axes) -> None:
    axes.set_xlim(-0.7, 0.7)
    axes.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
    axes.spines[:].set_visible(False)
    axes.grid(visible=False)
    axes.set_title("group", loc="left")
