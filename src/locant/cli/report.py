"""`locant report` and `locant runs`: what is kept, printed again from the store alone. No torch."""

from __future__ import annotations

import csv
import io
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from locant.cli._options import STORE, StoreOption
from locant.cli._output import print_table
from locant.lab.store.open import open_store

if TYPE_CHECKING:
    from locant.lab.store.record import StudyRecord


def report(
    study: Annotated[
        str | None, typer.Argument(help="A study's id or name; the newest by default.")
    ] = None,
    design: Annotated[
        str | None, typer.Option(help="The study's variations in this design, such as full.")
    ] = None,
    store: StoreOption = STORE,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, every seed's scores included.")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    parquet: Annotated[
        Path | None, typer.Option(help="Write a Parquet file, one row a run.")
    ] = None,
    tensorboard: Annotated[
        Path | None, typer.Option(help="Write a folder that TensorBoard opens.")
    ] = None,
    as_html: Annotated[
        Path | None, typer.Option("--html", help="Write one self-contained page.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write Markdown and pictures to this folder.")
    ] = None,
) -> None:
    """Print a study's verdict and table again, from the store alone.

    Examples:

      locant report

      locant report order --markdown > order.md

      locant report order-3f2a91c0 --parquet runs.parquet

      locant report order --html order.html

      locant report anomaly --design full

      locant report order --out reports

      locant report order --tensorboard curves && tensorboard --logdir curves
    """
    from locant.lab.report import study as told
    from locant.lab.report.tensorboard import write_events
    from locant.lab.store.record import read_record

    kept = open_store(store)
    records = [read_record(kept, name) for name in _parts(study, design)]
    for path, write in ((parquet, _write_parquet), (tensorboard, write_events)):
        if path is not None:
            for record in records:
                place = (
                    path
                    if len(records) == 1
                    else path.with_stem(f"{path.stem}-{record.study['name']}")
                )
                with _written(place):
                    write(record, place)
    if out is not None:
        from locant.lab.report.folder import write_folder

        with _written(out):
            write_folder(records, out)
    if as_html is not None:
        from locant.lab.report.page import html

        with _written(as_html):
            as_html.parent.mkdir(parents=True, exist_ok=True)
            as_html.write_text(html(records), encoding="utf-8")
    if as_json:
        plain = [_plain(record) for record in records]
        print(
            json.dumps(
                plain[0] if len(plain) == 1 else plain,
                indent=2,
                ensure_ascii=False,
                allow_nan=False,
            )
        )
    elif as_csv:
        print("\n".join(_csv(record) for record in records), end="")
    elif as_markdown:
        print("\n".join(told.markdown(record) for record in records))
    elif parquet is None and tensorboard is None and out is None and as_html is None:
        for record in records:
            show(record)
        show_together(records)


def _parts(study: str | None, design: str | None = None) -> list[str | None]:
    """The studies behind a name: itself, its parts, or its variations in a design."""
    from locant.lab.study_files import parts, study_names

    if study is not None and design is not None:
        return list(parts(study, design))
    if design is not None:
        raise ValueError(
            f"--design {design} needs the study that offers it: locant report anomaly --design full"
        )
    return list(parts(study)) if study in study_names() else [study]


def runs(store: StoreOption = STORE) -> None:
    """List the studies that are kept.

    Example:

      locant runs
    """
    for entry in open_store(store).studies():
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.finished))
        print(f"{entry.id:24} {when}  {len(entry.runs)} runs  {entry.study['title']}")


def pack(
    studies: Annotated[list[str], typer.Argument(help="Ids or names of studies.")],
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("studies.json.gz"),
    store: StoreOption = STORE,
) -> None:
    """Put finished studies into one small file; `locant report --store FILE` reads it anywhere, without training.

    Example:

      locant pack order anomaly --out studies.json.gz
    """
    from locant.lab.store import pack as packing
    from locant.lab.store.record import read_record

    if out.suffix != ".gz" or out.is_dir():
        raise ValueError(
            f"--out needs a file whose name ends in .gz, such as studies.json.gz. Got {str(out)!r}."
        )
    if out.resolve() == store.resolve():
        raise ValueError(f"{out} is the store that is packed. Give --out another name.")
    kept = open_store(store)
    ids = [read_record(kept, name).id for study in studies for name in _parts(study)]
    with _written(out):
        packing.pack(kept, ids, out)


def show_together(records: list[StudyRecord]) -> None:
    """The studies of a suite in one table."""
    if len(records) > 1:
        from locant.lab.report.suite import LEGEND, side_by_side

        console = Console()
        console.print(f"\n[bold]All together[/bold] ({LEGEND})", highlight=False)
        print_table(console, *side_by_side(records))


def show(record: StudyRecord) -> None:
    """The verdict and the table on a terminal."""
    from locant.lab.report import study as told

    console = Console()
    title, facts = told.heading(record)
    console.print(f"\n[bold]{escape(title)}[/bold]\n{escape(facts)}\n", highlight=False)
    console.print(f"[bold]{escape(told.conclusion(record))}[/bold]\n", highlight=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown = [
        place
        for place, head in enumerate(told.heads(record))
        if head not in ("ms/step", "MB", record.unit) or console.width > 90
    ]
    for place in shown:
        head = told.heads(record)[place]
        table.add_column(head, justify="left" if head in ("", "group") else "right", no_wrap=True)
    for row in told.table(record):
        cells = told.cells(row, record)
        table.add_row(*[escape(cells[place]) for place in shown])
    console.print(table)
    console.print(f"{told.note(record)}.", style="dim", highlight=False)
    for one in record.rows:
        for why in one.failures:
            console.print(f"{one.name} failed: {why}", style="red", markup=False, highlight=False)
    for part in told.sections(record):
        console.print(f"\n[bold]{escape(part.title)}[/bold]", highlight=False)
        for line in part.lines:
            console.print(f"- {escape(line)}", highlight=False)
        if part.table:
            print_table(console, *part.table)
        for line in part.code:
            console.print(
                line, markup=False, highlight=False, soft_wrap=True
            )  # as it is to be pasted


@contextmanager
def _written(path: Path) -> Iterator[None]:
    """Says that a path was written, or why it could not be."""
    try:
        yield
    except OSError as problem:
        raise ValueError(
            f"{path} cannot be written: {problem.strerror or problem}.\n"
            "  The results stay in the store. Make room, or give another path."
        ) from None
    print(f"wrote {path}", file=sys.stderr)


def _plain(record: StudyRecord) -> dict[str, object]:
    from locant.lab.report import study as told

    rows = [
        {
            "name": r.name,
            "metrics": r.metrics,
            "cost": r.cost,
            "runs": r.digests,
            "failures": r.failures,
        }
        for r in record.rows
    ]
    return {
        "id": record.id,
        "command": record.command,
        "facts": record.facts.to_stored(),
        "study": record.study,
        "verdict": told.conclusion(record),
        "table": told.table(record),
        "rows": rows,
    }


def _csv(record: StudyRecord) -> str:
    from locant.lab.report import study as told

    listed = told.table(record)
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(listed[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(listed)
    return out.getvalue()


def _write_parquet(record: StudyRecord, path: Path) -> None:
    """One row a run, in the tools people have."""
    import polars

    parts = [
        {
            "name": row.name,
            "encoding": row.encoding,
            "seed": seed,
            **dict(zip(row.metrics, values, strict=True)),
        }
        for row in record.rows
        for seed, *values in zip(row.seeds, *row.metrics.values(), strict=True)
    ]
    made = io.BytesIO()  # whole before any of it is written
    polars.DataFrame(parts).write_parquet(made)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made.getvalue())
