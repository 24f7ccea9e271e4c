"""Plot dot products against distance, from several starts: does the distance alone count?"""

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
    """Draw products (starts, distances): of the vector at each start with the one a distance
    later."""
    with frame.axes(size=(7.6, 4.2), title="dot product against distance") as (axes,):
        for rank, (start, line, look) in enumerate(
            zip(starts, products, frame.lines(len(starts)), strict=True)
        ):
            # the first is the widest, so that it stays visible under the others
            width = 1.6 + 1.6 * (len(starts) - 1 - rank)
            axes.plot(distances, line, label=f"p = {start}", **look | {"linewidth": width})
        axes.set_xlabel("distance k (positions)")
        axes.set_ylabel("dot product of the vectors at p and p + k")
        axes.margins(x=0)
        axes.legend(title="from position", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return (axes,)
