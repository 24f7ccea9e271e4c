"""A matrix in colors, as several pictures need it."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.image import AxesImage

from locant.figures.plots.frame import Array, Frame, integer_ticks


def matrix(
    axes: Axes,
    values: Array,
    frame: Frame,
    *,
    down: str,
    across: str,
    most: float | None = None,
    square: bool = False,
) -> AxesImage:
    """Rows downwards, columns across; 0 in the middle of the colors, ±most at their ends."""
    most = largest(values) if most is None else most
    image = axes.imshow(
        values,
        cmap=frame.diverging,
        vmin=-most,
        vmax=most,
        aspect="equal" if square else "auto",
        interpolation="nearest",
    )
    axes.grid(visible=False)
    axes.set_xlabel(across)
    axes.set_ylabel(down)
    integer_ticks(axes.xaxis, axes.yaxis)
    return image


def own_scale(axes: Axes, values: Array, frame: Frame, title: str, *, square: bool) -> AxesImage:
    """A matrix as shares of its own largest value; from where to where it goes stands in the
    title."""
    most = float(np.abs(values).max())
    ends = (f"{float(end) + 0.0:.2g}".replace("-", "−") for end in (values.min(), values.max()))
    axes.set_title(f"{title}: {' to '.join(ends)}" if most else f"{title}: all 0")
    return matrix(axes, values / (most or 1.0), frame, down="", across="", most=1.0, square=square)


def scale(axes: Axes | list[Axes], image: AxesImage, label: str) -> None:
    """The bar that says which color is which number."""
    first = axes if isinstance(axes, Axes) else axes[0]
    bar = first.figure.colorbar(image, ax=axes, label=label, pad=0.02, fraction=0.05)
    bar.outline.set_visible(False)


def print_numbers(axes: Axes, values: Array, image: AxesImage, digits: int) -> None:
    """Every number in its cell, in black or white, whichever is easier to read there."""
    cmap: Colormap = image.get_cmap()
    for row, column in np.ndindex(values.shape):
        bright = (
            luminance(*cmap(image.norm(values[row, column]))[:3]) > 0.179
        )  # there black and white read alike
        text = f"{values[row, column]:.{digits}f}".replace("-", "−")
        text = text.replace("−", "") if not float(text.replace("−", "-")) else text
        ink = "#000000" if bright else "#ffffff"
        axes.text(column, row, text, ha="center", va="center", fontsize=8, color=ink)


def luminance(*channels: float) -> float:
    """How bright a color is to the eye, from 0 to 1, by WCAG 2.

    >>> round(luminance(1.0, 0.0, 0.0), 4)
    0.2126
    """
    light = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return sum(share * one for share, one in zip((0.2126, 0.7152, 0.0722), light, strict=True))


def largest(values: Array) -> float:
    """The largest absolute value, or 1 when all are 0."""
    most = float(np.nanmax(np.abs(values))) if values.size else 0.0
    return most or 1.0
