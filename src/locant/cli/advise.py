"""`locant advise`: which encodings fit a need, as far as finished studies allow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from locant.cli._options import JsonOption
from locant.cli._output import print_json


def advise(
    need: Annotated[
        str | None, typer.Option(help="What you need, with commas: exact offset, long context.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="A series or a text of yours: the needs that it suggests.")
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(help="Studies of this store, or packed file, instead of locant's own."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say which encodings fit a need, how surely, from which study, and what is not measured.

    Without options it lists the needs.

    Examples:

      locant advise

      locant advise --need "exact offset, long context"

      locant advise --data load.csv

      locant advise --need order --store locant-results/runs.sqlite --json
    """
    from locant.lab.advice import advise as answer
    from locant.lab.needs import NEEDS

    if need is None and data is None:
        if as_json:
            print_json([{"need": name, **one._asdict()} for name, one in NEEDS.items()])
            return
        for name, one in NEEDS.items():
            print(f"{name:22} {one.sentence}")
        return
    found = answer(need, data=data, store=store)
    if as_json:
        print_json(found.to_dict())
    else:
        print(found)
