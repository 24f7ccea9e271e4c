"""Every encoding's formula and plain dense attention, written anew in float64 from the papers.

Nothing here calls locant: an encoding is its name, its options and its tables. Positions are
float64, (R,T) or (R,T,axes) with R rows, 1 or the batch. Gradients come from autograd alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import gelu, linear, softplus

Tables = dict[str, Tensor]


@dataclass
class Formula:
    """Describe an encoding by plain values."""

    name: str
    dim: int
    heads: int
    length: int
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def axes(self) -> int:
        return self.options.get("axes", 1)


class Attended(NamedTuple):
    """Output and weights of attention, and the size of the scores that matter in it."""

    out: Tensor
    weights: Tensor
    size: float


def under(tables: Tables, prefix: str) -> Tables:
    """Select the tables whose names start with a prefix, without it."""
    return {name[len(prefix) :]: one for name, one in tables.items() if name.startswith(prefix)}


# ---- what is added to the input ----


def embed(formula: Formula, tables: Tables, x: Tensor, pos: Tensor) -> Tensor:
    """Compute what an encoding makes of the input x (B,T,D)."""
    name, options = formula.name, formula.options
    if name == "sinusoidal":
        waves = sinusoids(formula, pos).expand(x.shape)
        return torch.cat([x, waves], -1) if options.get("join") == "concat" else x + waves
    if name == "learned":
        return x + tables["table"][pos.long()]
    if name == "hybrid":
        waves = chord(pos, formula.dim, options.get("base", 1e4), "interleaved")
        return x + waves + tables["alpha"] * tables["table"][pos.long()]
    if name == "continuous":
        return x + network(tables, (pos / formula.length)[..., None], torch.relu)
    if name == "fourier":
        return x + fourier(formula, tables, pos)
    return x


def chord(pos: Tensor, dim: int, base: float, layout: str) -> Tensor:
    """Write sines and cosines of one axis (R,T), column by column: (R,T,dim)."""
    half = (dim + 1) // 2
    columns: dict[int, Tensor] = {}
    for c in range(half):
        angle = pos * base ** (-2 * c / dim)
        a, b = (2 * c, 2 * c + 1) if layout == "interleaved" else (c, c + half)
        columns[a], columns[b] = angle.sin(), angle.cos()
    return torch.stack([columns[c] for c in range(dim)], -1)


def sinusoids(formula: Formula, pos: Tensor) -> Tensor:
    """Write the waves of all axes side by side: (R,T,D)."""
    base, layout = formula.options.get("base", 1e4), formula.options.get("layout", "interleaved")
    if formula.axes == 1:
        return chord(pos, formula.dim, base, layout)
    share = 2 * math.ceil(formula.dim / (2 * formula.axes))
    parts = [chord(pos[..., axis], share, base, layout) for axis in range(formula.axes)]
    return torch.cat(parts, -1)[..., : formula.dim]


def fourier(formula: Formula, tables: Tables, pos: Tensor) -> Tensor:
    """Compute learned waves and the network that mixes them: (R,T,D)."""
    pos = pos[..., None] if formula.axes == 1 else pos
    angle = (pos[..., :, None] * tables["frequency"]).sum(-2)
    waves = torch.cat([angle.cos(), angle.sin()], -1) / math.sqrt(formula.dim)
    return network(tables, waves, gelu)


def network(tables: Tables, x: Tensor, act: Any) -> Tensor:
    """Apply linear layers with an activation between them."""
    layers = sorted({int(name.split(".")[1]) for name in tables if name.startswith("mlp.")})
    for index in layers:
        x = linear(x, tables[f"mlp.{index}.weight"], tables[f"mlp.{index}.bias"])
        x = act(x) if index != layers[-1] else x
    return x


# ---- what turns queries and keys ----


def turn(formula: Formula, tables: Tables, x: Tensor, pos: Tensor, used: float, of: str) -> Tensor:
    """Turn queries or keys x (B,H,T,d) by their positions."""
    if formula.name == "rotary":
        return rotary(formula, x, pos, used)
    if formula.name == "pope":
        return polar(formula, tables, x, pos, of)
    return x


def rotary(formula: Formula, x: Tensor, pos: Tensor, used: float) -> Tensor:
    """Turn pair by pair; dimensions past the width stay."""
    options, axes = formula.options, formula.axes
    width = options.get("width") or x.shape[-1]
    theta, scale = stretched(options, width // axes, used)
    columns = list(x.unbind(-1))
    for pair in range(width // 2):
        axis, c = divmod(pair, width // (2 * axes))
        at = pos if axes == 1 else pos[..., axis]
        angle = at[:, None, :] * theta[c]  # (R, 1, T)
        halves = options.get("pairing", "half") == "half"
        a, b = (pair, pair + width // 2) if halves else (2 * pair, 2 * pair + 1)
        first, second, cosine, sine = x[..., a], x[..., b], angle.cos() * scale, angle.sin() * scale
        columns[a], columns[b] = first * cosine - second * sine, second * cosine + first * sine
    return torch.stack(columns, -1)


def stretched(options: dict[str, Any], width: int, used: float) -> tuple[list[float], float]:
    """Compute the frequency of every pair of one axis, and the factor of turned vectors."""
    base, scaling = options.get("base", 1e4), options.get("scaling")
    theta = [base ** (-2 * c / width) for c in range(width // 2)]
    if scaling is None:
        return theta, 1.0
    kind, factor, first = scaling["type"], scaling["factor"], scaling.get("original_length", 0)
    if kind == "linear":
        return [one / factor for one in theta], 1.0
    if kind in ("ntk", "dynamic-ntk"):
        grown = factor if kind == "ntk" else factor * max(used, first) / first - (factor - 1)
        larger = base * grown ** (width / (width - 2))
        return [larger ** (-2 * c / width) for c in range(width // 2)], 1.0
    if kind == "longrope":
        divisors = scaling["long"] if used > first else scaling["short"]
        scale = math.sqrt(1 + math.log(factor) / math.log(first)) if factor > 1 else 1.0
        return [one / by for one, by in zip(theta, divisors, strict=True)], scale
    if kind == "llama3":
        kept = [ramp(first * one / (2 * math.pi), 1.0, 4.0) for one in theta]
        return blended(theta, kept, factor), 1.0
    low, high = (math.log(first / (2 * math.pi * turns)) / math.log(base) for turns in (32, 1))
    low, high = max(math.floor(width * low / 2), 0), min(math.ceil(width * high / 2), width - 1)
    kept = [1 - ramp(c, low, high if high != low else low + 0.001) for c in range(width // 2)]
    return blended(theta, kept, factor), 0.1 * math.log(factor) + 1 if factor > 1 else 1.0


def ramp(value: float, low: float, high: float) -> float:
    """Rise from 0 at low to 1 at high."""
    return min(max((value - low) / (high - low), 0.0), 1.0)


def blended(theta: list[float], kept: list[float], factor: float) -> list[float]:
    """Blend frequencies with squeezed ones."""
    return [one * keep + one / factor * (1 - keep) for one, keep in zip(theta, kept, strict=True)]


def polar(formula: Formula, tables: Tables, x: Tensor, pos: Tensor, of: str) -> Tensor:
    """Write sizes times cosines and sines, so that cos(a − b) = cos a·cos b + sin a·sin b."""
    width = x.shape[-1]
    base = formula.options.get("base", 1e4)
    theta = torch.tensor([base ** (-c / width) for c in range(width)], dtype=x.dtype)
    angle = pos[:, None, :, None] * theta  # (R, 1, T, d)
    if of == "queries":
        angle = angle - tables["delta"].clamp(-2 * math.pi, 0.0)[None, :, None, :]
    size = softplus(x)
    return torch.cat([size * angle.cos(), size * angle.sin()], -1)


# ---- what is added to the scores ----


def bias(formula: Formula, tables: Tables, q_pos: Tensor, k_pos: Tensor) -> Tensor | None:
    """Compute what an encoding adds to scaled scores: (R,H,Q,K)."""
    delta = (q_pos[:, :, None] - k_pos[:, None, :])[:, None] if formula.axes == 1 else None
    if formula.name == "alibi":
        return alibi(formula, delta)
    if formula.name == "t5":
        return tables["table"][t5_buckets(formula.options, delta)].squeeze(1).movedim(-1, 1)
    if formula.name == "relative":
        far = formula.options["max_distance"]
        return tables["table"][delta.clamp(-far, far).long() + far].squeeze(1).movedim(-1, 1)
    if formula.name == "given":
        return -tables["slope"].exp()[:, None, None] * delta.abs() / 64
    if formula.name == "window":
        reach, blind = formula.options["reach"], formula.options["blind"]
        near = (delta >= 0) & (delta <= reach) & (q_pos[:, None, :, None] % blind != 0)
        return (tables["height"][:, None, None] * delta / 8).masked_fill(~near, -math.inf)
    return None


def alibi(formula: Formula, delta: Tensor) -> Tensor:
    """Charge every step of distance, behind and ahead."""
    price = torch.tensor(alibi_slopes(formula.heads), dtype=delta.dtype)[:, None, None]
    sides = formula.options.get("sides", "symmetric")
    if sides == "symmetric":
        return -price * delta.abs()  # whose derivative at 0 is 0
    ahead = price.flip(0) if sides == "two-sided" else -price
    return torch.where(delta >= 0, -price * delta, ahead * delta)


def alibi_slopes(heads: int) -> list[float]:
    """Compute the slopes as the paper's own code does, by recursion."""
    if math.log2(heads).is_integer():
        return [2.0 ** (-8.0 * (h + 1) / heads) for h in range(heads)]
    below = 2 ** math.floor(math.log2(heads))
    return alibi_slopes(below) + alibi_slopes(2 * below)[0::2][: heads - below]


def t5_buckets(options: dict[str, Any], delta: Tensor) -> Tensor:
    """Compute the bucket of every distance m − n by comparing whole numbers exactly."""
    count, far = options.get("buckets", 32), options.get("max_distance", 128)
    both = options.get("sides", "both") == "both"
    side = count // 2 if both else count
    exact, rest = side // 2, side - side // 2
    by_distance = list(range(exact))
    for distance in range(exact, far + 1):  # log(distance/exact)/log(far/exact)·rest ≥ step
        steps = range(1, rest)
        passed = (distance**rest * exact**s >= far**s * exact**rest for s in steps)
        by_distance.append(exact + sum(passed))
    table = torch.tensor(by_distance)
    behind = (delta.abs() if both else delta.clamp_min(0)).clamp_max(far).long()
    return table[behind] + (side * (delta < 0) if both else 0)


# ---- attention ----
