"""Plot the rotation of a query and a key: single pairs of dimensions, each in its plane."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from locant.figures.plots.frame import PLAIN, Array, Frame


def draw(
    pairs: Sequence[tuple[int, int]],
    *,
    turns: Array,
    queries: Array,
    keys: Array,
    position: float,
    key: float,
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw each pair at position 0 and at its own position.

    turns          radians per position; queries, keys: (2, pairs, 2)
    """
    title = f"a query at {position:g} and a key at {key:g}, rotated"
    with frame.axes(
        1, len(pairs), size=(1.0 + 3.0 * len(pairs), 4.2), title=title, square=True
    ) as axes:
        for at, (one, pair) in enumerate(zip(axes, pairs, strict=True)):
            for ends, label, shade in (
                (queries[:, at], "query", frame.color),
                (keys[:, at], "key", frame.look.muted),
            ):
                _arrows(one, ends, label, shade)
            reach = 1.1 * float(
                np.linalg.norm(np.stack([queries[:, at], keys[:, at]]), axis=-1).max()
            )
            one.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
            one.set_xlabel(f"dimension {pair[0]}")
            one.set_ylabel(f"dimension {pair[1]}")
            one.set_title(f"{turns[at]:.3g} radians per position")
        handles, labels = axes[0].get_legend_handles_labels()
        axes[0].figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return tuple(axes)


def _arrows(axes: Axes, ends: Array, label: str, shade: str) -> None:
    """Draw the pair at position 0 (dashed) and at its own position, and the arc between them."""
    start, end = ends
    for (x, y), line, when in (
        (start, (0, (3, 2)), "at position 0"),
        (end, "-", "at its position"),
    ):
        axes.plot([0, x], [0, y], linestyle=line, color=shade, label=f"{label} {when}")
        axes.plot([x], [y], "o", markersize=5, color=shade)
    size, first = np.hypot(*start), np.arctan2(start[1], start[0])
    turn = (np.arctan2(end[1], end[0]) - first + np.pi) % (2 * np.pi) - np.pi
    arc = first + np.linspace(0, turn, 60)
    axes.plot(0.55 * size * np.cos(arc), 0.55 * size * np.sin(arc), linewidth=1, color=shade)
