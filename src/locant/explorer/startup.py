"""Describe what the page loads first: every encoding with its formula, options and color. No
torch."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from locant.encodings.registry import Entry, describe
from locant.explorer import schemas
from locant.explorer.state import ExplorerState
from locant.figures.data import catalog
from locant.figures.plots.colors import THEMES, color_of, dash, shades

PACKAGE = Path(__file__).parent.parent


def start(state: ExplorerState, tabs: Sequence[str]) -> dict[str, Any]:
    """Return the encodings, pictures, limits and themes."""
    return {
        "tabs": list(tabs),
        "encodings": [_describe(describe(name), name in state.own) for name in state.names()],
        "views": [{**asdict(picture), "label": picture.label} for picture in catalog().values()],
        "bounds": {
            "dim": schemas.MAX_DIM,
            "length": schemas.MAX_LENGTH,
            "heads": schemas.MAX_HEADS,
            "words": schemas.MAX_WORDS,
            "option": schemas.MAX_OPTION[int],
            "upload": schemas.MAX_UPLOAD_BYTES,
        },
        "themes": {name: asdict(theme) for name, theme in THEMES.items()},
        "store": str(state.store),
    }


def _describe(entry: Entry, own: bool) -> dict[str, Any]:
    return {
        "name": entry.name,
        "label": entry.name.rpartition(":")[2],
        "own": own,
        "title": entry.title,
        "formula": entry.formula,
        "paper": entry.paper,
        "file": _shown_path(entry.path),
        "hooks": entry.hooks,
        "parameters": entry.parameter_count,
        "options": [
            {"name": option, "default": default, "choices": choices(entry, option)}
            for option, default in entry.options.items()
        ],
        "color": color_of(entry.name),
        "dash": dash(entry.name),
        "shades": {theme: shades(entry.name, schemas.MAX_HEADS, theme) for theme in THEMES},
    }


def choices(entry: Entry, option: str) -> list[str]:
    """List the words that an option may be: those of the file's constant of its name, in capitals
    and plural.

    >>> choices(describe("alibi"), "sides"), choices(describe("rotary"), "pairing")
    (['symmetric', 'causal', 'two-sided'], ['half', 'interleaved'])
    """
    if not isinstance(entry.options[option], str):
        return []
    constants = {option.upper(), f"{option.upper()}S"}
    for node in ast.parse(entry.path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.Assign):
            continue
        if constants & {ast.unparse(target) for target in node.targets}:
            try:
                return [str(word) for word in ast.literal_eval(node.value)]
            except ValueError:
                return []
    return []


def _shown_path(path: Path) -> str:
    """Return the path of our files within the package, and of a user's file as it is."""
    if PACKAGE in path.parents:
        return f"locant/{path.relative_to(PACKAGE).as_posix()}"
    return str(path)


def theme_css() -> str:
    """Write the colors of both themes as CSS variables: by the system's choice, or by the page's
    own."""
    rules = {}
    for name, theme in THEMES.items():
        colors = {key: value for key, value in asdict(theme).items() if isinstance(value, str)}
        rules[name] = "".join(f"--{key}:{value};" for key, value in colors.items())
    light = f"color-scheme:light;{rules['light']}"
    dark = f"color-scheme:dark;{rules['dark']}"
    return (
        f":root{{{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=dark]{{{dark}}}\n"
    )
