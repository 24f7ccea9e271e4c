"""`locant pack`: finished studies in one small file, to be kept or given away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from locant.cli._options import StoreOption
from locant.cli._output import print_written, writing
from locant.lab.store import STORE


def pack(
    studies: Annotated[list[str], typer.Argument(help="Ids or names of studies.")],
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("studies.json.gz"),
    store: StoreOption = STORE,
) -> None:
    """Pack finished studies into one small file, which `locant report --store FILE` reads.

    Example:

      locant pack order anomaly --out studies.json.gz
    """
    from locant.lab.store import pack as packing
    from locant.lab.store.open import open_store
    from locant.lab.store.record import read_record
    from locant.lab.study_result import study_parts

    if out.suffix != ".gz" or out.is_dir():
        raise ValueError(
            f"--out needs a file whose name ends in .gz, such as studies.json.gz. Got {str(out)!r}."
        )
    if out.resolve() == store.resolve():
        raise ValueError(f"{out} is the store that is packed. Give --out another name.")
    kept = open_store(store)
    ids = [read_record(kept, name).id for study in studies for name in study_parts(study)]
    with writing(out):
        packing.pack(kept, ids, out)
        print_written(out)
