"""`locant bench`: our speed, that of installed peers and the machine's limits, as ratios."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from locant._internal.checks import one_of
from locant.bench import PARTS
from locant.bench.bench_options import BenchOptions
from locant.cli._options import JsonOption, MarkdownOption, old_spellings
from locant.cli._output import print_json, print_table, print_written

MIN_TEXT_LENGTH = 40  # characters: a ratio with its spread and megabytes is not text

if TYPE_CHECKING:
    from locant.bench.result_table import Table


@old_spellings({"--picture": "--out"})
def bench(
    parts: Annotated[
        list[str] | None, typer.Argument(help=f"Some of {', '.join(PARTS)}; all by default.")
    ] = None,
    threads: Annotated[
        int,
        typer.Option(
            help="Threads of biases, decoding and step, and workers of the sweep; "
            "one per core by default."
        ),
    ] = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="Short lengths, to see that it works; do not quote it.")
    ] = False,
    as_json: JsonOption = False,
    as_markdown: MarkdownOption = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Draw time and memory of biases by length to this PNG, SVG or PDF."),
    ] = None,
) -> None:
    """Measure rotation, biases, memory, decoding, training steps, a study's sweep, a T5 encoder.

    Everything is a ratio within one run: work is timed by turns with what it is compared with, and
    the median is printed with its spread. A ratio that varies too much is not printed. Leave the
    machine alone meanwhile. All parts together take about forty minutes.

    Examples:

      locant bench

      locant bench rotation biases --markdown > speed.md

      locant bench biases --out growth.png

      locant bench --quick --json
    """
    chosen = [one_of("bench", "part", part, PARTS) for part in parts or PARTS]
    if threads < 0:
        raise ValueError(
            f"--threads {threads} is not a number of threads: give 1 or more, or leave it out."
        )
    if out is not None:
        _check_picture(out, chosen)
    used = threads or _cores()
    about = {
        "date": str(date.today()),
        "torch": version("torch"),
        "CPU": _processor(),
        "threads": used,
    }
    found: list[Table] = []
    if not as_json:
        facts = ", ".join(f"{key} {value}" for key, value in about.items())
        print(f"{facts}, quick: not to be quoted" if quick else facts)
    for part in chosen:
        module = import_module(f"locant.bench.{PARTS[part]}")
        with _progress() as report:
            tables = module.tables(BenchOptions(used, quick, report))
        found += tables
        for table in tables if not as_json else ():  # at once: what comes later may fail
            _show(table, as_markdown)
    if as_json:
        print_json({"about": about, "quick": quick, "tables": [table.plain() for table in found]})
    if out is not None:  # last, so that no measurement is lost when it cannot be written
        _draw(next(table for table in found if table.name == "biases"), out)


def _show(table: Table, as_markdown: bool) -> None:
    header, rows = ["", *table.columns], table.as_text()
    if as_markdown:
        from locant.lab.report.rendering import markdown_table

        print("\n".join([f"\n### {table.title}\n", *markdown_table(header, rows)]))
        print(f"\n{table.note}" if table.note else "")
        return
    console = Console()
    console.print(f"\n[bold]{escape(table.title)}[/bold]", highlight=False)
    print_table(console, header, rows, min_text=MIN_TEXT_LENGTH)
    if table.note:
        console.print(table.note, style="dim", highlight=False)


def _check_picture(path: Path, chosen: list[str]) -> None:
    """Refuse a picture that cannot be drawn or written, before anything is measured."""
    from locant.figures.plots import FORMATS

    one_of("--out", "file type", path.suffix.lstrip("."), FORMATS)
    if "biases" not in chosen:
        raise ValueError(
            "--out draws how biases grow with length: measure that part too, as in\n"
            f"  locant bench biases --out {path}"
        )
    if not path.parent.is_dir():
        raise ValueError(
            f"--out {path}: there is no folder {path.parent}. Make it, or choose another path."
        )


def _draw(table: Table, path: Path) -> None:
    from locant.figures.plots import growth
    from locant.figures.plots.saving import save

    save(
        growth.draw(table.series, title="attention by length, forward + backward"),
        path,
        title="Time and memory of attention by length",
    )
    print_written(path)


def _cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    """Name the processor, where the system tells it, and whether it has AVX-512."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "unknown"
    facts = {}
    for line in lines:
        key, _, value = line.partition(":")
        facts[key.strip()] = value.strip()
    wide = "with" if "avx512f" in facts.get("flags", "") else "without"
    return f"{facts.get('model name', 'unknown')} {wide} AVX-512"


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Show on standard error what is being measured, and for how long."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda now: print(f"measuring {now}", file=sys.stderr, flush=True)
        return
    columns = (SpinnerColumn(), TextColumn("measuring {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("…", total=None)
        yield lambda now: bar.update(task, description=now)
