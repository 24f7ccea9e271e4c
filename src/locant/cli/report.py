"""`locant report`: a finished study, from the store alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from locant.cli._completion import complete_study
from locant.cli._options import MarkdownOption, StoreOption
from locant.cli._output import print_json, print_table, print_written, writing
from locant.lab.store import STORE

if TYPE_CHECKING:
    from locant.lab.store.record import StudyRecord

WIDE_TERMINAL = 90  # columns; a narrower one shows no costs and no number of seeds


def report(
    study: Annotated[
        str | None,
        typer.Argument(
            help="A study's id or name; the newest by default.", autocompletion=complete_study
        ),
    ] = None,
    design: Annotated[
        str | None, typer.Option(help="The study's variations in this design, such as full.")
    ] = None,
    store: StoreOption = STORE,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, every seed's scores included.")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_markdown: MarkdownOption = False,
    parquet: Annotated[
        Path | None, typer.Option(help="Write a Parquet file, one line per run.")
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
    picture_format: Annotated[
        str, typer.Option("--format", help="Of the pictures in --out: png, svg or pdf.")
    ] = "png",
) -> None:
    """Print a study's verdict and table again, from the store alone.

    Examples:

      locant report

      locant report order --markdown > order.md

      locant report order-3f2a91c0 --parquet runs.parquet

      locant report order --html order.html

      locant report anomaly --design full

      locant report order --out reports --format svg

      locant report order --tensorboard curves && tensorboard --logdir curves
    """
    from locant.lab.study_result import read_result

    result = read_result(store, study, design)
    if parquet is not None:
        with writing(parquet):
            print_written(*result.to_parquet(parquet))
    if tensorboard is not None:
        with writing(tensorboard):
            print_written(*result.to_tensorboard(tensorboard))
    if out is not None:
        with writing(out):
            result.to_folder(out, picture_format=picture_format)
            print_written(out)
    if as_html is not None:
        with writing(as_html):
            print_written(result.to_html(as_html))
    if as_json:
        print_json(result.to_dict())
    elif as_csv:
        print(result.to_csv(), end="")
    elif as_markdown:
        print(result.to_markdown())
    elif not any((parquet, tensorboard, out, as_html)):
        for record in result.records:
            show(record)
        show_together(result.records)


def show_together(records: list[StudyRecord]) -> None:
    """Print several studies in one table."""
    if len(records) > 1:
        from locant.lab.report.score_table import LEGEND, side_by_side

        console = Console()
        console.print(f"\n[bold]All together[/bold] ({LEGEND})", highlight=False)
        print_table(console, *side_by_side(records))


def show(record: StudyRecord) -> None:
    """Print the verdict, the table and every section of a study."""
    from locant.lab.report import study_page
    from locant.lab.report.conclusion import conclusion
    from locant.lab.report.score_table import table_note

    console = Console()
    title, facts = study_page.title_and_facts(record)
    console.print(f"\n[bold]{escape(title)}[/bold]\n{escape(facts)}\n", highlight=False)
    console.print(f"[bold]{escape(conclusion(record))}[/bold]\n", highlight=False)
    console.print(_score_table(record, wide=console.width > WIDE_TERMINAL))
    console.print(f"{table_note(record)}.", style="dim", highlight=False)
    for note in study_page.failure_notes(record):
        console.print(note, style="red", markup=False, highlight=False)
    for part in study_page.sections(record):
        console.print(f"\n[bold]{escape(part.title)}[/bold]", highlight=False)
        for line in part.lines:
            console.print(f"- {escape(line)}", highlight=False)
        if part.table:
            print_table(console, *part.table)
        for line in part.code:  # as it is to be pasted
            console.print(line, markup=False, highlight=False, soft_wrap=True)


def _score_table(record: StudyRecord, *, wide: bool) -> Table:
    """Make the first table; a narrow terminal shows no costs."""
    from locant.lab.report.score_table import text_table

    header, lines = text_table(record)
    costs = ("ms/step", "MB", record.unit)
    columns = [index for index, name in enumerate(header) if wide or name not in costs]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        name = header[column]
        table.add_column(name, justify="left" if name in ("", "group") else "right", no_wrap=True)
    for line in lines:
        table.add_row(*[escape(line[column]) for column in columns])
    return table
