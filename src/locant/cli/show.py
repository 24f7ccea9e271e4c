"""`locant show`: one encoding worked out step by step in the terminal, and its pictures in a
folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from locant._internal.checks import at_least, one_of, whole_number
from locant._internal.files import check_folder, unwritable
from locant._internal.user_code import user_code
from locant.cli._completion import complete_encoding
from locant.cli._options import HeadsOption, SetOption, encoding_options
from locant.cli._output import print_json
from locant.encodings.registry import Entry, canonical, describe
from locant.figures.plots import FORMATS
from locant.shapes import Shape

if TYPE_CHECKING:
    from locant.encodings.base import Encoding
    from locant.figures.walkthrough import WorkedPart

WIDTHS = (4, 8)  # small enough to be checked by hand
MAX_WIDTH = 1_024
MAX_LENGTH = 2_000  # positions in a picture
MAX_POSITION = 10**6  # the last one that is worked out
MAX_COLUMNS = 120  # characters of a line in the terminal


def show(
    name: Annotated[
        str,
        typer.Argument(
            help="An encoding's name, or path.py:Class.", autocompletion=complete_encoding
        ),
    ],
    dim: Annotated[int, typer.Option(help="Model width D in the pictures.")] = 64,
    heads: HeadsOption = 4,
    length: Annotated[int, typer.Option(help="Number of positions in the pictures.")] = 100,
    position: Annotated[
        float, typer.Option(help="The position that is worked out; the query's, if there is a key.")
    ] = 3,
    key: Annotated[
        float | None, typer.Option(help="The key's position; two before the query by default.")
    ] = None,
    width: Annotated[
        list[int] | None,
        typer.Option(help="Width that is worked out; may be repeated. 4 and 8 by default."),
    ] = None,
    assignments: SetOption = None,
    seed: Annotated[int, typer.Option(help="Seed of the learned parameters.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the pictures; locant-pictures/NAME by default.")
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", help="png, svg or pdf; several separated by commas.")
    ] = "png",
    dark: Annotated[bool, typer.Option("--dark", help="Draw for dark pages.")] = False,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Whether to draw.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Show one encoding: a worked example with every step of the arithmetic, and its pictures.

    Examples:

      locant show sinusoidal

      locant show sinusoidal --position 7 --width 6 --no-pictures

      locant show t5 --position 20 --key 0

      locant show rotary --set base=500 --format svg,pdf --out figures --dark

      locant show mine.py:Mine --json
    """
    name = canonical(name)
    entry = describe(name)  # mistakes are reported before anything heavy is imported
    position, key = _check_positions(position, key)
    _check_sizes(dim, heads, length, width or [])
    suffixes = [one_of("show", "--format", one.strip(), FORMATS) for one in formats.split(",")]
    folder = None
    if pictures:
        folder = out or Path("locant-pictures") / entry.name.rpartition(":")[2]
        check_folder("--out", folder)
    size = {"dim": dim, "heads": heads, "length": length, **encoding_options(assignments)}
    with user_code(name):
        encoding = _make(name, seed, size, position, key)
        parts = _work_out(name, seed, size, width, encoding, position, key)
    result: dict[str, Any] = {"encoding": name, "position": position, "key": key, **size}
    result |= {"formula": entry.formula, "worked": [asdict(part) for part in parts]}
    if not as_json:
        print("\n".join(as_text(entry, parts, min(Console().width, MAX_COLUMNS))))
    if folder is not None:
        theme = "dark" if dark else "light"
        result |= _draw(name, encoding, position, key, folder, suffixes, theme, quiet=as_json)
    if as_json:
        print_json(result)


def _check_positions(position: float, key: float | None) -> tuple[float, float]:
    position = at_least("show", "--position", position, 0)
    key = max(position - 2, 0.0) if key is None else at_least("show", "--key", key, 0)
    if max(position, key) > MAX_POSITION:
        raise ValueError(
            f"show works out positions up to {MAX_POSITION:,}. Got {max(position, key):g} instead."
        )
    return position, key


