"""`locant data`: write the data of a published study as CSV files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from locant._internal.checks import one_of

SETS = ("slots",)


def data(
    name: Annotated[str, typer.Argument(help="Which data: slots.")],
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("locant-data"),
) -> None:
    """Write the data of a published study as CSV files.

    They are train.csv (5,000 rows), validation.csv (1,000) and demo.csv (100).

    Example:

      locant data slots --out slots
    """
    one_of("data", "name", name, SETS)
    from locant.lab.tasks.slots_faithful import SIZES, draw_rows, write_csv

    out.mkdir(parents=True, exist_ok=True)
    for purpose, count in SIZES.items():
        path = out / f"{purpose}.csv"
        write_csv(path, draw_rows(count, purpose))
        print(f"{path}: {count:,} rows")
