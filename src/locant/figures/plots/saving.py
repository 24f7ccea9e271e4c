"""Writing pictures as PNG, SVG or PDF: the same numbers give the same bytes, today and tomorrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from locant._internal.checks import one_of
from locant.figures.plots import FORMATS

UNDATED: dict[str, dict[str, str | None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}
SAME: Any = {"svg.hashsalt": "locant", "svg.fonttype": "path", "pdf.fonttype": 42}
DOTS = 144  # an inch, in PNG


def save(axes: tuple[Axes, ...], path: Path, *, title: str = "") -> Path:
    """Write the figure of these axes; the ending of the path says how. The title is kept in the file, for screen readers."""
    ending = one_of("save", "format", path.suffix.lstrip("."), FORMATS)
    figure = axes[0].get_figure(root=True)
    assert isinstance(figure, Figure)
    metadata = UNDATED[ending] | ({"Title": title} if title else {})
    with matplotlib.rc_context(SAME):
        figure.savefig(
            path, format=ending, dpi=DOTS, metadata=metadata, facecolor=figure.get_facecolor()
        )
    return path
