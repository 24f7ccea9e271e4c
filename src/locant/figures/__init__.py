"""What people see: `data`, the numbers of a picture; `walkthrough`, worked arithmetic; `plots`,
drawing.

`draw` and `work_out` are what `locant show` prints and draws, for Python and notebooks:

>>> rope = locant.make("rotary", dim=64, heads=4, length=100)
>>> locant.figures.draw("heat", rope).axes[0].get_xlabel()
'dimension'
>>> print(locant.figures.work_out(locant.make("sinusoidal", dim=4), position=3)[0].lines[0])
dimension 0   sin(3/1) = 0.1411     derivative: cos(3/1)/1 = −0.9900
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from locant.encodings.base import Encoding
    from locant.figures.walkthrough import WorkedPart

__all__ = ["draw", "work_out"]


def draw(
    picture: str, encoding: Encoding, *, position: float = 3, key: float = 1, theme: str = "light"
) -> Figure:
    """Draw one picture of an encoding, such as "heat"; a wrong name is answered with all names.

    position, key  of the query and the key, in pictures that show a single pair
    theme          "light" or "dark"

    A picture that says nothing about the encoding is a ValueError that tells the reason.
    """
    from locant.figures.data import catalog, measure
    from locant.figures.data.base import NotApplicable
    from locant.figures.plots import gallery
    from locant.figures.plots.frame import Frame

    name = type(encoding).__module__.rpartition(".")[2]
    try:
        numbers = measure(picture, encoding, position, key)
    except NotApplicable as reason:
        raise ValueError(f"there is no picture {picture!r} of {name}: {reason}.") from None
    axes = gallery.draw(catalog()[picture].plot, numbers, Frame(name, theme))
    figure = axes[0].get_figure(root=True)
    assert figure is not None  # axes that were just drawn are on one
    return figure


def work_out(
    encoding: Encoding, position: float = 3, key: float = 1, hooks: Iterable[str] | None = None
) -> list[WorkedPart]:
    """Work out a token at `position`, or a query there and a key at `key`, step by step.

    hooks  those to work out, such as ["rotate"]; all by default
    """
    from locant.figures import walkthrough

    return walkthrough.work_out(encoding, position, key, hooks or walkthrough.HOOKS)
