"""The lines of Python that build a model of a study again: as pasted they run, and none is too wide. No torch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from locant.encodings.registry import describe
from locant.lab.store.record import RowRecord, StudyRecord
from locant.lab.store.task_facts import TaskFacts

WIDTH = 76  # columns; four are left for an indent
FACTS = ("length", "reach", "symbols", "features", "outputs", "pool", "causal")  # of the task
DEFAULTS = {
    "norm": "pre",
    "activation": "gelu",
    "projection_bias": True,
    "dropout": 0.0,
    "dropout_from": "fresh",
}


def snippet(record: StudyRecord, name: str) -> list[str]:
    """The model of a row, with a dummy input; nothing where the record does not hold what the task is like."""
    facts, model = record.facts, record.study["model"]
    if any(fact not in facts for fact in FACTS):
        return []
    listed = {row["name"]: row for row in record.study["encodings"]}
    config = listed.get(name, {"encoding": "none"})
    sizes = {"dim": model["dim"], "heads": model["heads"], "length": facts["reach"]}
    scaled = config.get("match_scale", True) and _may_add(config["encoding"])
    lines = ["import locant", "import torch"]
    lines += ["from locant.lab.training.build import matched"] * scaled
    lines += ["from torch import nn", ""]
    made = [literal(config["encoding"]), *_keywords({**sizes, **config.get("options", {})})]
    lines += call("encoding = locant.make", made)
    if scaled:
        lines += [
            f"encoding = matched(encoding, {facts['length']})  # adds vectors of the size of tokens"
        ]
    row = next((row for row in record.rows if row.name == name), None)
    return [*lines, *_model(model, facts), *_rates(record, row, scaled), *_use(facts, config)]


def _may_add(encoding: str) -> bool:
    """Whether an encoding acts on the input alone; one whose file is gone may."""
    try:
        return describe(encoding).hooks == ("embed",)
    except ValueError:
        return True


def _model(model: dict[str, Any], facts: TaskFacts) -> list[str]:
    """The transformer around the encoding; a pooled answer has its head behind the mean over tokens."""
    dim = model["dim"]
    embed = (
        f"nn.Embedding({facts['symbols']}, {dim})"
        if facts["symbols"]
        else f"nn.Linear({facts['features']}, {dim})"
    )
    settings = {
        key: model[key] for key, usual in DEFAULTS.items() if model.get(key, usual) != usual
    }
    numbers = {
        "layers": model["layers"],
        "ffn": model["ffn"],
        "causal": facts["causal"],
        **settings,
    }
    arguments = [["encoding"], *_keywords(numbers), [f"embed={embed}"]]
    lines = [*_head(model, facts["outputs"])]
    lines += call(
        "model = locant.Transformer", arguments if facts["pool"] else [*arguments, ["head=head"]]
    )
    if facts["symbols"] and model.get("token_size", 1.0) != 1.0:
        lines += [f"nn.init.normal_(model.embed.weight, std={model['token_size']})"]
    return lines


def _head(model: dict[str, Any], outputs: int) -> list[str]:
    dim, wide = model["dim"], model.get("head", 0)
    if not wide:
        return [f"head = nn.Linear({dim}, {outputs})"]
    layers = [f"nn.LayerNorm({dim})", f"nn.Linear({dim}, {wide})", "nn.GELU()"]
    layers += [f"nn.Dropout({model.get('dropout', 0.0)})", f"nn.Linear({wide}, {outputs})"]
    return call("head = nn.Sequential", [[layer] for layer in layers])


def _rates(record: StudyRecord, row: RowRecord | None, scaled: bool) -> list[str]:
    """The learning rates as comments; that of what the encoding learns where it is another one."""
    training, (rate, own) = record.study["training"], row.usual if row else (1.0, 1.0)
    said = f"It was trained at a learning rate of {training['rate'] * rate:g}."
    times = training.get("positional_rate", 1.0) * own
    if row and row.cost.get("positional_parameters") and (scaled or times != 1):
        over = ", divided by encoding.factor" if scaled else ""
        said += f" What the encoding learns had {times:g} times that rate{over}."
    return wrap(said, WIDTH, initial_indent="# ", subsequent_indent="# ")


def _use(facts: TaskFacts, config: dict[str, Any]) -> list[str]:
    """A dummy input at its positions, and the shape of what comes out."""
    length, outputs = facts["length"], facts["outputs"]
    tokens, numbers = (
        f"randint({facts['symbols']}, (1, {length}))",
        f"randn(1, {length}, {facts['features']})",
    )
    lines = ["", f"x = torch.{tokens if facts['symbols'] else numbers}"]
    if config.get("positions", "order") == "times":
        lines += [f"pos = torch.arange({length}.0)  # times, in usual steps"]
    else:
        lines += [f"pos = locant.positions.consecutive({length})"]
    if facts["pool"]:
        return [*lines, f"out = head(model(x, pos).mean(1))  # (1, {outputs})"]
    return [*lines, f"out = model(x, pos)  # (1, {length}, {outputs})"]


def call(function: str, arguments: Sequence[list[str]]) -> list[str]:
    """A call on one line where it fits, else with one argument a line; an argument is a list of lines itself.

    >>> call("f", [["1"], ["b=2"]])
    ['f(1, b=2)']
    """
    whole = f"{function}({', '.join(part[0] for part in arguments)})"
    if len(whole) <= WIDTH and all(len(part) == 1 for part in arguments):
        return [whole]
    return [f"{function}(", *_listed(arguments), ")"]


def _keywords(values: Mapping[str, Any]) -> list[list[str]]:
    return [
        _after(f"{key}=", literal(value, WIDTH - len(key) - 6)) for key, value in values.items()
    ]


def literal(value: Any, room: int = WIDTH - 5) -> list[str]:
    """A plain value as Python, on one line where it fits, else on several.

    >>> literal({"type": "yarn", "factor": 4.0})
    ['{"type": "yarn", "factor": 4.0}']
    >>> literal("a long path/mine.py", 12)
    ['(', '    "a lon"', '    "g pat"', '    "h/min"', '    "e.py"', ')']
    """
    whole = _inline(value)
    if len(whole) <= room:
        return [whole]
    if isinstance(value, str):
        return [
            "(",
            *(f"    {json.dumps(piece, ensure_ascii=False)}" for piece in _pieces(value, room - 5)),
            ")",
        ]
    if isinstance(value, dict):
        keys = [f"{_inline(key)}: " for key in value]
        parts = [
            _after(key, literal(one, room - 5 - len(key)))
            for key, one in zip(keys, value.values(), strict=True)
        ]
        return ["{", *_listed(parts), "}"]
    if isinstance(value, list | tuple):
        return ["[", *_listed([literal(one, room - 5) for one in value]), "]"]
    return [whole]


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


def _pieces(text: str, room: int) -> list[str]:
    """Pieces of a text, each of which fits, quoted."""
    pieces = [""]
    for letter in text:
        if pieces[-1] and len(json.dumps(pieces[-1] + letter, ensure_ascii=False)) > room:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def _after(start: str, lines: list[str]) -> list[str]:
    return [start + lines[0], *lines[1:]]


def _listed(parts: Sequence[list[str]]) -> list[str]:
    """Parts of a call or of a list, indented, each with its comma."""
    return [f"    {line}" for part in parts for line in [*part[:-1], f"{part[-1]},"]]
