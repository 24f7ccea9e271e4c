"""The score that decides: the mean of every entrant with its interval, and every seed as a dot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from locant._internal.text import plus_minus
from locant.figures.plots.entrants import Entrant, height, key, listed
from locant.figures.plots.estimate import estimate, key_lines, verticals
from locant.figures.plots.frame import PLAIN, Array, Frame
from locant.lab.statistics.paired import interval


def draw(
    entrants: Sequence[Entrant],
    *,
    scores: Sequence[Array],
    metric: str,
    better: str,
    lines: Mapping[str, float],
    notes: Sequence[str],
    on: str = "unseen data",
    each: str = "seed",
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw the scores of every entrant, best first.

    scores  one number per seed, for each entrant in the order shown
    better  "higher" or "lower"
    lines   chance and ceilings
    notes   why an entrant is shown without a mean, such as "2 failed"; empty for all others
    on      the data that the scores were computed on
    each    what a dot stands for
    """
    look = frame.look
    size = (7.6, height(entrants) + 0.18 * len(set(lines.values())))
    with frame.axes(size=size, title=f"{metric} on {on}, best first") as (axes,):
        for at, (one, values, note) in enumerate(zip(entrants, scores, notes, strict=True)):
            estimate(axes, at, values, one, look, sure=not note)
            axes.annotate(
                note or mean_text(values),
                (1.015, at),
                xycoords=("axes fraction", "data"),
                va="center",
                fontsize=9,
                color=one.ink(look),
            )
        listed((axes,), entrants, look)
        verticals(axes, lines, look)
        axes.set_xlabel(f"{metric} ({better} is better)")
        key(axes, entrants, look, *key_lines(look, max(map(len, scores)), each))
    return (axes,)


def mean_text(values: Array) -> str:
    """Write the mean and half its interval.

    >>> mean_text(np.array([0.5, 0.6, 0.7])), mean_text(np.array([0.5]))
    ('0.600 ± 0.248', '0.500')
    """
    if not len(values):
        return ""
    low, high = interval(values)
    return plus_minus(float(values.mean()), (high - low) / 2, "fixed")
