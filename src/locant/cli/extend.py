"""`locant extend`: ways to read past a model's trained length, compared on the user's own text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from locant._internal.checks import listed
from locant._internal.files import check_folder
from locant.cli._options import JsonOption, OutFolderOption
from locant.cli._output import print_json, print_table, print_written

if TYPE_CHECKING:
    from locant.hf.extending.extension_result import Extension

WIDTH = 120  # characters, where standard output is no terminal


def extend(
    checkpoint: Annotated[
        str,
        typer.Argument(help="A folder with config.json and weights; a .gguf; a .bin of llama2.c."),
    ],
    data: Annotated[
        list[Path], typer.Option(help="Your text, in UTF-8; may be repeated for several files.")
    ],
    to: Annotated[
        str, typer.Option(help="How far: 4x the trained length, or a number of tokens.")
    ] = "2x",
    methods: Annotated[
        str | None, typer.Option(help="Some of the methods, with commas; all by default.")
    ] = None,
    documents: Annotated[
        str,
        typer.Option(
            help="What a document is: windows of the target length, files, blank-lines, "
            "or a text that separates documents."
        ),
    ] = "windows",
    most: Annotated[
        int | None, typer.Option(help="Read at most so many documents, evenly spread.")
    ] = None,
    trained: Annotated[
        int | None, typer.Option(help="The trained length; the config's by default.")
    ] = None,
    search: Annotated[
        int, typer.Option(help="Candidates in the search for a factor a pair; 0 leaves it out.")
    ] = 24,
    probe: Annotated[
        str | None, typer.Option(help="passkey: plant a number in the text and ask for it.")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(help="Keep finished passes here, to go on after Ctrl-C.")
    ] = None,
    out: OutFolderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare ways to extend a model's context, without training, on your own text.

    Bits a token at the trained length and past it, paired over documents, with intervals and a
    verdict. With --out the numbers, a picture and the winner's entry for config.json are written.

    Examples:

      locant extend ./llama --data mine.txt --to 4x

      locant extend model.gguf --data a.txt --data b.txt --documents files --to 16384

      locant extend ./llama --data mine.txt --to 2x --methods ntk,yarn --keep passes --out extended

      locant extend ./llama --data mine.txt --documents '<|endoftext|>' --most 20

      locant extend ./llama --data mine.txt --probe passkey --json
    """
    from locant import hf

    if out is not None:
        check_folder("--out", out)
    if keep is not None:
        check_folder("--keep", keep)
    if most is not None and most < 1:
        raise ValueError(f"--most {most} leaves no document: give 1 or more.")
    try:
        found: Extension = hf.extend(
            checkpoint,
            data,
            to=to,
            methods=None if methods is None else listed("--methods", methods),
            cut=documents,
            most=most,
            trained=trained,
            search_steps=search,
            probe=probe,
            keep=keep,
        )
    except ImportError as problem:  # transformers, or what it needs for GGUF
        raise ValueError(str(problem)) from None
    except KeyboardInterrupt:
        kept = f" Finished passes are kept in {keep}." if keep and keep.exists() else ""
        print(f"\nStopped; nothing was written.{kept}", file=sys.stderr)
        raise typer.Exit(130) from None
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found)
    if out is not None:
        print_written(*found.save(out))


def _show(found: Extension) -> None:
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    better = "fewer are better" if found.metric == "bits a token" else "more is better"
    print(f"{found.checkpoint}: {found.trained:,} → {found.target:,} tokens")
    print(f"{found.documents}; {found.metric}, {better}, ± 95 %")
    header, lines = found.table()
    print_table(console, header, lines)
    if found.passkey:
        header, lines = found.passkey_table()
        print_table(console, header, lines)
    for note in found.notes:
        print(note)
    print(found.verdict)
    if found.entry is None:
        print("No entry for config.json is recommended: no method won.")
    else:
        print(f"config.json for {found.winner}:")
        print_json(found.entry)
