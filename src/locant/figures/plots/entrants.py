"""How the entrants of a study are drawn: the color names the encoding, the marker its role.

>>> from locant.figures.plots.colors import THEMES
>>> Entrant("learned .02", "learned").color(THEMES["light"]) == color_of("learned")
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from locant.figures.plots.colors import Theme, color_of

ENCODING, CONTROL, BASELINE = "encoding", "control", "baseline"
MARKERS = {ENCODING: "o", CONTROL: "D", BASELINE: "s"}
CONTROLS = {
    "no attention": "#786040"
}  # found as the colors of encodings were; other controls have theirs among them
LINE_HEIGHT, MARGIN = 0.27, 1.75  # inches of one line of a list, and of all around it
MIN_LINES = 4  # a list is at least so high


@dataclass(frozen=True)
class Entrant:
    """An encoding, control or baseline of a study, and how it is drawn.

    again  whether the same encoding came before under another name
    """

    name: str
    encoding: str = "none"
    role: str = ENCODING
    again: bool = False

    def color(self, look: Theme) -> str:
        """Return the color of the encoding; controls have their own, and baselines are gray."""
        if self.role == BASELINE:
            return look.muted
        if self.role == CONTROL:
            return CONTROLS.get(self.name) or color_of(self.name)
        return color_of(self.encoding)

    def marker(self, look: Theme) -> dict[str, Any]:
        """Return how its point is drawn: hollow when the same encoding came before."""
        own = self.color(look)
        return {
            "marker": MARKERS[self.role],
            "color": own,
            "markerfacecolor": look.paper if self.again else own,
        }

    def ink(self, look: Theme) -> str:
        """Return the color of its name: encodings stand out."""
        return look.ink if self.role == ENCODING else look.muted


def listed(
    axes: Sequence[Axes], entrants: Sequence[Entrant], look: Theme, heights: Sequence[float] = ()
) -> None:
    """Write names down the left side, one per line; axes to the right of the first share them.

    heights  of the lines on the y axis; 0, 1, 2… by default
    """
    first = axes[0]
    first.set_yticks(heights or range(len(entrants)), [one.name for one in entrants])
    first.set_ylim(len(entrants) - 0.4, -0.6)
    for one_axes in axes:
        one_axes.tick_params(axis="y", length=0)
        one_axes.grid(visible=False, axis="y")
    for label, one in zip(first.get_yticklabels(), entrants, strict=True):
        label.set_color(one.ink(look))
        label.set_fontstyle("normal" if one.role == ENCODING else "italic")


def height(entrants: Sequence[Entrant]) -> float:
    """Return the height of a list of entrants, in inches."""
    return MARGIN + LINE_HEIGHT * max(len(entrants), MIN_LINES)


def key(axes: Axes, entrants: Sequence[Entrant], look: Theme, *more: Line2D) -> None:
    """Explain the markers below the picture, those that are drawn."""
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
