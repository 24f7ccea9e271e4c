"""Options that several commands share, each declared once, so that one thing has one spelling.

    --encodings   names or path.py:Class, separated by commas
    --set         one option of an encoding, or one field of a study: name=value
    --out         the file or folder that is written (--html, --parquet … name a format)
    --workers     processes
    --json        the printed table as JSON

A command whose option was renamed keeps the old spelling for one release:

    @old_spellings({"--picture": "--out"})
    def bench(out: ...): ...
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand

from locant._internal.assignments import parse_assignment
from locant.cli._completion import complete_encoding

EncodingsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        help="Names, or path.py:Class; all by default. Or a model: a folder, a GGUF file.",
        autocompletion=complete_encoding,
    ),
]
EncodingsOption = Annotated[
    str | None,
    typer.Option(
        "--encodings",
        help="Names or path.py:Class, separated by commas.",
        autocompletion=complete_encoding,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="An option of the encoding; may be repeated: --set base=500"),
]
DimOption = Annotated[int, typer.Option("--dim", help="Model width D.")]
HeadsOption = Annotated[int, typer.Option("--heads", help="Number of heads H.")]
LengthOption = Annotated[
    int, typer.Option("--length", help="Number of positions that the encoding is made for.")
]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of everything that is random.")]
StoreOption = Annotated[Path, typer.Option("--store", help="The SQLite file that keeps every run.")]
WorkersOption = Annotated[
    int, typer.Option("--workers", help="Number of processes; one per core by default.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]
HtmlOption = Annotated[
    Path | None, typer.Option("--html", help="Write one self-contained page to this file.")
]
OutFolderOption = Annotated[Path | None, typer.Option("--out", help="Write to this folder.")]

Function = TypeVar("Function", bound=Callable[..., Any])


def old_spellings(renamed: Mapping[str, str]) -> Callable[[Function], Function]:
    """Let a command accept old option names, each mapped to its new name, with one warning line."""

    def decorate(function: Function) -> Function:
        function.old_spellings = dict(renamed)  # type: ignore[attr-defined]
        return function

    return decorate


class Command(TyperCommand):
    """A command that accepts the old spellings of its options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        renamed = getattr(self.callback, "old_spellings", {})
        return super().parse_args(ctx, replace_old_spellings(args, renamed))


def help_text(function: Callable[..., Any]) -> str:
    """Return a docstring as help: lines of a paragraph are joined, so that it wraps at any width.

    >>> def command():
    ...     '''Do it.
    ...
    ...     A sentence that goes on
    ...     in the next line.
    ...
    ...       locant do it
    ...     '''
    >>> help_text(command).splitlines()
    ['Do it.', '', 'A sentence that goes on in the next line.', '', '  locant do it']
    """
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    joined = []
    for paragraph in paragraphs:
        example = paragraph.startswith(" ")
        joined.append(paragraph if example else " ".join(paragraph.splitlines()))
    return "\n\n".join(joined)


def replace_old_spellings(args: list[str], renamed: Mapping[str, str]) -> list[str]:
    """Replace old option names by their new names, and name the new ones on standard error.

    >>> replace_old_spellings(["biases", "--out=a.png"], {"--picture": "--out"})
    ['biases', '--out=a.png']
    """
    replaced: list[str] = []
    for index, arg in enumerate(args):
        if arg == "--":
            return replaced + args[index:]
        option, sign, value = arg.partition("=")
        if option in renamed:
            new = renamed[option]
            print(f"locant: {option} is now spelled {new}.", file=sys.stderr)
            arg = f"{new}{sign}{value}"
        replaced.append(arg)
    return replaced


def encoding_options(assignments: list[str] | None) -> dict[str, Any]:
    """Read every `--set name=value` as an option of the encoding.

    >>> encoding_options(["base=500", "pairing=interleaved"])
    {'base': 500, 'pairing': 'interleaved'}
    >>> encoding_options(["scaling.type=yarn", "scaling.factor=4"])
    {'scaling': {'type': 'yarn', 'factor': 4}}
    """
    options: dict[str, Any] = {}
    for text in assignments or []:
        name, value = parse_assignment(text, example="base=500")
        if name in ("dim", "heads", "length"):
            raise ValueError(f"{name} is not an option of the encoding: write --{name} {value}.")
        option, dot, field = name.partition(".")
        if not dot:
            options[option] = value
            continue
        fields = options.setdefault(option, {})
        if not isinstance(fields, dict):
            raise ValueError(f"--set {text}: {option} is already set to {fields!r}.")
        fields[field] = value
    return options
