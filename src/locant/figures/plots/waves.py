"""Plot waves: single dimensions over the positions, sines and cosines apart."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes

from locant.figures.plots.frame import PLAIN, Array, Frame


def draw(
    positions: Array,
    *,
    panels: Mapping[str, Mapping[str, Array]],
    what: str = "single dimensions",
    frame: Frame = PLAIN,
) -> tuple[Axes, ...]:
    """Draw a panel for each kind of wave (its title), with lines by their labels."""
    with frame.axes(
        len(panels), size=(7.6, 1.0 + 2.1 * len(panels)), title=what, sharex=True
    ) as axes:
        for one, (kind, lines) in zip(axes, panels.items(), strict=True):
            for (label, values), look in zip(lines.items(), frame.lines(len(lines)), strict=True):
                one.plot(positions, values, label=label, **look)
            one.set_ylabel(kind or "value")
            one.margins(x=0)
            one.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        axes[-1].set_xlabel("position")
    return tuple(axes)
