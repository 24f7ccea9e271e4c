"""Compute what the page shows of one encoding: a picture, the worked arithmetic, the
certificate."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from locant._internal.user_code import user_code
from locant.certification.certificate import certify
from locant.certification.probe import seeded
from locant.encodings.base import Encoding
from locant.encodings.registry import make
from locant.explorer.serialization import to_json
from locant.figures.data import catalog, measure
from locant.figures.data.base import NotApplicable, Numbers
from locant.figures.walkthrough import work_out

Size = dict[str, Any]  # dim, heads, length and the encoding's own options, as `make` takes them


def make_seeded(name: str, size: Size) -> Encoding:
    """Build the encoding with the same initial parameters at every call."""
    with seeded(0):
        return make(name, **size)


def picture(name: str, size: Size, view: str, head: int, theme: str | None) -> bytes:
    """Measure one picture: {"numbers": …}, {"image": …} or {"reason": why there is none}.

    theme  of an image drawn as `locant show` draws it; None for numbers that the page draws itself
    """
    with user_code(name):
        encoding = make_seeded(name, size)
        try:
            numbers = measure(view, encoding)
        except NotApplicable as reason:
            return to_json({"reason": str(reason)})
    plot = catalog()[view].plot
    if theme is not None:
        return to_json({"image": _image(plot, numbers, name, theme)})
    if plot == "bias":
        numbers = _one_head(numbers, head)
    return to_json({"numbers": numbers})


def _one_head(numbers: Numbers, head: int) -> Numbers:
    """Return the bias of one head, (Q, K)."""
    shown = min(head, len(numbers["bias"]))
    return {"values": numbers["bias"][shown - 1], "head": shown}


def _image(plot: str, numbers: Numbers, name: str, theme: str) -> str:
    """Draw a plot as an SVG in a data URL."""
    from locant.figures.plots.frame import Frame
    from locant.figures.plots.gallery import draw
    from locant.figures.plots.saving import to_svg

    svg = to_svg(draw(plot, numbers, Frame(name, theme)))
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"


def worked_arithmetic(name: str, size: Size, position: int, key: int) -> bytes:
    """Work out one position, or a query and a key: a part for each hook that the encoding uses."""
    with user_code(name):
        parts = work_out(make_seeded(name, size), position, key)
    listed = [{"hook": part.hook, "title": part.title, "lines": part.lines} for part in parts]
    return to_json({"parts": listed})


def certificate(name: str, size: Size) -> bytes:
    """Certify one encoding now, as `Certificate.to_dict` returns it."""
    with user_code(name):
        certified = certify(make_seeded(name, size), effort="quick", name=name)
    return to_json(certified.to_dict())
