"""Random calls of `attend`: encodings, shapes, masks, memory layouts, backends, leaves of every
kind."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import torch
from dense import attention
from draws import (
    AXES,
    SCORES,
    build,
    draw_formula,
    draw_groups,
    draw_length,
    draw_mask,
    draw_tensor,
    fit,
    grows,
    joined,
    view,
)
from draws import WIDTHS as HEAD_WIDTHS
from formulas import Attended, Formula
from judging import (
    Checked,
    How,
    Outcome,
    Refused,
    Sides,
    Tensors,
    describe,
    draw_how,
    judge,
    module_sides,
)
from positions_drawn import Places, draw_places, rows
from torch import Tensor, nn

import locant

BACKENDS = ("auto", "auto", "auto", "reference", "fused", "blocked", "tiled", "tiled")
NO_SECOND = "is not implemented"  # what torch's fused kernel says of its second derivative


def learnt_positions(rng: Random, places: Places, formulas: list[Formula], how: How) -> bool:
    """Decide whether positions are leaves."""
    fixed = any(grows(one) for one in formulas)
    return bool(how.order) and places.given.is_floating_point() and not fixed and rng.random() < 0.5


def prepared(encoding: nn.Module, how: How, rng: Random) -> nn.Module:
    """Cast an encoding or a model to the precision of its case."""
    if how.dtype == torch.bfloat16:
        return encoding.to(torch.bfloat16) if rng.random() < 0.5 else encoding
    return encoding.to(how.dtype)


def give_slopes(encoding: nn.Module, formula: Formula, own: Tensor) -> None:
    """Give an encoding slopes that are the output of something else."""
    if formula.name == "given":
        encoding.slope = hyper(own)


def hyper(raw: Tensor) -> Tensor:
    """Stand for a hypernetwork."""
    return torch.tanh(raw) * 2 - 1


def attack_attend(rng: Random) -> Outcome:
    """Compare `attend` by every backend with dense attention."""
    keys = draw_length(rng)
    queries = rng.choice((keys, keys, draw_length(rng), rng.randint(1, 16), 1))
    name = rng.choice(SCORES)
    batch, heads = fit(rng, queries, keys)
    axes = 2 if name in AXES and rng.random() < 0.15 else 1
    width = draw_width(rng, name, axes)
    formula = draw_formula(rng, name, heads * width, heads, 512, axes)
    groups, how = draw_groups(rng, heads), draw_how(rng, queries * keys)
    encoding = prepared(build(formula), how, rng)
    k_places = draw_places(rng, name, axes, batch, keys)
    q_places = draw_queries(rng, k_places, formula, batch, queries, how)
    mask = joined(draw_mask(rng, batch, heads, queries, keys), places_mask(k_places, queries))
    wide = width if name == "shaw" or rng.random() < 0.85 else rng.choice(HEAD_WIDTHS)
    shapes = {"q": (batch, heads, queries, width), "k": (batch, groups, keys, width)}
    drawn = {key: draw_tensor(rng, shape) for key, shape in shapes.items()}
    drawn["v"] = draw_tensor(rng, (batch, groups, keys, wide))
    more = {key: base.to(how.dtype) for key, (base, _) in drawn.items()}
    more["q"] *= rng.choice((1, 1, 1, 8))
    if name == "given":
        more["hyper"] = torch.randn(heads, dtype=how.dtype)
    learns = [learnt_positions(rng, one, [formula], how) for one in (q_places, k_places)]
    for key, one, learnt in zip(("q_pos", "k_pos"), (q_places, k_places), learns, strict=True):
        if learnt:
            more[key] = one.given.clone()
    sides = module_sides(encoding, more, how)
    causal, backend = rng.random() < 0.5, rng.choice(BACKENDS)
    scale = rng.choice((None, None, 1.0, 0.3))
    described = describe(
        formula=formula,
        how=how,
        backend=backend,
        batch=batch,
        groups=groups,
        lengths=(queries, keys),
        value_width=wide,
        positions=(q_places.kind, k_places.kind),
        learnt_positions=learns,
        mask=None if mask is None else tuple(mask.shape),
        causal=causal,
        scale=scale,
        layouts=[kind for _, kind in drawn.values()],
    )
    options: dict[str, Any] = {"causal": causal, "mask": mask, "scale": scale}

    def own_side() -> Tensors:
        if name == "given":
            give_slopes(encoding, formula, sides.own["hyper"])
        tensors = [view(sides.own[key], drawn[key][1], batch) for key in "qkv"]
        q_pos = sides.own.get("q_pos", q_places.given)
        k_pos = sides.own.get("k_pos", k_places.given)
        where = {"encoding": encoding, "q_pos": q_pos, "k_pos": k_pos, **options}
        if backend == "explicit":
            seen = locant.attention.explicit(*tensors, **where)
            return {"out": seen.out, "weights": seen.weights}
        return {"out": locant.attend(*tensors, **where, backend=backend)}

    def twin_side() -> Attended:
        tables = dict(sides.twin)
        if name == "given":
            tables["slope"] = hyper(sides.twin["hyper"])
        q, k, v = (view(sides.twin[key], drawn[key][1], batch) for key in "qkv")
        q_pos = rows(sides.twin["q_pos"], axes) if "q_pos" in sides.twin else q_places.known
        k_pos = rows(sides.twin["k_pos"], axes) if "k_pos" in sides.twin else k_places.known
        return attention(formula, tables, (q, k, v), q_pos, k_pos, **options)

    rough = name == "alibi" and k_places.given.is_floating_point()
    rough = rough or (name == "alibi" and q_places.given.is_floating_point())
    return Outcome(described, meet(own_side, twin_side, how, sides, rough=rough))


def draw_width(rng: Random, name: str, axes: int) -> int:
    """Draw the width of a head that an encoding can take."""
    widths = [one for one in HEAD_WIDTHS if name != "rotary" or one >= 2 * axes]
    return rng.choice(widths)


def draw_queries(
    rng: Random,
    keys: Places,
    formula: Formula,
    batch: int,
    queries: int,
    how: How,
) -> Places:
    """Draw the positions of queries: those of the last keys, or others."""
    tokens = keys.given.shape[-1 if formula.axes == 1 else -2]
    if queries == tokens and rng.random() < 0.7:
        return keys
    axis = -1 if formula.axes == 1 else -2
    if queries <= tokens and rng.random() < 0.7:
        last = (one.narrow(axis, tokens - queries, queries) for one in keys[:2])
        return Places(*last, None, f"last of {keys.kind}")
    if formula.name == "given" and how.dtype != torch.float64:
        # far from all keys its slope's gradient is a small difference of large sums
        order = torch.arange(queries) % tokens
        among = (one.index_select(axis, order) for one in keys[:2])
        return Places(*among, None, f"among {keys.kind}")
    return draw_places(rng, formula.name, formula.axes, batch, queries)._replace(mask=None)


def places_mask(places: Places, queries: int) -> Tensor | None:
    """Give the mask of padded or packed keys, if it fits the queries."""
    mask = places.mask
    if mask is None or mask.shape[-2] == 1 or queries == mask.shape[-2]:
        return mask
    return mask[-queries:] if queries < mask.shape[-2] else None


def meet(
    own_side: Callable[[], Tensors],
    twin_side: Callable[[], Attended],
    how: How,
    sides: Sides,
    *,
    rough: bool,
) -> list[Checked]:
    """Compute both sides of a case and compare them."""
    with how.grad():
        try:
            with how.context():
                own = own_side()
        except ValueError as problem:
            if "cannot serve" in str(problem):
                raise Refused from None
            raise
        try:
            return judge(how, own, twin_side, sides, rough=rough)
        except RuntimeError as problem:
            if how.order == 2 and NO_SECOND in str(problem):
                raise Refused from None
            raise
