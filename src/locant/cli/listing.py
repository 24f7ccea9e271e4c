"""`locant list`: every encoding, where it acts, what it learns and what it claims. Reads files,
imports no torch."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from locant.cli._completion import complete_encoding
from locant.encodings._source import need_base_class
from locant.encodings.claims import CLAIMS, HOOKS
from locant.encodings.registry import Entry, describe, names
from locant.shapes import Shape

WORDS = {  # a claim in one word
    "tells_order": "order",
    "tells_direction": "side",
    "shift_invariant": "shift",
    "extrapolates": "far",
    "real_positions": "real",
    "cacheable_keys": "cache",
    "prefers_near": "near",
    "bounded": "bounded",
    "linear_offset": "linear",
    "causal_only": "causal",
    "goes_by_positions": "given",
}


def list_encodings(
    encodings: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names, or path.py:Class; all by default.", autocompletion=complete_encoding
        ),
    ] = None,
    dim: Annotated[int, typer.Option(help="Model width D, for the count of learned numbers.")] = 64,
    heads: Annotated[int, typer.Option(help="Number of heads H.")] = 4,
    length: Annotated[int, typer.Option(help="Length in positions.")] = 512,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table that stands in the README.")
    ] = False,
) -> None:
    """List the encodings: where each acts, how much it learns, what it claims, and its paper.

    Examples:

      locant list

      locant list rotary alibi --dim 512 --heads 8 --json

      locant list mine.py:Mine
    """
    shape = Shape(dim, heads, length)
    entries = [describe(name) for name in encodings or names()]
    for entry in entries:
        need_base_class(entry.path, entry.class_name)
    if as_json:
        print(json.dumps([_row(entry, shape) for entry in entries], indent=2, ensure_ascii=False))
        return
    if as_markdown:
        print(markdown(entries, shape))
        return
    console = Console()
    console.print(_table(entries, shape))
    legend = Table.grid(padding=(0, 2))
    for claim, word in WORDS.items():
        legend.add_row(f"  [bold]{word}[/bold]", CLAIMS[claim])
    console.print(legend)


def _row(entry: Entry, shape: Shape) -> dict[str, Any]:
    return {
        "name": entry.name,
        "title": entry.title,
        "acts_on": [HOOKS[hook] for hook in entry.hooks],
        "parameters": entry.parameters(shape),
        "parameter_count": entry.parameter_count,
        "learned": entry.parameters(shape),  # its earlier name, for one release
        "learned_formula": entry.parameter_count,  # likewise
        "options": entry.options,
        "claims": entry.claims,
        "paper": entry.paper,
        "file": str(entry.path),
    }


def _table(entries: list[Entry], shape: Shape) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        title=f"encodings at dim {shape.dim}, heads {shape.heads}, length {shape.length}",
    )
    table.add_column("name", style="bold", overflow="fold", min_width=10)
    table.add_column("acts on", max_width=12)
    table.add_column("learns", justify="right", no_wrap=True)
    table.add_column("claims")
    table.add_column("paper", min_width=16)
    for entry in entries:
        acts = ", ".join(HOOKS[hook] for hook in entry.hooks) or "nothing"
        claims = " ".join(word for claim, word in WORDS.items() if entry.claims[claim])
        name = (
            entry.name if entry.name == entry.path.stem else f"{entry.path.name}:{entry.class_name}"
        )
        table.add_row(name, acts, f"{entry.parameters(shape):,}", claims, entry.paper)
    return table


def markdown(entries: list[Entry], shape: Shape) -> str:
    """The table with a link from each name to its file."""
    lines = [
        "| encoding | in one line | acts on | learns | claims | paper |",
        "|---|---|---|---|---|---|",
    ]
    for entry in entries:
        link = f"[`{entry.name}`](src/locant/encodings/{entry.path.name})"
        line = entry.title.partition(": ")[2]
        acts = ", ".join(HOOKS[hook] for hook in entry.hooks) or "nothing"
        claims = " ".join(word for claim, word in WORDS.items() if entry.claims[claim])
        lines.append(
            f"| {link} | {line} | {acts} | {entry.parameters(shape):,} | {claims} | {entry.paper} |"
        )
    return "\n".join(lines)
