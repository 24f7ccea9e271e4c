"""`locant report` and `locant runs`: what is kept, printed again from the store alone. No torch."""

from __future__ import annotations

import csv
import io
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from locant.results.store import Store

if TYPE_CHECKING:
    from locant.results.record import StudyRecord

STORE = Path("locant-results/runs.sqlite")
StoreOption = Annotated[Path, typer.Option(help="The SQLite file that keeps every run.")]


def report(
    study: Annotated[str | None, typer.Argument(help="A study's id or name; the newest by default.")] = None,
    store: StoreOption = STORE,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, every seed's scores included.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    parquet: Annotated[Path | None, typer.Option(help="Write a Parquet file, one row a run.")] = None,
) -> None:
    """Print a study's verdict and table again, from the store alone.

    Examples:

      locant report

      locant report order --markdown > order.md

      locant report order-3f2a91c0 --parquet runs.parquet
    """
    from locant.report import study as told
    from locant.results.record import read_record

    record = read_record(_existing(store), study)
    if parquet is not None:
        _write_parquet(record, parquet)
        print(f"wrote {parquet}", file=sys.stderr)
    if as_json:
        print(json.dumps(_plain(record), indent=2, ensure_ascii=False))
    elif as_csv:
        print(_csv(record), end="")
    elif as_markdown:
        print(told.markdown(record))
    elif parquet is None:
        show(record)


def runs(store: StoreOption = STORE) -> None:
    """List the studies that are kept.

    Example:

      locant runs
    """
    for entry in _existing(store).studies():
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry["finished"]))
        print(f"{entry['id']:24} {when}  {len(entry['runs'])} runs  {entry['study']['title']}")


def show(record: StudyRecord) -> None:
    """The verdict and the table on a terminal."""
    from locant.report import study as told

    console = Console()
    metric = record.facts["metric"]
    title, facts = told.heading(record)
    console.print(f"\n[bold]{escape(title)}[/bold]\n{escape(facts)}\n", highlight=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown = [
        place for place, head in enumerate(told.heads(metric)) if head not in ("MB", "seeds") or console.width > 90
    ]
    for place in shown:
        head = told.heads(metric)[place]
        table.add_column(head, justify="left" if head in ("", "ties") else "right", no_wrap=True)
    for row in told.table(record):
        cells = told.cells(row, metric)
        table.add_row(*[escape(cells[place]) for place in shown])
    console.print(table)
    console.print(f"Ties: {told.NOTE}.", style="dim", highlight=False)
    for one in record.rows:
        for why in one.failures:
            console.print(f"{one.name} failed: {why}", style="red", markup=False, highlight=False)
    console.print(f"\n[bold]{escape(told.conclusion(record))}[/bold]", highlight=False)


def _existing(store: Path) -> Store:
    if not store.is_file():
        raise ValueError(
            f"there is no store {store}. Run a study first (locant compare order --quick), or give --store."
        )
    return Store(store)


def _plain(record: StudyRecord) -> dict[str, object]:
    from locant.report import study as told

    rows = [
        {"name": r.name, "metrics": r.metrics, "cost": r.cost, "runs": r.digests, "failures": r.failures}
        for r in record.rows
    ]
    return {
        "id": record.id,
        "command": record.command,
        "facts": record.facts,
        "study": record.study,
        "verdict": told.conclusion(record),
        "table": told.table(record),
        "rows": rows,
    }


def _csv(record: StudyRecord) -> str:
    from locant.report import study as told

    listed = told.table(record)
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(listed[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(listed)
    return out.getvalue()


def _write_parquet(record: StudyRecord, path: Path) -> None:
    """One row a run, in the tools people have."""
    import polars

    parts = []
    for row in record.rows:
        for seed, values in enumerate(zip(*row.metrics.values(), strict=True)):
            parts.append(
                {
                    "name": row.name,
                    "encoding": row.encoding,
                    "seed": seed,
                    **dict(zip(row.metrics, values, strict=True)),
                }
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    polars.DataFrame(parts).write_parquet(path)