def _check_sizes(dim: int, heads: int, length: int, widths: list[int]) -> None:
    if not 2 <= length <= MAX_LENGTH:
        raise ValueError(
            f"show draws 2 to {MAX_LENGTH:,} positions. Got --length {length} instead."
        )
    Shape(dim, heads, length)
    for width in widths:
        whole_number("show", "--width", width)
    for width in (dim, *widths):
        if width > MAX_WIDTH:
            raise ValueError(f"show takes widths up to {MAX_WIDTH:,}. Got {width:,} instead.")


def as_text(entry: Entry, parts: list[WorkedPart], width: int) -> Iterator[str]:
    """Yield what the terminal shows, in lines of at most `width` characters where they can be
    broken."""
    yield from (entry.title, "", *(f"    {line}" for line in entry.formula), "")
    yield " · ".join(part for part in (entry.paper, str(entry.path)) if part)
    for part in parts:
        yield from ("", part.title[0].upper() + part.title[1:])
        for line in part.lines:
            yield from wrap(
                line, width, initial_indent="  ", subsequent_indent="      ", break_long_words=False
            )


def _make(name: str, seed: int, size: dict[str, Any], *positions: float) -> Encoding:
    """Build the encoding, and refuse positions at which it has no value."""
    from locant.certification.probe import seeded
    from locant.encodings.registry import make

    with seeded(seed):
        encoding = make(name, **size)
    last = size["length"] - 1
    if not encoding.real_positions and any(not position.is_integer() for position in positions):
        given = ", ".join(f"{position:g}" for position in positions)
        raise ValueError(f"{name} takes integer positions only. Got {given} instead.")
    if not encoding.extrapolates and max(positions) > last:
        raise ValueError(
            f"{name} has no value past position {last}, but {max(positions):g} was asked for.\n"
            f"  Make it longer: --length {int(max(positions)) + 1}"
        )
    return encoding


def _work_out(
    name: str,
    seed: int,
    size: dict[str, Any],
    widths: list[int] | None,
    full: Encoding,
    position: float,
    key: float,
) -> list[WorkedPart]:
    """Work out vectors at small widths, in one head; biases at the full size, in every head."""
    from locant.figures.walkthrough import HOOKS, work_out

    small = []
    for width in widths or WIDTHS:
        try:
            small.append(_make(name, seed, {**size, "dim": width, "heads": 1}, position, key))
        except ValueError:
            if widths:
                raise  # the user asked for it; default widths that do not fit are left out
    at_full_size = ["bias", "state_bias"]
    hooks = [hook for hook in HOOKS if hook not in at_full_size]
    parts = []
    for encoding in small or [full]:
        parts += work_out(encoding, position, key, hooks)
    return [*parts, *work_out(full, position, key, at_full_size)]


def _draw(
    name: str,
    encoding: Encoding,
    position: float,
    key: float,
    folder: Path,
    suffixes: list[str],
    theme: str,
    *,
    quiet: bool,
) -> dict[str, Any]:
    """Write every picture that fits the encoding; print which, and why not the others."""
    from locant.figures.data import measure_all
    from locant.figures.plots.frame import Frame
    from locant.figures.plots.gallery import write

    with user_code(name):
        measured, left_out = measure_all(encoding, position, key)
    trainable = any(parameter.requires_grad for parameter in encoding.parameters())
    note = "untrained: its parameters are as initialized" if trainable else ""
    lines = ["\nPictures"]
    written: dict[str, list[str]] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for picture, files in write(measured, folder, suffixes, Frame(name, theme, note)):
            written[picture.name] = [str(file) for file in files]
            lines.append("\n    ".join([f"  {picture.caption}", *written[picture.name]]))
    except OSError as problem:
        raise unwritable("--out", folder, problem) from None
    for reason in dict.fromkeys(left_out.values()):
        names = [one for one, why in left_out.items() if why == reason]
        lines.append(f"  no {', '.join(names)}: {reason}")
    if not quiet:
        print("\n".join(lines))
    return {"pictures": written, "left_out": left_out}
