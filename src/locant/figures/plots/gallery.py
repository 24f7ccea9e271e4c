"""Several pictures of one encoding, each drawn by the file of its name and written to a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from locant.figures.plots.frame import PLAIN, Frame
from locant.figures.plots.saving import save


def draw(picture: str, numbers: Mapping[str, Any], frame: Frame = PLAIN) -> tuple[Axes, ...]:
    """One picture by its name, such as "heat", from the numbers that its `draw` takes."""
    axes: tuple[Axes, ...] = import_module(f"locant.figures.plots.{picture}").draw(
        **numbers, frame=frame
    )
    return axes


def caption(picture: str) -> str:
    """What a picture shows, in a sentence.

    >>> caption("similarity")
    'Similarity: the cosine between the vectors of every two positions.'
    """
    return (import_module(f"locant.figures.plots.{picture}").__doc__ or "").strip()


def write(
    pictures: Mapping[str, Mapping[str, Any]],
    folder: Path,
    endings: Iterable[str],
    frame: Frame = PLAIN,
) -> Iterator[tuple[str, list[Path]]]:
    """Draw and write pictures, by name, one after the other; gives the name and the files of each as it is done."""
    endings = list(endings)
    for picture, numbers in pictures.items():
        axes = draw(picture, numbers, frame)
        yield (
            picture,
            [
                save(axes, folder / f"{picture}.{ending}", title=caption(picture))
                for ending in endings
            ],
        )
