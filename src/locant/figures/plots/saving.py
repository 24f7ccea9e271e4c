"""Save plots as PNG, SVG or PDF: the same numbers give the same bytes, today and tomorrow."""

from __future__ import annotations

from io import BytesIO
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
REPRODUCIBLE: Any = {"svg.hashsalt": "locant", "svg.fonttype": "path", "pdf.fonttype": 42}
DPI = 144  # of a PNG


def save(axes: tuple[Axes, ...], path: Path, *, title: str = "") -> Path:
    """Write the figure of these axes in the format of the path's suffix, with its title for screen
    readers."""
    suffix = one_of("save", "format", path.suffix.lstrip("."), FORMATS)
    _write(axes, path, suffix, title)
    return path


def to_svg(axes: tuple[Axes, ...], *, title: str = "") -> bytes:
    """Return the figure of these axes as an SVG."""
    buffer = BytesIO()
    _write(axes, buffer, "svg", title)
    return buffer.getvalue()


def _write(axes: tuple[Axes, ...], target: Path | BytesIO, suffix: str, title: str) -> None:
    figure = axes[0].get_figure(root=True)
    assert isinstance(figure, Figure)
    metadata = UNDATED[suffix] | ({"Title": title} if title else {})
    with matplotlib.rc_context(REPRODUCIBLE):
        figure.savefig(
            target, format=suffix, dpi=DPI, metadata=metadata, facecolor=figure.get_facecolor()
        )
