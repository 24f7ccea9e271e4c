"""`locant check`: certificates of encodings, ours or the user's own, and of whole models."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from locant._internal.checks import listed, whole_number
from locant._internal.files import check_file, unwritable, write_atomically
from locant._internal.workers import WorkerDied, call_all
from locant.cli._check_models import certify_model, model_calls
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
    config: Annotated[
        Path | None,
        typer.Option("--config", help="A model's config.json: small, with random weights."),
    ] = None,
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
    """Certify encodings, or a whole pretrained model: measure every property.

    Without names, all encodings are certified and one table is printed. Of a checkpoint (a folder
    with config.json and weights; a GGUF file; a RoBERTa of fairseq, .pt; a Llama of llama2.c, .bin)
    padding, packing, caches, far positions and bfloat16 are measured on the model itself. The exit
    status is 1 when a property fails.

    Examples:

      locant check --quick

      locant check rotary

      locant check rotary --set pairing=interleaved --set base=500

      locant check rotary --set scaling.type=yarn --set scaling.factor=4
      --set scaling.original_length=128

      locant check mine.py:Mine --only shift,cache --json

      locant check --html certificates.html

      locant check ./checkpoint

      locant check model.gguf --only left,packed,cached --json

      locant check --config config.json
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
    certify: dict[str, Any] = {
        "seed": seed,
        "only": None if only is None else listed("--only", only),
    }
    if quick or full:  # else the effort that `locant.certify` takes by itself
        certify["effort"] = "quick" if quick else "full"
    if html is not None:
        check_file("--html", html)
    make = {"dim": dim, "heads": heads, "length": length, **given}
    calls = model_calls(encodings or [], config, make, certify)
    if calls:
        papers = _certify_all(certify_model, calls, workers=1)
    else:
        calls = _encoding_calls(encodings or names(), make, certify)
        papers = _certify_all(certify_one, calls, workers or min(os.cpu_count() or 1, len(calls)))
    _print(papers, as_json=as_json, as_markdown=as_markdown)
    if html is not None:  # last, so that no certificate is lost when the page cannot be written
        _write_page(papers, html)
    if any(paper["fails"] for paper in papers):
        raise typer.Exit(1)


def _encoding_calls(
    encodings: list[str], make: dict[str, Any], certify: dict[str, Any]
) -> list[tuple[Any, ...]]:
    """Return a call for each encoding; refuse a wrong name or shape before anything runs."""
    chosen = list(dict.fromkeys(map(canonical, encodings)))
    for name in chosen:
        describe(name)
    Shape(make["dim"], make["heads"], make["length"])
    return [(name, make, certify) for name in chosen]


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


def _certify_all(
    certify: Callable[..., Paper], calls: list[tuple[Any, ...]], workers: int
) -> list[Paper]:
    """Certify each encoding or model, one at a time in each worker; keep the order of the calls."""
    papers: dict[int, Paper] = {}
    with _progress_bar(len(calls)) as advance:
        if workers == 1 or len(calls) == 1:
            for index, (name, *options) in enumerate(calls):
                papers[index] = certify(name, *options, _reporter(advance, name))
                advance(1, f"{Path(name).name} done")
        else:
            try:
                for index, paper in call_all(certify, calls, workers):
                    papers[index] = paper
                    advance(1, f"{Path(calls[index][0]).name} done")
            except WorkerDied:
                raise ValueError(
                    "a worker died (killed, or out of memory). Run it again with --workers 1."
                ) from None
    return [papers[index] for index in range(len(calls))]


def _reporter(advance: Callable[[int, str], None], name: str) -> Callable[[str], None]:
    """Return a function that shows which property is being measured; of a checkpoint's path the
    last part is enough, for a long one would hide the bar."""
    return lambda measured: advance(0, f"{Path(name).name}: {measured}")


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
