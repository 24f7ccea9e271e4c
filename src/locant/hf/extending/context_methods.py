r"""Ways to extend a pretrained model's context without training, each as an entry of its config.

s is the factor, L0 the trained length, d the rotated width, θ_c the frequency of pair c.

    rotary models
    none          as it is
    linear        θ_c/s (position interpolation)                    Chen et al. 2023, 2306.15595
    ntk           base → base·s^(d/(d−2))
    dynamic-ntk   the same with L/L0 for s, L the length in use
    yarn          fast pairs kept, slow pairs interpolated, scores scaled
                                                                    Peng et al. 2023, 2309.00071
    searched      one factor a pair, found on other documents       after LongRoPE, 2402.13753
    dropped       no rotation at all                                after DroPE, 2512.12167

    models with a table of positions (BERT, GPT-2)
    interpolated  s·L0 vectors on the straight lines between the L0 trained ones
    repeated      the table again and again

A rotary method is applied as transformers itself would read it from config.json.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from locant.hf.swapping.position_sources import find_rotary, find_tables

if TYPE_CHECKING:
    from transformers import PreTrainedModel

NONE, SEARCHED, DROPPED = "none", "searched", "dropped"
NO_ROTATION = 1e30  # a factor that stops every pair


@dataclass(frozen=True)
class Method:
    """A way to extend the context.

    entry         what config.json says instead; empty for a model that stays as it is
    by_length     whether the frequencies depend on the length in use, so that a short text must be
                  read again on its own
    same_at_target  the method with the same frequencies at the target length, whose passes serve
    """

    name: str
    entry: dict[str, Any] = field(default_factory=dict)
    by_length: bool = False
    same_at_target: str = ""


@dataclass(frozen=True)
class Context:
    """What a model's positions are: how many were trained, and whether they rotate."""

    kind: str  # "rotary" or "table"
    trained: int


def context_of(model: PreTrainedModel, trained: int | None = None) -> Context:
    """Find what can be extended in a model; a ValueError says why nothing can."""
    config, name = model.config, type(model).__name__
    length = trained or getattr(config, "max_position_embeddings", None)
    tables = find_tables(model)
    if tables:
        rows = len(tables[0][2].weight) - first_row(tables[0][2])
        if trained not in (None, rows):
            raise ValueError(
                f"{name} has a table of {rows:,} positions, so its trained length is not "
                f"{trained:,}: leave it out."
            )
        return Context("table", rows)
    rope = getattr(config, "rope_parameters", None)
    if not find_rotary(model) or not rope:
        raise ValueError(
            f"{name} has no positions that could be extended here: neither rotary ones that come "
            "from rope_parameters, nor a plain table as in BERT and GPT-2.\n"
            "  ALiBi and T5's buckets have a value at every distance already; tables with an "
            "offset (OPT, BART) and other rotations (GPT-J) are not extended yet."
        )
    if "rope_theta" not in rope:
        raise ValueError(
            f"{name} has rotary encodings of several kinds ({', '.join(rope)}), which extend does "
            "not compare yet."
        )
    if rope.get("rope_type", "default") != "default":
        raise ValueError(
            f"{name} is extended already: its rope_type is {rope['rope_type']!r}.\n"
            "  Give a checkpoint whose config has the rope_type default."
        )
    if not isinstance(length, int) or length < 2:
        raise ValueError(f"the config of {name} does not say how many positions were trained.")
    return Context("rotary", length)


def methods_for(model: PreTrainedModel, context: Context, factor: float) -> list[Method]:
    """List the methods that need no search."""
    target = round(factor * context.trained)
    if context.kind == "table":
        longer = {"max_position_embeddings": target + first_row(find_tables(model)[0][2])}
        return [Method(NONE), Method("interpolated", longer), Method("repeated", longer)]
    longer = {"max_position_embeddings": target}
    rope = dict(model.config.rope_parameters)
    base, width = rope["rope_theta"], rotated_width(model)
    original = {"original_max_position_embeddings": context.trained}
    methods = [Method(NONE), _method("linear", longer, rope, rope_type="linear", factor=factor)]
    if width > 2:
        stretched = base * factor ** (width / (width - 2))
        methods.append(_method("ntk", longer, rope, rope_theta=stretched))
        dynamic = _method("dynamic-ntk", {}, rope, rope_type="dynamic", factor=1.0)
        methods.append(replace(dynamic, by_length=True, same_at_target="ntk"))
    yarn: dict[str, Any] = {"rope_type": "yarn", "factor": factor, **original}
    methods.append(_method("yarn", longer, rope, **yarn))
    methods.append(_method(DROPPED, longer, rope, rope_type="linear", factor=NO_ROTATION))
    return methods


