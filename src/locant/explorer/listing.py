"""What the page knows from the start: every encoding with its formula, options, colour and dash. No torch."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from locant.encodings.registry import Entry, describe, names
from locant.explorer import asked
from locant.figures.plots.colours import THEMES, colour, dash, shades

PACKAGE = Path(__file__).parent.parent


def start(own: Sequence[str], tabs: Sequence[str], store: Path) -> dict[str, Any]:
    """Encodings, bounds and themes; `own` are the user's, listed beside the others."""
    return {
        "tabs": list(tabs),
        "encodings": [_told(describe(name), name in own) for name in known(own)],
        "views": list(asked.VIEWS),
        "bounds": {
            "dim": asked.WIDEST,
            "length": asked.LONGEST,
            "heads": asked.MANY_HEADS,
            "words": asked.WORDS,
            "option": asked.LARGEST[int],
            "upload": asked.UPLOAD,
        },
        "themes": {name: asdict(theme) for name, theme in THEMES.items()},
        "store": str(store),
    }


def known(own: Sequence[str]) -> list[str]:
    """The names that may be asked for."""
    return [*own, *(name for name in names() if name not in own)]


def _told(entry: Entry, own: bool) -> dict[str, Any]:
    return {
        "name": entry.name,
        "label": entry.name.rpartition(":")[2],
        "own": own,
        "title": entry.title,
        "formula": entry.formula,
        "paper": entry.paper,
        "file": _place(entry.path),
        "hooks": entry.hooks,
        "learned": entry.parameter_count,
        "options": [
            {"name": option, "default": default, "choices": choices(entry, option)}
            for option, default in entry.options.items()
        ],
        "colour": colour(entry.name),
        "dash": dash(entry.name),
        "shades": {theme: shades(entry.name, asked.MANY_HEADS, theme) for theme in THEMES},
    }


def choices(entry: Entry, option: str) -> list[str]:
    """The words that an option may be: those of the file's constant of its name, in capitals and plural.

    >>> choices(describe("alibi"), "sides"), choices(describe("rotary"), "pairing")
    (['symmetric', 'causal', 'two-sided'], ['half', 'interleaved'])
    """
    if not isinstance(entry.options[option], str):
        return []
    wanted = {option.upper(), f"{option.upper()}S"}
    for item in ast.parse(entry.path.read_text(encoding="utf-8")).body:
        if isinstance(item, ast.Assign) and wanted & {
            ast.unparse(target) for target in item.targets
        }:
            try:
                return [str(one) for one in ast.literal_eval(item.value)]
            except ValueError:
                return []
    return []


def _place(path: Path) -> str:
    """Where the file is: within the package for ours, else as it is."""
    return (
        f"locant/{path.relative_to(PACKAGE).as_posix()}" if PACKAGE in path.parents else str(path)
    )


def theme_css() -> str:
    """The colours of both themes as CSS variables: by the system's choice, or by the page's own."""
    rules = {name: "".join(f"--{key}:{value};" for key, value in _flat(name)) for name in THEMES}
    return (
        f":root{{color-scheme:light;{rules['light']}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{rules['dark']}}}}}\n"
        f":root[data-theme=dark]{{color-scheme:dark;{rules['dark']}}}\n"
    )


def _flat(name: str) -> list[tuple[str, str]]:
    return [(key, value) for key, value in asdict(THEMES[name]).items() if isinstance(value, str)]
