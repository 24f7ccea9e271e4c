"""Random encodings, positions, masks and layouts for attack.py, each decided by its seed alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

import torch
from formulas import Formula
from torch import Tensor, nn

import locant
from locant.encodings.base import Encoding
from locant.shapes import Shape

INPUT = ("sinusoidal", "learned", "fourier", "continuous", "hybrid")
SCORES = ("rotary", "rotary", "alibi", "t5", "relative", "shaw", "pope", "none", "given", "window")
REAL = ("sinusoidal", "fourier", "continuous", "rotary", "alibi", "pope", "none", "given")
AXES = ("sinusoidal", "fourier", "rotary", "none")
WIDTHS = (1, 2, 3, 4, 5, 6, 8, 8, 16, 16, 32, 64)
MOST_SCORES = 4_000_000  # of all heads and rows: the dense side holds about ten such tensors


class Given(Encoding):
    """Price distance by slopes that come from outside, such as a hypernetwork's output."""

    shift_invariant = real_positions = cacheable_keys = True
    slope: Tensor

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        delta = (q_pos.double()[..., :, None] - k_pos.double()[..., None, :]).abs()
        delta = delta[None, None] if delta.dim() == 2 else delta[:, None]
        return -self.slope.exp()[:, None, None] * delta.to(self.slope.dtype) / 64


class Window(Encoding):
    """Hide all keys but the last few by −∞, and from some queries every key."""

    def __init__(self, shape: Shape, *, reach: int, blind: int) -> None:
        super().__init__(shape)
        self.reach, self.blind = reach, blind
        self.height = nn.Parameter(torch.randn(shape.heads))

    def bias(self, q_pos: Tensor, k_pos: Tensor) -> Tensor:
        delta = q_pos.long()[..., :, None] - k_pos.long()[..., None, :]
        sees = (q_pos.long() % self.blind != 0)[..., :, None]
        near = (delta >= 0) & (delta <= self.reach) & sees
        near, delta = (one if one.dim() == 3 else one[None] for one in (near, delta))
        heights = self.height[:, None, None] * delta[:, None] / 8
        return heights.masked_fill(~near[:, None], -math.inf)


def draw_length(rng: Random) -> int:
    """Draw a number of tokens: mostly few, some around the thresholds, some many."""
    kind = rng.random()
    if kind < 0.72:
        return rng.randint(1, 40)
    if kind < 0.84:
        return rng.randint(41, 300)
    if kind < 0.91:
        return rng.randint(510, 515)
    if kind < 0.96:
        return rng.randint(1022, 1027)
    return rng.randint(300, 2100)


def fit(rng: Random, queries: int, keys: int) -> tuple[int, int]:
    """Draw a batch and a number of heads whose scores are not too many."""
    batch, heads = rng.choice((1, 1, 2, 3)), rng.randint(1, 8)
    while batch * heads * queries * keys > MOST_SCORES and batch * heads > 1:
        batch, heads = (batch - 1, heads) if batch > 1 else (batch, heads - 1)
    return batch, heads


def draw_groups(rng: Random, heads: int) -> int:
    """Draw a number of key heads that divides the heads."""
    return rng.choice([n for n in range(1, heads + 1) if heads % n == 0])


# ---- encodings ----