def searched_method(
    model: PreTrainedModel, context: Context, factor: float, factors: list[float], scale: float
) -> Method:
    """Make the method with one factor for each pair; texts up to the trained length keep theirs."""
    longer = {"max_position_embeddings": round(factor * context.trained)}
    settings = {
        "rope_type": "longrope",
        "factor": factor,
        "original_max_position_embeddings": context.trained,
        "attention_factor": scale,
        "short_factor": [1.0] * len(factors),
        "long_factor": [round(one, 4) for one in factors],
    }
    rope = dict(model.config.rope_parameters)
    return replace(_method(SEARCHED, longer, rope, **settings), by_length=True)


def rotated_width(model: PreTrainedModel) -> int:
    """Count the dimensions of a head that rotate."""
    frequencies = find_rotary(model)[0][2].inv_freq
    assert isinstance(frequencies, Tensor)
    return 2 * frequencies.shape[-1]


@contextmanager
def applied(model: PreTrainedModel, method: Method) -> Iterator[None]:
    """Let a model read texts by a method, inside a with block; afterwards it is as it was."""
    if not method.entry:
        yield
        return
    undo: list[tuple[Any, str, Any]] = []

    def put(owner: Any, name: str, value: Any) -> None:
        undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    try:
        if "rope_parameters" in method.entry:
            put(model.config, "rope_parameters", dict(method.entry["rope_parameters"]))
            for owner, name, own in find_rotary(model):
                put(owner, name, type(own)(model.config))
        else:
            for owner, name, table in find_tables(model):
                longer = longer_table(table, method)
                put(owner, name, longer)
                _lengthen(put, owner, len(longer.weight))
        yield
    finally:
        for owner, name, value in reversed(undo):
            setattr(owner, name, value)


def longer_table(table: nn.Embedding, method: Method) -> nn.Embedding:
    """Make the longer table of a method; rows before the first position stay as they are."""
    first = first_row(table)
    own, target = table.weight[first:].detach(), method.entry["max_position_embeddings"] - first
    if method.name == "repeated":
        rows = own[torch.arange(target, device=own.device) % len(own)]
    else:
        rows = interpolate(own, target)
    weight = torch.cat([table.weight[:first].detach(), rows])
    return nn.Embedding.from_pretrained(weight, padding_idx=table.padding_idx)


def longer_tables(
    model: PreTrainedModel, methods: list[Method]
) -> dict[str, dict[str, NDArray[np.float32]]]:
    """Return the tables that a model needs for each method, by the names of its weights."""
    found: dict[str, dict[str, NDArray[np.float32]]] = {}
    for method in methods:
        for _, _, table in find_tables(model) if method.entry else ():
            name = next(name for name, own in model.named_parameters() if own is table.weight)
            weight = longer_table(table, method).weight.detach().float().numpy()
            found.setdefault(method.name, {})[name] = weight
    return found


def interpolate(table: Tensor, count: int) -> Tensor:
    """Read a table (L,D) at `count` evenly spaced points from its first to its last row.

    >>> interpolate(torch.tensor([[0.0], [2.0]]), 3).flatten().tolist()
    [0.0, 1.0, 2.0]
    """
    points = torch.linspace(0, len(table) - 1, count, dtype=torch.float64, device=table.device)
    below = points.floor().long().clamp_max(len(table) - 2)
    share = (points - below)[:, None].to(table.dtype)
    return table[below] * (1 - share) + table[below + 1] * share


def first_row(table: nn.Embedding) -> int:
    """Tell which row position 0 is: RoBERTa and its kin begin after the padding index."""
    return 0 if table.padding_idx is None else table.padding_idx + 1


def _lengthen(put: Any, owner: Any, length: int) -> None:
    """Lengthen the buffers from which BERT and its kin count positions."""
    for name in ("position_ids", "token_type_ids"):
        own = getattr(owner, name, None)
        if isinstance(own, Tensor):
            longer = own.new_zeros(1, length)
            put(owner, name, longer + torch.arange(length) if name == "position_ids" else longer)


def _method(name: str, entry: dict[str, Any], rope: dict[str, Any], **settings: Any) -> Method:
    return Method(name, {**entry, "rope_parameters": {**rope, **settings}})
