"""`locant check`: certificates of encodings, ours or the user's own."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from locant._internal.checks import listed, whole_number
from locant._internal.files import check_file, unwritable, write_atomically
from locant._internal.workers import WorkerDied, call_all
from locant.cli._options import (
    DimOption,
    EncodingsArgument,
    HeadsOption,
    HtmlOption,
    JsonOption,
    LengthOption,
    MarkdownOption,
    SeedOption,
    SetOption,
    WorkersOption,
    encoding_options,
)
from locant.cli._output import print_json, print_written
from locant.encodings.registry import canonical, describe, names
from locant.shapes import Shape

Paper = dict[str, Any]


def check(
    encodings: EncodingsArgument = None,
    options: SetOption = None,
    dim: DimOption = 64,
    heads: HeadsOption = 4,
    length: LengthOption = 512,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer seeds, short training, no graph capture.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="More seeds, longer training.")] = False,
    seed: SeedOption = 0,
    only: Annotated[
        str | None, typer.Option(help="Some properties by name, separated by commas.")
    ] = None,
    workers: WorkersOption = 0,
    as_json: JsonOption = False,
    as_markdown: MarkdownOption = False,
    html: HtmlOption = None,
) -> None:
    """Certify encodings: measure every property, and compare it with what the encoding claims.

    Without names, all encodings are certified and one table is printed. The exit status is 1 when a
    claim fails.

    Examples:

      locant check --quick

      locant check rotary

      locant check rotary --set pairing=interleaved --set base=500

      locant check rotary --set scaling.type=yarn --set scaling.factor=4
      --set scaling.original_length=128

      locant check mine.py:Mine --only shift,cache --json

      locant check --html certificates.html
    """
    if quick and full:
        raise ValueError(
            "--quick and --full exclude each other: give one, or none for the usual effort."
        )
    whole_number("check", "--workers", workers, least=0)
    given = encoding_options(options)
    if given and not encodings:
        raise ValueError(
            "--set changes an option of the encodings that you name, as in\n"
            "  locant check rotary --set base=500"
        )
    chosen = list(dict.fromkeys(map(canonical, encodings or names())))
    for name in chosen:
        describe(name)  # refuse a wrong name before anything runs
    Shape(dim, heads, length)
    if html is not None:
        check_file("--html", html)
    effort = "full" if full else "usual"
    make = {"dim": dim, "heads": heads, "length": length, **given}
    certify = {
        "effort": "quick" if quick else effort,
        "seed": seed,
        "only": None if only is None else listed("--only", only),
    }
    calls = [(name, make, certify) for name in chosen]
    papers = _certify_all(calls, workers or min(os.cpu_count() or 1, len(chosen)))
    _print(papers, as_json=as_json, as_markdown=as_markdown)
    if html is not None:  # last, so that no certificate is lost when the page cannot be written
        _write_page(papers, html)
    if any(paper["fails"] for paper in papers):
        raise typer.Exit(1)


def _print(papers: list[Paper], *, as_json: bool, as_markdown: bool) -> None:
    from locant.lab.report import certificate_pages as certificates

    if as_json:
        print_json(papers)
    elif as_markdown:
        print(certificates.markdown(papers))
    elif len(papers) == 1:
        print(certificates.full_text(papers[0], min(Console().width, 120)))
    else:
        print(certificates.matrix_text(papers, max(Console().width, 100)))


def _write_page(papers: list[Paper], html: Any) -> None:
    from locant.lab.report import certificate_pages as certificates

    try:
        with write_atomically(html) as partial:
            partial.write_text(certificates.html(papers), encoding="utf-8")
    except OSError as problem:
        raise unwritable("--html", html, problem) from None
    print_written(html)


def _certify_all(calls: list[tuple[Any, ...]], workers: int) -> list[Paper]:
    """Certify each encoding, one encoding at a time in each worker; keep the order of the calls."""
    papers: dict[int, Paper] = {}
    with _progress_bar(len(calls)) as advance:
        if workers == 1 or len(calls) == 1:
            for index, (name, make, certify) in enumerate(calls):
                papers[index] = certify_one(name, make, certify, _reporter(advance, name))
                advance(1, f"{name} done")
        else:
            try:
                for index, paper in call_all(certify_one, calls, workers):
                    papers[index] = paper
                    advance(1, f"{calls[index][0]} done")
            except WorkerDied:
                raise ValueError(
                    "a worker died (killed, or out of memory). Run it again with --workers 1."
                ) from None
    return [papers[index] for index in range(len(calls))]


def _reporter(advance: Callable[[int, str], None], name: str) -> Callable[[str], None]:
    """Return a function that shows which property of an encoding is being measured."""
    return lambda measured: advance(0, f"{name}: {measured}")


@contextmanager
def _progress_bar(total: int) -> Iterator[Callable[[int, str], None]]:
    """Show a bar on standard error when it is a terminal; yield a function that moves it."""
    console = Console(stderr=True)
    columns = (
        TextColumn("certifying"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total)
        yield lambda steps, text: bar.update(task, advance=steps, description=text)


def certify_one(
    name: str,
    make_options: dict[str, Any],
    certify_options: dict[str, Any],
    progress: Callable[[str], None] | None = None,
) -> Paper:
    """Build one encoding and certify it; runs in a worker process too."""
    import torch

    from locant.certification.certificate import certify
    from locant.certification.probe import seeded
    from locant.encodings.registry import make

    torch.set_num_threads(1)
    with redirect_stdout(sys.stderr):  # a user's file may print; stdout holds the certificate alone
        with seeded(certify_options["seed"]):
            encoding = make(name, **make_options)
        return certify(encoding, name=name, progress=progress, **certify_options).to_dict()
