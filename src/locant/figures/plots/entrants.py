"""Who takes part in a study, and how each is drawn: the colour says the encoding, the marker what it is there for.

>>> from locant.figures.plots.colours import THEMES
>>> Entrant("learned .02", "learned").colour(THEMES["light"]) == colour("learned")
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from locant.figures.plots.colours import Theme, colour

ENCODING, CONTROL, PLAIN_METHOD = "encoding", "control", "plain method"
MARKERS = {ENCODING: "o", CONTROL: "D", PLAIN_METHOD: "s"}
CONTROLS = {
    "no attention": "#786040"
}  # found as the colours of encodings were; other controls have theirs among them
ROW, ROOM = 0.27, 1.75  # inches for one row of a list, and for all around them
FEWEST = 4  # rows for which there is room at least


@dataclass(frozen=True)
class Entrant:
    """A row of a study: its name, its encoding, its role, and whether the same encoding came before under another name."""

    name: str
    encoding: str = "none"
    role: str = ENCODING
    again: bool = False

    def colour(self, look: Theme) -> str:
        """Of the encoding; controls have their own, and plain methods are grey."""
        if self.role == PLAIN_METHOD:
            return look.muted
        if self.role == CONTROL:
            return CONTROLS.get(self.name) or colour(self.name)
        return colour(self.encoding)

    def marker(self, look: Theme) -> dict[str, Any]:
        """How its point is drawn: hollow when the same encoding came before."""
        own = self.colour(look)
        return {
            "marker": MARKERS[self.role],
            "color": own,
            "markerfacecolor": look.paper if self.again else own,
        }

    def ink(self, look: Theme) -> str:
        """Of its name: encodings stand out."""
        return look.ink if self.role == ENCODING else look.muted


def listed(
    axes: Sequence[Axes], entrants: Sequence[Entrant], look: Theme, places: Sequence[float] = ()
) -> None:
    """Names down the left side, one a row; axes that stand to the right of the first share them.

    places  of the rows; 0, 1, 2… by default
    """
    first = axes[0]
    first.set_yticks(places or range(len(entrants)), [one.name for one in entrants])
    first.set_ylim(len(entrants) - 0.4, -0.6)
    for one_axes in axes:
        one_axes.tick_params(axis="y", length=0)
        one_axes.grid(visible=False, axis="y")
    for label, one in zip(first.get_yticklabels(), entrants, strict=True):
        label.set_color(one.ink(look))
        label.set_fontstyle("normal" if one.role == ENCODING else "italic")


def height(entrants: Sequence[Entrant]) -> float:
    """Of a list, in inches."""
    return ROOM + ROW * max(len(entrants), FEWEST)


def key(axes: Axes, entrants: Sequence[Entrant], look: Theme, *more: Line2D) -> None:
    """Below the picture: what the markers mean, those that are there."""
    roles = [role for role in MARKERS if any(one.role == role for one in entrants)]
    marks = [
        Line2D([], [], linestyle="", color=look.ink, marker=MARKERS[role], markersize=5, label=role)
        for role in roles
    ]
    shown = [*more, *(marks if len(roles) > 1 else [])]
    if shown:
        axes.figure.legend(
            handles=shown,
            loc="outside lower left",
            ncols=len(shown),
            handlelength=1.6,
            columnspacing=1.4,
        )
