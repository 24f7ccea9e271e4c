"""Plot properties: which of them each encoding claims, and whether they hold."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from locant._internal.checks import one_of
from locant.figures.plots.colors import Theme, mixed
from locant.figures.plots.entrants import Entrant, listed
from locant.figures.plots.frame import PLAIN, Frame

MARKS = {"holds": "✓", "fails": "✗", "not claimed": "–", "seen": "•", "not judged": "○"}
WORDS = {"holds": "holds", "fails": "does not hold", "not claimed": "not claimed"}
WORDS |= {"seen": "measured, nothing claimed", "not judged": "not judged"}
HOLDS, FAILS = "#2f79b5", "#cf6f1d"  # blue and orange, as far apart for every eye as light and dark


def draw(
    entrants: Sequence[Entrant],
    *,
    properties: Sequence[str],
    verdicts: Sequence[Sequence[str]],
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw a mark for each entrant and property: holds, fails, not claimed, seen or not judged."""
    look = frame.look
    size = max(2.0 + 0.3 * len(properties), 6.4), 2.0 + 0.28 * len(entrants)
    title = "properties, measured and compared with the claims"
    with frame.axes(size=size, title=title) as (axes,):
        for at, row in enumerate(verdicts):
            for across, word in enumerate(row):
                _cell(axes, at, across, one_of("properties", "verdict", word, list(MARKS)), look)
        listed((axes,), entrants, look)
        axes.grid(visible=False)
        axes.set_xlim(-0.5, len(properties) - 0.5)
        axes.set_ylim(len(entrants) - 0.5, -0.5)
        axes.set_xticks(
            range(len(properties)), properties, rotation=50, ha="right", rotation_mode="anchor"
        )
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        there = [word for word in MARKS if any(word in row for row in verdicts)]
        handles = [
            Line2D(
                [],
                [],
                linestyle="",
                color=_ink(word, look),
                marker=f"${MARKS[word]}$",
                markersize=4 if word == "seen" else 7,
                label=WORDS[word],
            )
            for word in there
        ]
        axes.figure.legend(handles=handles, loc="outside lower left", ncols=len(handles))
    return (axes,)


def _cell(axes: Axes, at: int, across: int, word: str, look: Theme) -> None:
    if word in ("holds", "fails"):
        fill = mixed(look.paper, _ink(word, look), 0.25 if word == "holds" else 0.55)
        axes.add_patch(Rectangle((across - 0.46, at - 0.44), 0.92, 0.88, color=fill, linewidth=0))
    axes.text(
        across,
        at,
        MARKS[word],
        ha="center",
        va="center",
        fontsize=6 if word == "seen" else 10.5,
        color=look.ink if word in ("holds", "fails") else look.muted,
    )


def _ink(word: str, look: Theme) -> str:
    return {"holds": HOLDS, "fails": FAILS}.get(word, look.muted)