def draw_formula(rng: Random, name: str, dim: int, heads: int, length: int, axes: int) -> Formula:
    """Draw the options of an encoding."""
    options: dict[str, Any] = {"axes": axes} if axes > 1 else {}
    if name in ("sinusoidal", "hybrid", "rotary", "pope"):
        options["base"] = rng.choice((10_000.0, 100.0, 500_000.0))
    if name == "sinusoidal":
        options["layout"] = rng.choice(("interleaved", "halves"))
        options["join"] = rng.choice(("add", "add", "concat"))
    elif name == "rotary":
        options |= draw_rotary(rng, dim // heads, axes)
    elif name == "alibi":
        options["sides"] = rng.choice(("symmetric", "causal", "two-sided"))
    elif name == "t5":
        options["sides"] = rng.choice(("both", "behind"))
        options["buckets"] = rng.choice((4, 5, 8, 32))
        options["max_distance"] = rng.choice((17, 20, 128, 300))
    elif name in ("relative", "shaw"):
        options["max_distance"] = rng.choice((1, 3, 16, 128))
    elif name in ("fourier", "continuous"):
        options["hidden"] = rng.choice((1, 7, 32))
        if name == "continuous":
            options["depth"] = rng.choice((1, 2))
    elif name == "window":
        options = {"reach": rng.choice((0, 2, 40)), "blind": rng.choice((2, 3, 50))}
    return Formula(name, dim, heads, length, options)


def draw_rotary(rng: Random, head: int, axes: int) -> dict[str, Any]:
    """Draw pairing, width and scaling of a rotary encoding."""
    unit = 2 * axes
    widths = list(range(unit, head + 1, unit))
    width = widths[-1] if rng.random() < 0.6 else rng.choice(widths)
    options: dict[str, Any] = {"pairing": rng.choice(("half", "interleaved"))}
    if width != head or rng.random() < 0.2:
        options["width"] = width
    if rng.random() < 0.5:
        options["scaling"] = draw_scaling(rng, width // axes)
    return options


def draw_scaling(rng: Random, width: int) -> dict[str, Any]:
    """Draw a scaling of rotary frequencies."""
    kinds = ["linear", "yarn", "llama3", "longrope", *(("ntk", "dynamic-ntk") if width > 2 else ())]
    found = {"type": rng.choice(kinds), "factor": rng.choice((1.0, 2.0, 3.5, 8.0))}
    if found["type"] not in ("linear", "ntk"):
        found["original_length"] = rng.choice((16, 300, 2048))
    if found["type"] == "longrope":
        found["short"] = [rng.uniform(1, 2) for _ in range(width // 2)]
        found["long"] = [rng.uniform(1, 9) for _ in range(width // 2)]
    return found


def grows(formula: Formula) -> bool:
    """Say whether its angles depend on the length in use."""
    scaling = formula.options.get("scaling") or {}
    return scaling.get("type") in ("dynamic-ntk", "longrope")


def build(formula: Formula) -> Encoding:
    """Build the library's encoding, with tables large enough to matter."""
    shape = Shape(formula.dim, formula.heads, formula.length)
    if formula.name == "given":
        return Given(shape)
    if formula.name == "window":
        return Window(shape, **formula.options)
    sizes = {"dim": formula.dim, "heads": formula.heads, "length": formula.length}
    encoding = locant.make(formula.name, **sizes, **formula.options)
    with torch.no_grad():
        for name, table in encoding.named_parameters():
            if name == "delta":
                table.uniform_(-2.0, 0.3)  # some of it past its bound
            elif name in ("table", "key_vectors", "value_vectors", "alpha"):
                table.normal_(std=0.7)
    return encoding


# ---- positions and masks ----


def draw_mask(rng: Random, batch: int, heads: int, queries: int, keys: int) -> Tensor | None:
    """Draw a boolean mask of any shape that attention takes, or none."""
    shapes: Sequence[tuple[int, ...]] = (
        (batch, 1, 1, keys),
        (1, 1, 1, keys),
        (keys,),
        (queries, keys),
        (batch, 1, queries, keys),
        (1, heads, queries, keys),
        (batch, heads, queries, keys),
        (batch, heads, 1, keys),
    )
    if rng.random() < 0.5:
        return None
    mask = torch.rand(rng.choice(shapes)) < rng.choice((0.05, 0.5, 0.95))
    if rng.random() < 0.3 and mask.dim() > 1:
        mask[..., rng.randrange(mask.shape[-2]), :] = False  # a query that sees nothing
    if rng.random() < 0.2:
        return mask.expand(batch, heads, queries, keys)
    return mask


def joined(first: Tensor | None, second: Tensor | None) -> Tensor | None:
    """Join two masks."""
    if first is None or second is None:
        return second if first is None else first
    return first & second


# ---- memory layouts ----

LAYOUTS = ("plain", "plain", "transposed", "strided", "shifted", "shared")


def draw_tensor(rng: Random, shape: tuple[int, ...]) -> tuple[Tensor, str]:
    """Draw a base tensor in float64, and the name of the view of it that has the shape."""
    kind = rng.choice(LAYOUTS)
    *many, tokens, width = shape
    base = {
        "transposed": (*many[:-1], tokens, many[-1], width),
        "strided": (*many, tokens, 2 * width),
        "shifted": (*many, tokens, width + 1),
        "shared": (1, *shape[1:]),
    }.get(kind, shape)
    return torch.randn(base), kind


def view(base: Tensor, kind: str, batch: int) -> Tensor:
    """View a base tensor in the way that `draw_tensor` named."""
    if kind == "transposed":
        return base.transpose(-2, -3)
    if kind == "strided":
        return base[..., ::2]
    if kind == "shifted":
        return base[..., 1:]
    return base.expand(batch, *base.shape[1:]) if kind == "shared" else base
