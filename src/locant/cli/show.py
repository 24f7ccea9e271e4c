"""`locant show`: one encoding worked out by hand in the terminal, and its pictures in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from locant._internal.assignments import parse_assignment
from locant._internal.checks import at_least, one_of, whole_number
from locant._internal.files import check_folder, unwritable
from locant._internal.user_code import user_code
from locant.encodings.registry import Entry, canonical, describe
from locant.figures.plots import FORMATS
from locant.shapes import Shape

if TYPE_CHECKING:
    from locant.encodings.base import Encoding
    from locant.figures.walkthrough import Part

Say = Callable[[str], None]
WIDTHS = (4, 8)  # small enough to be checked by hand
WIDEST, LONGEST, FARTHEST = (
    1_024,
    2_000,
    10**6,
)  # dimensions, positions in a picture, and the last position worked out


def show(
    name: Annotated[str, typer.Argument(help="An encoding's name, or path.py:Class.")],
    dim: Annotated[int, typer.Option(help="Model width D of the pictures.")] = 64,
    heads: Annotated[int, typer.Option(help="Number of heads H.")] = 4,
    length: Annotated[int, typer.Option(help="Positions in the pictures.")] = 100,
    position: Annotated[
        float, typer.Option(help="The position, or the query's, that is worked out.")
    ] = 3,
    key: Annotated[
        float | None, typer.Option(help="The key's position; two before the query by default.")
    ] = None,
    width: Annotated[
        list[int] | None,
        typer.Option(help="Width worked out; may be repeated. 4 and 8 by default."),
    ] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="The encoding's own options: --set base=500")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the numbers that would be learned.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the pictures; locant-pictures/NAME by default.")
    ] = None,
    formats: Annotated[
        str, typer.Option("--format", help="png, svg or pdf; several with commas.")
    ] = "png",
    dark: Annotated[bool, typer.Option("--dark", help="For dark pages.")] = False,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Whether to draw.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Show one encoding: a worked example with the arithmetic written out, and its pictures.

    Examples:

      locant show sinusoidal

      locant show sinusoidal --position 7 --width 6 --no-pictures

      locant show t5 --position 20 --key 0

      locant show rotary --set base=500 --format svg,pdf --out figures --dark

      locant show mine.py:Mine --json
    """
    name = canonical(name)
    entry = describe(name)  # what is wrong is told before anything heavy is imported
    place = at_least("show", "--position", position, 0)
    key = max(place - 2, 0.0) if key is None else at_least("show", "--key", key, 0)
    if max(place, key) > FARTHEST:
        raise ValueError(
            f"show follows positions up to {FARTHEST:,}. Got {max(place, key):g} instead."
        )
    if not 2 <= length <= LONGEST:
        raise ValueError(f"show draws 2 to {LONGEST:,} positions. Got --length {length} instead.")
    Shape(dim, heads, length)
    for one in (dim, *(whole_number("show", "--width", one) for one in width or [])):
        if one > WIDEST:
            raise ValueError(
                f"show draws and works out widths up to {WIDEST:,}. Got {one:,} instead."
            )
    endings = [one_of("show", "--format", one.strip(), FORMATS) for one in formats.split(",")]
    options = dict(_option(text) for text in change or [])
    folder = (out or Path("locant-pictures") / entry.name.rpartition(":")[2]) if pictures else None
    if folder is not None:
        check_folder("--out", folder)
    size = {"dim": dim, "heads": heads, "length": length, **options}
    with user_code(name):
        encoding = _make(name, seed, size, place, key)
        parts = _worked(name, seed, size, width, encoding, place, key)
    told: dict[str, Any] = {"encoding": name, "position": place, "key": key, **size}
    told |= {"formula": entry.formula, "worked": [vars(part) for part in parts]}
    if not as_json:
        print("\n".join(text(entry, parts, min(Console().width, 120))))
    if folder is not None:
        theme, say = "dark" if dark else "light", (lambda _: None) if as_json else print
        told |= _draw(name, encoding, (place, key), folder, endings, theme, say)
    if as_json:
        print(json.dumps(told, indent=2, ensure_ascii=False))


def text(entry: Entry, parts: list[Part], width: int) -> Iterator[str]:
    """What the terminal shows, in lines of at most `width` characters where they can be broken."""
    yield from (entry.title, "", *(f"    {line}" for line in entry.formula), "")
    yield " · ".join(part for part in (entry.paper, str(entry.path)) if part)
    for part in parts:
        yield from ("", part.title[0].upper() + part.title[1:])
        for line in part.lines:
            yield from wrap(
                line, width, initial_indent="  ", subsequent_indent="      ", break_long_words=False
            )


def _option(given: str) -> tuple[str, Any]:
    """Read `base=500` as an option of the encoding's own."""
    name, value = parse_assignment(given, example="base=500")
    if name in ("dim", "heads", "length"):
        raise ValueError(f"{name} is no option of the encoding's own: write --{name} {value}.")
    return name, value


def _make(name: str, seed: int, size: dict[str, Any], *places: float) -> Encoding:
    """The encoding, when it has something to say at these positions."""
    from locant.certification.probe import seeded
    from locant.encodings.registry import make

    with seeded(seed):
        encoding = make(name, **size)
    last = size["length"] - 1
    if not encoding.real_positions and any(not place.is_integer() for place in places):
        raise ValueError(
            f"{name} takes whole positions alone. Got {', '.join(f'{place:g}' for place in places)} instead."
        )
    if not encoding.extrapolates and max(places) > last:
        raise ValueError(
            f"{name} has no value past position {last}, but position {max(places):g} was asked for.\n"
            f"  Give it room: --length {int(max(places)) + 1}"
        )
    return encoding


def _worked(
    name: str,
    seed: int,
    size: dict[str, Any],
    widths: list[int] | None,
    full: Encoding,
    place: float,
    key: float,
) -> list[Part]:
    """Vectors at small widths, in one head; biases as they are, in every head."""
    from locant.figures.walkthrough import HOOKS, work_out

    small = []
    for width in widths or WIDTHS:
        try:
            small.append(_make(name, seed, {**size, "dim": width, "heads": 1}, place, key))
        except ValueError:
            if widths:
                raise  # asked for; the usual ones are left out where they do not fit
    hooks = [hook for hook in HOOKS if hook != "bias"]
    parts = [part for one in small or [full] for part in work_out(one, place, key, hooks)]
    return [*parts, *work_out(full, place, key, ["bias"])]


def _draw(
    name: str,
    encoding: Encoding,
    places: tuple[float, float],
    folder: Path,
    endings: list[str],
    theme: str,
    say: Say,
) -> dict[str, Any]:
    """Write every picture that fits; say which, and why not the others."""
    from locant.figures.data import pictures
    from locant.figures.plots.frame import Frame
    from locant.figures.plots.gallery import caption, write

    with user_code(name):
        drawn, left_out = pictures(encoding, *places)
    learns = any(parameter.requires_grad for parameter in encoding.parameters())
    frame = Frame(name, theme, "untrained: its learned numbers are as they start" if learns else "")
    written: dict[str, list[str]] = {}
    say("\nPictures")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for picture, files in write(drawn, folder, endings, frame):
            written[picture] = [str(file) for file in files]
            say("\n    ".join([f"  {caption(picture)}", *written[picture]]))
    except OSError as problem:
        raise unwritable("--out", folder, problem) from None
    for reason in dict.fromkeys(left_out.values()):
        say(f"  no {', '.join(one for one, why in left_out.items() if why == reason)}: {reason}")
    return {"pictures": written, "left_out": left_out}
