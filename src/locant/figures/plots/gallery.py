"""Draw pictures by their names, and write a gallery of them to a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from locant.figures.data import Picture, catalog
from locant.figures.plots.frame import PLAIN, Frame
from locant.figures.plots.saving import save


def draw(plot: str, numbers: Mapping[str, Any], frame: Frame = PLAIN) -> tuple[Axes, ...]:
    """Draw a plot by its name, such as "heat", from the numbers that its `draw` takes."""
    module = import_module(f"locant.figures.plots.{plot}")
    axes: tuple[Axes, ...] = module.draw(**numbers, frame=frame)
    return axes


def write(
    measured: Mapping[str, Mapping[str, Any]],
    folder: Path,
    formats: Iterable[str],
    frame: Frame = PLAIN,
) -> Iterator[tuple[Picture, list[Path]]]:
    """Draw the pictures of an encoding and write them; yield each with its files as soon as it is
    done.

    measured  the numbers of each picture, by its name, as `measure_all` returns them
    """
    formats = list(formats)
    pictures = catalog()
    for name, numbers in measured.items():
        picture = pictures[name]
        axes = draw(picture.plot, numbers, frame)
        files = []
        for suffix in formats:
            files.append(save(axes, folder / f"{name}.{suffix}", title=picture.caption))
        yield picture, files
