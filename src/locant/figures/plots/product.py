"""Dot product against distance: from several starts, so that it shows whether the distance is all that counts."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from locant.figures.plots.frame import PLAIN, Array, Frame


def draw(
    distances: Array,
    *,
    starts: Sequence[int],
    products: Array,
    what: str = "",
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """products (starts, distances): of the vector at each start with the one so many positions on."""
    with frame.axes(size=(7.6, 4.2), title="dot product against distance") as (axes,):
        for rank, (start, line, look) in enumerate(
            zip(starts, products, frame.lines(len(starts)), strict=True)
        ):
            width = 1.6 + 1.6 * (
                len(starts) - 1 - rank
            )  # the first is broad, so that lines on top of it leave it seen
            axes.plot(distances, line, label=f"p = {start}", **look | {"linewidth": width})
        axes.set_xlabel("distance k (positions)")
        axes.set_ylabel("dot product of the vectors at p and p + k")
        axes.margins(x=0)
        axes.legend(title="from position", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return (axes,)
