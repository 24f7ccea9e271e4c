"""Draw small multiples: a panel for each entrant of a study, all in one scale, best first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from matplotlib.axes import Axes

from locant.figures.plots.entrants import Entrant
from locant.figures.plots.frame import Frame

ACROSS = 5
MIN_WIDTH, MIN_HEIGHT = 6.4, 2.2  # inches that the title and the label at the side need


@contextmanager
def panels(
    frame: Frame,
    entrants: Sequence[Entrant],
    *,
    title: str,
    across: str,
    down: str,
    size: tuple[float, float] = (1.75, 1.3),
    most: int = ACROSS,
    notes: Sequence[str] = (),
    beside: Sequence[str] = (),
    **grid: Any,
) -> Iterator[list[Axes]]:
    """Yield an axes for each entrant under its name, with a note below or beside it if there is
    one.

    across, down  labels of all panels
    size, most    inches of a panel, and how many stand side by side
    """
    count = len(entrants)
    columns = min(count, most)
    rows = -(-count // columns)
    height = max(size[1], MIN_HEIGHT / rows) + 0.17 * bool(notes)
    figure_size = max(0.8 + size[0] * columns, MIN_WIDTH), 1.2 + height * rows
    with frame.axes(
        rows, columns, size=figure_size, title=title, **{"sharex": True, "sharey": True, **grid}
    ) as axes:
        for at, (one, panel) in enumerate(zip(entrants, axes, strict=False)):
            panel.set_title(
                "\n".join([one.name, *notes[at : at + 1]]), fontsize=9, loc="left", pad=4
            )
            panel.set_title("".join(beside[at : at + 1]), fontsize=9, loc="right", pad=4)
            panel.tick_params(labelsize=8.5, labelbottom=at + columns >= count)
            panel.set_xlabel(across if at // columns == rows - 1 else "", fontsize=9)
        for spare in axes[count:]:
            spare.set_visible(False)
        yield axes[:count]
        axes[0].figure.supylabel(down, fontsize=10.5)


def behind(
    axes: Sequence[Axes], lines: Sequence[tuple[Any, Any]], color: str, **style: Any
) -> None:
    """Draw the lines of all entrants in every panel, thin and pale, for comparison."""
    for panel in axes:
        for x, y in lines:
            panel.plot(x, y, color=color, linewidth=0.7, zorder=1, **style)
