"""`locant bench`: ours, the peers that are installed and the machine's limits, as ratios in one run."""

from __future__ import annotations

import json
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
from locant.bench.asked import Asked
from locant.cli._output import print_table

WORDY = 40  # characters; a ratio with its spread and megabytes is no sentence

if TYPE_CHECKING:
    from locant.bench.table import Table


def bench(
    parts: Annotated[
        list[str] | None, typer.Argument(help=f"Some of {', '.join(PARTS)}; all by default.")
    ] = None,
    threads: Annotated[
        int,
        typer.Option(
            help="Threads of biases, decoding and step, workers of the sweep; one a core by default."
        ),
    ] = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="Short lengths, to see that it works; not to be quoted.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    picture: Annotated[
        Path | None, typer.Option(help="Draw time and memory by length (PNG, SVG, PDF): biases.")
    ] = None,
) -> None:
    """Measure: rotation, biases, memory, decoding, a training step, the published studies' steps, the sweep.

    Everything is a ratio within one run, by turns with what it is compared with, medians with their spread; a ratio that
    varies too much is not told. Leave the machine alone meanwhile. All of it takes about forty minutes.

    Examples:

      locant bench

      locant bench rotation biases --markdown > speed.md

      locant bench biases --picture growth.png

      locant bench --quick --json
    """
    chosen = [one_of("bench", "part", part, PARTS) for part in parts or PARTS]
    if threads < 0:
        raise ValueError(
            f"--threads {threads} is not a number of threads: give 1 or more, or leave it out."
        )
    if picture is not None:
        _check_picture(picture, chosen)
    used = threads or _cores()
    about = {
        "date": str(date.today()),
        "torch": version("torch"),
        "CPU": _processor(),
        "threads": used,
    }
    found: list[Table] = []
    if not as_json:
        print(
            ", ".join(f"{key} {value}" for key, value in about.items())
            + (", quick: not to be quoted" * quick)
        )
    for part in chosen:
        with _progress() as tell:
            some = import_module(f"locant.bench.{part}").tables(Asked(used, quick, tell))
        found += some
        for table in some if not as_json else ():  # at once: what comes later may fail
            _show(table, as_markdown)
    if as_json:
        tables = [table.plain() for table in found]
        print(
            json.dumps(
                {"about": about, "quick": quick, "tables": tables}, indent=2, ensure_ascii=False
            )
        )
    if picture is not None:  # last, so that nothing measured is lost when it cannot be written
        _draw(next(table for table in found if table.name == "biases"), picture)


def _show(table: Table, as_markdown: bool) -> None:
    heads, rows = ["", *table.heads], table.told()
    if as_markdown:
        from locant.lab.report.study import markdown_table

        print("\n".join([f"\n### {table.title}\n", *markdown_table(heads, rows)]))
        print(f"\n{table.note}" if table.note else "")
        return
    console = Console()
    console.print(f"\n[bold]{escape(table.title)}[/bold]", highlight=False)
    print_table(console, heads, rows, min_text=WORDY)
    if table.note:
        console.print(table.note, style="dim", highlight=False)


def _check_picture(path: Path, chosen: list[str]) -> None:
    """What cannot be drawn is told before anything is measured."""
    from locant.figures.plots import FORMATS

    one_of("--picture", "ending", path.suffix.lstrip("."), FORMATS)
    if "biases" not in chosen:
        raise ValueError(
            "--picture draws how biases grow with length: ask for that part too, as in\n  locant bench biases"
        )
    if not path.parent.is_dir():
        raise ValueError(
            f"--picture {path}: there is no folder {path.parent}. Make it, or give another place."
        )


def _draw(table: Table, path: Path) -> None:
    from locant.figures.plots import growth
    from locant.figures.plots.saving import save

    save(
        growth.draw(table.series, title="attention by length, forward + backward"),
        path,
        title="Time and memory of attention by length",
    )
    print(f"wrote {path}", file=sys.stderr)


def _cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    """The name of the processor, where the system tells it, and whether it has wide vectors."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "unknown"
    told = dict(line.split(":", 1) for line in lines if ":" in line)
    facts = {key.strip(): value.strip() for key, value in told.items()}
    wide = "with" if "avx512f" in facts.get("flags", "") else "without"
    return f"{facts.get('model name', 'unknown')} {wide} AVX-512"


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A line on stderr that says what is being measured, and for how long."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda now: print(f"measuring {now}", file=sys.stderr, flush=True)
        return
    columns = (SpinnerColumn(), TextColumn("measuring {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("…", total=None)
        yield lambda now: bar.update(task, description=now)
