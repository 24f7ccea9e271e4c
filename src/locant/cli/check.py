"""`locant check`: certificates of encodings, ours or the user's own."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, redirect_stdout
from multiprocessing import active_children, get_context, resource_tracker
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from locant._internal.files import check_file, unwritable, write_atomically
from locant.encodings.registry import canonical, describe, names
from locant.shapes import Shape


def check(
    encodings: Annotated[
        list[str] | None, typer.Argument(help="Names, or path.py:Class; all by default.")
    ] = None,
    dim: Annotated[int, typer.Option(help="Model width D.")] = 64,
    heads: Annotated[int, typer.Option(help="Number of heads H.")] = 4,
    length: Annotated[
        int, typer.Option(help="Length in positions that the encodings are made for.")
    ] = 512,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer seeds, short training, no graph capture.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="More seeds, longer training.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of everything that is drawn.")] = 0,
    only: Annotated[str | None, typer.Option(help="Some properties, by name, with commas.")] = None,
    workers: Annotated[int, typer.Option(help="Processes; one a core by default.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page that stands alone.")] = None,
) -> None:
    """Certify encodings: every property stated, measured, and held against what the encoding claims.

    Without names all encodings are certified and one matrix is printed. The exit status is 1 when a claim fails.

    Examples:

      locant check --quick

      locant check rotary

      locant check mine.py:Mine --only shift,cache --json

      locant check --html certificates.html
    """
    if quick and full:
        raise ValueError(
            "--quick and --full exclude each other: give one, or none for the usual effort."
        )
    chosen = list(dict.fromkeys(map(canonical, encodings or names())))
    for name in chosen:
        describe(name)  # a wrong name is told before anything runs
    Shape(dim, heads, length)
    if html is not None:
        check_file("--html", html)
    effort = "quick" if quick else "full" if full else "usual"
    request = {"dim": dim, "heads": heads, "length": length, "effort": effort, "seed": seed}
    request["only"] = only.replace(" ", "").split(",") if only else None
    papers = _certify_all(chosen, request, workers or min(os.cpu_count() or 1, len(chosen)))
    _tell(papers, as_json=as_json, as_markdown=as_markdown, html=html)
    if any(paper["fails"] for paper in papers):
        raise typer.Exit(1)


def _tell(
    papers: list[dict[str, Any]], *, as_json: bool, as_markdown: bool, html: Path | None
) -> None:
    from locant.lab.report import certificates

    if as_json:
        print(json.dumps(papers, indent=2, ensure_ascii=False))
    elif as_markdown:
        print(certificates.markdown(papers))
    elif len(papers) == 1:
        print(certificates.full_text(papers[0], min(Console().width, 120)))
    else:
        print(certificates.matrix_text(papers, max(Console().width, 100)))
    if html is not None:  # last, so that nothing measured is lost when it cannot be written
        try:
            with write_atomically(html) as partial:
                partial.write_text(certificates.html(papers), encoding="utf-8")
        except OSError as problem:
            raise unwritable("--html", html, problem) from None
        print(f"wrote {html}", file=sys.stderr)


def _certify_all(chosen: list[str], request: dict[str, Any], workers: int) -> list[dict[str, Any]]:
    """One process a core, one encoding a process; the results in the order asked for."""
    console = Console(stderr=True)
    columns = (
        TextColumn("certifying"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=len(chosen))
        if workers <= 1 or len(chosen) == 1:
            papers = []
            for name in chosen:
                papers.append(
                    _certify_one(
                        name,
                        request,
                        lambda now, name=name: bar.update(task, description=f"{name}: {now}"),
                    )
                )
                bar.advance(task)
            return papers
        pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
        try:
            with _deaf():
                jobs: dict[Future[dict[str, Any]], str] = {
                    pool.submit(_certify_one, name, request): name for name in chosen
                }
            done: dict[str, dict[str, Any]] = {}
            for job in as_completed(jobs):
                done[jobs[job]] = job.result()
                bar.update(task, advance=1, description=f"{jobs[job]} done")
        except BrokenProcessPool as problem:
            raise ValueError(
                "a worker died (killed, or out of memory). Run it again with --workers 1."
            ) from problem
        except BaseException:  # Ctrl-C, or one that cannot be made: nobody waits for the others
            for worker in active_children():
                worker.terminate()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return [done[name] for name in chosen]


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes started in here never hear Ctrl-C: the one that started them ends them, without a trace from each."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # its start would end the silence
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # held back, not lost
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _certify_one(name: str, request: dict[str, Any], progress: Any = None) -> dict[str, Any]:
    import torch

    from locant.certification.certificate import certify
    from locant.certification.probe import seeded
    from locant.encodings.registry import make

    torch.set_num_threads(1)
    settings = {key: request[key] for key in ("effort", "seed", "only")}
    with redirect_stdout(
        sys.stderr
    ):  # whatever a user's file prints, stdout holds the certificate alone
        with seeded(request["seed"]):
            encoding = make(
                name, dim=request["dim"], heads=request["heads"], length=request["length"]
            )
        return certify(encoding, name=name, progress=progress, **settings).to_dict()
