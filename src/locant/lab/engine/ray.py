"""The same runs on a Ray cluster. Workers only compute; the driver alone writes the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from locant._internal.checks import how_to_install
from locant.lab.engine.attempt import Done, Files, attempt
from locant.lab.engine.local import TRIES
from locant.lab.training.config import RunConfig


def compute(
    runs: list[RunConfig],
    *,
    address: str | None = None,
    gpus_per_run: float = 0.0,
    files: Files | None = None,
) -> Iterator[Done]:
    """Compute runs on the cluster at `address` (a new one on this machine by default); yield each as it ends.

    A run whose worker dies is tried again by Ray, then recorded as failed. `files` are left where a run is computed.
    """
    if not runs:
        return
    try:
        import ray
        from ray.exceptions import RayError
    except ModuleNotFoundError:
        raise ValueError(
            f"--engine ray needs Ray, which is not installed.{how_to_install('ray')}"
        ) from None
    if not ray.is_initialized():
        try:
            ray.init(
                address=address,
                log_to_driver=False,
                include_dashboard=False,
                configure_logging=False,
            )
        except ConnectionError as problem:
            raise ValueError(f"no Ray cluster answers at {address!r}: {problem}") from None
    remote = ray.remote(num_cpus=1, num_gpus=gpus_per_run, max_retries=TRIES - 1)(attempt)
    waiting: dict[Any, RunConfig] = {remote.remote(run.model_dump(), files): run for run in runs}
    try:
        while waiting:
            ready, _ = ray.wait(list(waiting), timeout=1.0)
            for reference in ready:
                run = waiting.pop(reference)
                try:
                    said = ray.get(reference)
                except RayError as problem:
                    first = str(problem).strip().splitlines()[0]
                    why = f"its worker died {TRIES} times ({type(problem).__name__}: {first})"
                    said = ({}, [], {}, why, {}, "")
                yield Done(run, *said)
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)
