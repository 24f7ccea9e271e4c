"""Compute runs on a Ray cluster. Workers only compute; the driver alone writes the store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from locant._internal.checks import how_to_install
from locant.lab.engine.attempt import RunFiles, attempt
from locant.lab.engine.local import TRIES
from locant.lab.training.config import RunConfig
from locant.lab.training.run_result import RunResult


def compute(
    runs: list[RunConfig],
    *,
    address: str | None = None,
    gpus_per_run: float = 0.0,
    files: RunFiles | None = None,
) -> Iterator[RunResult]:
    """Compute runs on the cluster at `address` and yield the result of each as it ends.

    Without an address Ray starts a new cluster on this machine. Ray tries a run again whose worker
    dies; then the run counts as failed. `files` are left on the machine that computes a run.
    """
    if not runs:
        return
    try:
        import ray
        from ray.exceptions import RayError
    except ModuleNotFoundError:
        raise ValueError(
            f"engine='ray' (--engine ray) needs Ray, which is not installed.{how_to_install('ray')}"
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
    options: dict[str, Any] = {"num_cpus": 1, "num_gpus": gpus_per_run, "max_retries": TRIES - 1}
    remote: Any = ray.remote(**options)(attempt)
    waiting: dict[Any, RunConfig] = {remote.remote(run, files): run for run in runs}
    try:
        while waiting:
            ready, _ = ray.wait(list(waiting), timeout=1.0)
            for reference in ready:
                run = waiting.pop(reference)
                try:
                    result = ray.get(reference)
                except RayError as problem:
                    first = str(problem).strip().splitlines()[0]
                    reason = f"{type(problem).__name__}: {first}"
                    result = RunResult.failed(run, f"its worker died {TRIES} times ({reason})")
                yield result
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)
