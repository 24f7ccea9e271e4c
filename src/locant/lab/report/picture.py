"""A picture that can be drawn, and the words that captions share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from locant.figures.plots import gallery
from locant.figures.plots.frame import Frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Picture(NamedTuple):
    """The file of locant.figures.plots that draws it, the numbers it draws, and what it shows, in a sentence."""

    plot: str
    numbers: dict[str, Any]
    caption: str

    def draw(self, theme: str = "light") -> tuple[Axes, ...]:
        return gallery.draw(self.plot, self.numbers, Frame(theme=theme))


def listed(names: Iterable[object], last: str = "and") -> str:
    """
    >>> listed([32, 48, 64])
    '32, 48 and 64'
    """
    *first, final = map(str, names)
    return f"{', '.join(first)} {last} {final}" if first else final


def capital(text: str) -> str:
    """Upper case at the start of a sentence, the rest as it is.

    >>> capital("accuracy, unseen AUC")
    'Accuracy, unseen AUC'
    """
    return text[:1].upper() + text[1:]
