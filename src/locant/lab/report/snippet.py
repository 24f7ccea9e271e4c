"""Write the Python that builds a model of a study again: pasted as it is, it runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from locant.encodings.registry import describe
from locant.lab.store.record import EntrantRecord, StudyRecord
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study import RowConfig
from locant.lab.training.config import ModelConfig

WIDTH = 76  # columns; four are left for an indent
DEFAULTS = {
    "norm": "pre",
    "activation": "gelu",
    "projection_bias": True,
    "dropout": 0.0,
    "dropout_from": "fresh",
}


def snippet(record: StudyRecord, name: str) -> list[str]:
    """Write the model of an entrant with a dummy input.

    Returns nothing where a record of an earlier version lacks the facts that it takes.
    """
    facts, model = record.facts, record.settings.model
    sizes_of_task = (facts.length, facts.max_length, facts.symbols, facts.features, facts.outputs)
    if None in (*sizes_of_task, facts.pool, facts.causal):
        return []
    listed = {entrant.name: entrant for entrant in record.settings.encodings}
    config = listed.get(name, RowConfig(name=name))
    sizes = {"dim": model.dim, "heads": model.heads, "length": facts.max_length}
    scaled = config.match_scale and _may_add(config.encoding)
    lines = ["import locant", "import torch"]
    lines += ["from locant.lab.training.build import matched"] * scaled
    lines += ["from torch import nn", ""]
    made = [literal(config.encoding), *_keywords({**sizes, **config.options})]
    lines += call("encoding = locant.make", made)
    if scaled:
        lines += [
            f"encoding = matched(encoding, {facts.length})  # adds vectors of the size of tokens"
        ]
    entrant = next((one for one in record.entrants if one.name == name), None)
    rates = _rates(record, entrant, scaled)
    return [*lines, *_model(model, facts), *rates, *_usage(facts, config)]


def _may_add(encoding: str) -> bool:
    """Return whether an encoding acts on the input alone; one whose file is gone may."""
    try:
        return describe(encoding).hooks == ("embed",)
    except ValueError:
        return True


def _model(model: ModelConfig, facts: TaskFacts) -> list[str]:
    """Build the transformer; a pooled task has its output head after the mean over tokens."""
    dim = model.dim
    embed = f"nn.Linear({facts.features}, {dim})"
    if facts.symbols:
        embed = f"nn.Embedding({facts.symbols}, {dim})"
    settings = {
        key: getattr(model, key)
        for key, common in DEFAULTS.items()
        if getattr(model, key) != common
    }
    numbers = {
        "layers": model.layers,
        "ffn": model.ffn,
        "causal": facts.causal,
        **settings,
    }
    arguments = [["encoding"], *_keywords(numbers), [f"embed={embed}"]]
    lines = [*_output_head(model, facts.outputs)]
    if not facts.pool:
        arguments.append(["head=head"])
    lines += call("model = locant.Transformer", arguments)
    if facts.symbols and model.token_size != 1.0:
        lines += [f"nn.init.normal_(model.embed.weight, std={model.token_size})"]
    return lines


def _output_head(model: ModelConfig, outputs: int | None) -> list[str]:
    dim, wide = model.dim, model.head
    if not wide:
        return [f"head = nn.Linear({dim}, {outputs})"]
    layers = [f"nn.LayerNorm({dim})", f"nn.Linear({dim}, {wide})", "nn.GELU()"]
    layers += [f"nn.Dropout({model.dropout})", f"nn.Linear({wide}, {outputs})"]
    return call("head = nn.Sequential", [[layer] for layer in layers])


def _rates(record: StudyRecord, entrant: EntrantRecord | None, scaled: bool) -> list[str]:
    """Write the learning rates as comments; positional parameters may have one of their own."""
    training = record.settings.training
    rate, own = entrant.common if entrant else (1.0, 1.0)
    text = f"It was trained at a learning rate of {training.rate * rate:g}."
    times = training.positional_rate * own
    if entrant and entrant.cost.get("positional_parameters") and (scaled or times != 1):
        over = ", divided by encoding.factor" if scaled else ""
        text += f" The encoding's own parameters had {times:g} times that rate{over}."
    return wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ")


def _usage(facts: TaskFacts, config: RowConfig) -> list[str]:
    """Write a dummy input at its positions, and the shape of the output."""
    length, outputs = facts.length, facts.outputs
    dummy = f"randn(1, {length}, {facts.features})"
    if facts.symbols:
        dummy = f"randint({facts.symbols}, (1, {length}))"
    lines = ["", f"x = torch.{dummy}"]
    if config.positions == "times":
        lines += [f"pos = torch.arange({length}.0)  # times, in usual steps"]
    else:
        lines += [f"pos = locant.positions.consecutive({length})"]
    if facts.pool:
        return [*lines, f"out = head(model(x, pos).mean(1))  # (1, {outputs})"]
    return [*lines, f"out = model(x, pos)  # (1, {length}, {outputs})"]


def call(function: str, arguments: Sequence[list[str]]) -> list[str]:
    """Write a call on one line where it fits, else one argument per line.

    An argument is itself a list of lines.

    >>> call("f", [["1"], ["b=2"]])
    ['f(1, b=2)']
    """
    line = f"{function}({', '.join(part[0] for part in arguments)})"
    if len(line) <= WIDTH and all(len(part) == 1 for part in arguments):
        return [line]
    return [f"{function}(", *_listed(arguments), ")"]


def _keywords(values: Mapping[str, Any]) -> list[list[str]]:
    return [
        _after(f"{key}=", literal(value, WIDTH - len(key) - 6)) for key, value in values.items()
    ]


def literal(value: Any, width: int = WIDTH - 5) -> list[str]:
    """Write a plain value as Python, on one line where it fits, else on several.

    >>> literal({"type": "yarn", "factor": 4.0})
    ['{"type": "yarn", "factor": 4.0}']
    >>> literal("a long path/mine.py", 12)
    ['(', '    "a lon"', '    "g pat"', '    "h/min"', '    "e.py"', ')']
    """
    line = _inline(value)
    if len(line) <= width:
        return [line]
    if isinstance(value, str):
        return [
            "(",
            *(
                f"    {json.dumps(piece, ensure_ascii=False)}"
                for piece in _pieces(value, width - 5)
            ),
            ")",
        ]
    if isinstance(value, dict):
        keys = [f"{_inline(key)}: " for key in value]
        parts = [
            _after(key, literal(one, width - 5 - len(key)))
            for key, one in zip(keys, value.values(), strict=True)
        ]
        return ["{", *_listed(parts), "}"]
    if isinstance(value, list | tuple):
        return ["[", *_listed([literal(one, width - 5) for one in value]), "]"]
    return [line]


def _inline(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{_inline(key)}: {_inline(one)}" for key, one in value.items()) + "}"
        )
    if isinstance(value, list | tuple):
        return f"[{', '.join(_inline(one) for one in value)}]"
    return repr(value)


def _pieces(text: str, width: int) -> list[str]:
    """Cut a text into pieces that fit when quoted."""
    pieces = [""]
    for letter in text:
        if pieces[-1] and len(json.dumps(pieces[-1] + letter, ensure_ascii=False)) > width:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def _after(start: str, lines: list[str]) -> list[str]:
    return [start + lines[0], *lines[1:]]


def _listed(parts: Sequence[list[str]]) -> list[str]:
    """Indent the parts of a call or of a list, each with its comma."""
    return [f"    {line}" for part in parts for line in [*part[:-1], f"{part[-1]},"]]
