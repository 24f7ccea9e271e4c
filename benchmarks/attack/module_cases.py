"""Random layers, models and decoding with a cache."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import torch
from attend_cases import draw_width, give_slopes, hyper, learnt_positions, meet
from dense import Stack, self_attention, transformer
from draws import (
    AXES,
    INPUT,
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
from formulas import Attended, Formula
from judging import How, Outcome, Tensors, describe, draw_how, module_sides
from positions_drawn import Places, draw_places, rows
from torch import Tensor, nn

import locant

LEAST_DIM = 8  # of a model: a layer norm of two numbers loses all digits where they are equal


class Layered(NamedTuple):
    """Describe the input of a layer or a model."""

    formulas: list[Formula]
    encodings: list[nn.Module]
    places: Places
    mask: Tensor | None
    how: How
    batch: int
    length: int


def draw_layered(rng: Random, count: int, most: int, *, growing: bool = True) -> Layered:
    """Draw encodings of one shape with positions that all of them take, a mask and a precision."""
    length = min(draw_length(rng), most)
    names = [rng.choice((*INPUT, *SCORES)) for _ in range(count)]
    batch, heads = fit(rng, length, length)
    axes = 2 if all(name in AXES for name in names) and rng.random() < 0.15 else 1
    width = draw_width(rng, "rotary" if "rotary" in names else "", axes)
    width = max(width, -(-LEAST_DIM // heads) // 2 * 2 + 2) if heads * width < LEAST_DIM else width
    places = draw_places(rng, most_demanding(names), axes, batch, length)
    size = max(512, int(places.known.max()) + 1)
    formulas = [draw_formula(rng, name, heads * width, heads, size, axes) for name in names]
    for formula in formulas:
        if not growing and grows(formula):
            formula.options["scaling"] = None
    how = draw_how(rng, length * length)
    encodings = [build(formula) for formula in formulas]
    mask = joined(draw_mask(rng, batch, heads, length, length), places.mask)
    return Layered(formulas, encodings, places, mask, how, batch, length)


def most_demanding(names: list[str]) -> str:
    """Choose the encoding whose positions all others take too."""
    order = ("learned", "hybrid", "t5", "relative", "shaw", "window")
    return next((name for name in order if name in names), names[0])


class Model(NamedTuple):
    """A layer or a model of the library, and the function that computes the same."""

    module: nn.Module
    formula: Callable[..., Attended]
    where: str  # the prefix of its encodings' tables
    told: str


def make_layer(rng: Random, drawn: Layered) -> Model:
    """Make a layer of self-attention."""
    formula = drawn.formulas[0]
    groups, biased = draw_groups(rng, formula.heads), rng.random() < 0.7
    module = locant.Attention(drawn.encodings[0], kv_heads=groups, projection_bias=biased)

    def compute(tables: Tensors, x: Tensor, pos: Tensor, **how: Any) -> Attended:
        return self_attention(formula, tables, x, pos, **how)

    return Model(module, compute, "encoding.", f"Attention(kv_heads={groups}, bias={biased})")


def make_model(rng: Random, drawn: Layered, *, causal: bool) -> Model:
    """Make a transformer: one encoding for all layers, or a list."""
    count = len(drawn.encodings)
    shared = count == 1
    encoding = drawn.encodings[0] if shared else drawn.encodings
    if shared and rng.random() < 0.3:
        encoding, shared = [drawn.encodings[0]] * 2, False  # one object in two layers
    uses = [0] * rng.choice((1, 2)) if shared else [0, 0] if count == 1 else list(range(count))
    stack = Stack(drawn.formulas, uses, not shared, rng.choice(("pre", "pre", "post")), "gelu")
    if drawn.how.precision == torch.float64:  # else rounding decides which side of its corner
        stack.activation = rng.choice(("gelu", "relu"))
    groups = draw_groups(rng, drawn.formulas[0].heads)
    module = locant.Transformer(
        encoding,
        len(uses),
        causal=causal,
        norm=stack.norm,
        activation=stack.activation,
        kv_heads=groups,
        ffn=rng.choice((None, 5)),
        projection_bias=rng.random() < 0.7,
    )

    def compute(tables: Tensors, x: Tensor, pos: Tensor, **how: Any) -> Attended:
        return transformer(stack, tables, x, pos, **how)

    kinds = f"{stack.norm}, {stack.activation}, kv_heads={groups}"
    told = f"Transformer({uses}, per_layer={not shared}, {kinds})"
    return Model(module, compute, "encodings.{}.", told)


def attack_layer(rng: Random) -> Outcome:
    """Compare a layer of self-attention."""
    drawn = draw_layered(rng, 1, 1100)
    return attack_module(rng, drawn, make_layer(rng, drawn), causal=rng.random() < 0.5)


def attack_model(rng: Random) -> Outcome:
    """Compare a transformer."""
    drawn, causal = draw_layered(rng, rng.choice((1, 1, 2)), 700), rng.random() < 0.5
    return attack_module(rng, drawn, make_model(rng, drawn, causal=causal), causal=causal)


def attack_cached(rng: Random) -> Outcome:
    """Compare steps with a cache, in random chunks, with a full causal pass."""
    layer = rng.random() < 0.5
    count = 1 if layer else rng.choice((1, 1, 2))
    drawn = draw_layered(rng, count, 1100, growing=False)
    model = make_layer(rng, drawn) if layer else make_model(rng, drawn, causal=True)
    return attack_module(rng, drawn, model, causal=True, chunks=draw_chunks(rng, drawn.length))


def draw_chunks(rng: Random, length: int) -> list[int]:
    """Cut a length into chunks: a long start and single tokens, or any."""
    chunks: list[int] = [rng.randint(1, length)]
    most = rng.choice((1, 1, 5, length))
    while sum(chunks) < length:
        left = length - sum(chunks)
        chunks.append(left if len(chunks) > 40 else rng.randint(1, min(most, left)))
    return chunks


def attack_module(
    rng: Random, drawn: Layered, model: Model, *, causal: bool, chunks: list[int] | None = None
) -> Outcome:
    """Compare a module in one pass, or in chunks, with the formulas."""
    formulas, how, places, axes = drawn.formulas, drawn.how, drawn.places, drawn.formulas[0].axes
    module = model.module.to(how.dtype)
    base, layout = draw_tensor(rng, (drawn.batch, drawn.length, formulas[0].dim))
    more = {"x": base.to(how.dtype)}
    for index, formula in enumerate(formulas):
        if formula.name == "given":
            more[f"hyper.{index}"] = torch.randn(formula.heads, dtype=how.dtype)
    if learnt := learnt_positions(rng, places, formulas, how):
        more["pos"] = places.given.clone()
    sides = module_sides(module, more, how)
    looks = chunks is None and rng.random() < 0.2 and isinstance(module, locant.Attention)
    branches = rng.random() < 0.3
    described = describe(
        model=model.told,
        formulas=formulas,
        how=how,
        batch=drawn.batch,
        length=drawn.length,
        positions=places.kind,
        learnt_positions=learnt,
        mask=None if drawn.mask is None else tuple(drawn.mask.shape),
        causal=causal,
        layout=layout,
        looks=looks,
        chunks=chunks,
        branches=branches,
    )

    def own_side() -> Tensors:
        for index, formula in enumerate(formulas):
            if formula.name == "given":
                give_slopes(drawn.encodings[index], formula, sides.own[f"hyper.{index}"])
        x = view(sides.own["x"], layout, drawn.batch)
        pos = sides.own.get("pos", places.given)
        if chunks is not None:
            out = in_chunks(module, x, pos, drawn.mask, chunks, axes=axes, branches=branches)
            return {"out": out}
        told = {"causal": causal} if isinstance(module, locant.Attention) else {}
        if looks:
            out, weights = module.forward_with_weights(x, pos, mask=drawn.mask, **told)
            return {"out": out, "weights": weights}
        return {"out": module(x, pos, mask=drawn.mask, **told)}

    def twin_side() -> Attended:
        tables = dict(sides.twin)
        for index, formula in enumerate(formulas):
            if formula.name == "given":
                name = f"{model.where.format(index)}slope"
                tables[name] = hyper(sides.twin[f"hyper.{index}"])
        x = view(sides.twin["x"], layout, drawn.batch)
        pos = rows(sides.twin["pos"], axes) if learnt else places.known
        return model.formula(tables, x, pos, causal=causal, mask=drawn.mask)

    rough = places.given.is_floating_point() and any(one.name == "alibi" for one in formulas)
    return Outcome(described, meet(own_side, twin_side, how, sides, rough=rough))


def in_chunks(
    module: nn.Module,
    x: Tensor,
    pos: Tensor,
    mask: Tensor | None,
    chunks: list[int],
    *,
    axes: int,
    branches: bool,
) -> Tensor:
    """Go through a sequence step by step; with branches, each cache is continued elsewhere too."""
    outs, cache, first = [], None, 0
    for size in chunks:
        last = first + size
        at = pos.narrow(-1 if axes == 1 else -2, first, size)
        seen = None if mask is None else mask[..., :last]
        if seen is not None and seen.dim() > 1 and seen.shape[-2] > 1:
            seen = seen[..., first:last, :]
        if branches:
            module.step(x[:, first:last] + 1, at, cache, mask=seen)
        before = cache
        out, cache = module.step(x[:, first:last], at, before, mask=seen)
        if branches:
            module.step(x[:, first:last] - 1, at, before, mask=seen)
        outs.append(out)
        first = last
    return torch.cat(outs, 1)
