"""The numbers behind the pictures of an encoding, measured through its hooks; no formula is known
here.

A picture is one file in this folder and one of the same name in `locant.figures.plots`. The file in
this folder measures: its `measure(encoding, …)` returns the numbers that the other file's `draw`
takes. Its docstring is the caption, and its `ORDER` says where it comes in a gallery. A picture
that looks like an existing one needs no second file: `PLOT = "heat"` draws its numbers as a heat
map. `locant show`, the gallery and the explorer find a picture by its file.

An encoding is never asked for its name, so that a user's own gets every picture that fits it.

>>> numbers, left_out = measure_all(make("alibi", dim=8, heads=2, length=16))
>>> list(numbers)
['numbers', 'score', 'bias', 'resolution', 'mixing']
>>> left_out["heat"]
'it adds no vectors to the input and rotates no keys'
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from locant._internal.checks import one_of

if TYPE_CHECKING:
    from locant.encodings.base import Encoding

Numbers = dict[str, Any]  # what `draw` of the picture's plot takes
LAST = 1_000  # where a picture without an ORDER comes


@dataclass(frozen=True)
class Picture:
    """What the file of a picture says about it."""

    name: str
    caption: str
    plot: str  # the file of locant.figures.plots that draws it
    order: int

    @property
    def label(self) -> str:
        """The caption up to its colon, as a name in a list: "heat map"."""
        first = self.caption.partition(":")[0]
        return first[:1].lower() + first[1:]


def catalog() -> dict[str, Picture]:
    """Find every picture, in the order of a gallery, without importing any.

    >>> list(catalog())[:3]
    ['heat', 'waves', 'wavelengths']
    >>> catalog()["similarity"].caption
    'Similarity: the cosine between the vectors of every two positions.'
    """
    found = []
    for folder in __path__:
        for module in iter_modules([folder]):
            if module.name != "base" and not module.name.startswith("_"):
                found.append(_read(Path(folder) / f"{module.name}.py"))
    found.sort(key=lambda picture: (picture.order, picture.name))
    return {picture.name: picture for picture in found}


@cache
def _read(path: Path) -> Picture:
    """Read a picture's caption and constants from its source."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            constants[ast.unparse(node.targets[0])] = node.value.value
    caption = (ast.get_docstring(tree) or path.stem).split("\n\n")[0]
    return Picture(
        path.stem,
        " ".join(caption.split()),
        constants.get("PLOT", path.stem),
        constants.get("ORDER", LAST),
    )


def measure(picture: str, encoding: Encoding, position: float = 3, key: float = 1) -> Numbers:
    """Return the numbers of one picture; raise NotApplicable when it says nothing about the
    encoding.

    position, key  positions of the query and the key of pictures that show a single pair
    """
    import torch

    from locant.figures.data.base import frozen

    one_of("figures", "picture", picture, list(catalog()))
    module = import_module(f"locant.figures.data.{picture}")
    with torch.no_grad():
        numbers: Numbers = module.measure(frozen(encoding), position=position, key=key)
    return numbers


def measure_all(
    encoding: Encoding, position: float = 3, key: float = 1
) -> tuple[dict[str, Numbers], dict[str, str]]:
    """Return the numbers of every picture that fits an encoding and, for every other, the
    reason."""
    from locant.figures.data.base import NotApplicable

    measured: dict[str, Numbers] = {}
    left_out: dict[str, str] = {}
    for name in catalog():
        try:
            measured[name] = measure(name, encoding, position, key)
        except NotApplicable as reason:
            left_out[name] = str(reason)
    return measured, left_out
