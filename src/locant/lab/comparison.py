"""The steps of a comparison: what is asked for, what is wrong with it, the runs, the result."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from locant.lab.binding import bind, check_device, check_study, use_nab_folder
from locant.lab.engine import local
from locant.lab.engine.attempt import RunFiles
from locant.lab.engine.driver import Compute, Driver, Watch
from locant.lab.progress import choose_display
from locant.lab.store.record import StudyRecord, read_record
from locant.lab.store.store import Store
from locant.lab.store.task_facts import TaskFacts
from locant.lab.study import Study
from locant.lab.study_files import change_study, read_studies

_state = threading.local()  # whether this thread is in a comparison


@contextmanager
def only_one() -> Iterator[None]:
    """Refuse a comparison inside another: a user's file that starts one when it is imported."""
    if getattr(_state, "comparing", False):
        raise ValueError(
            "a comparison was started inside another, by a file that calls compare when it is "
            'imported.\n  Put that call under: if __name__ == "__main__":'
        )
    _state.comparing = True
    try:
        yield
    finally:
        _state.comparing = False


def requested_studies(
    study: str | Path | Study, *, quick: bool, design: str | None, changes: dict[str, Any]
) -> list[Study]:
    """Read the studies behind a name or a path, or change a Study; one for each part."""
    if not isinstance(study, Study):
        return read_studies(str(study), quick=quick, design=design, changes=changes)
    if quick or design is not None:
        raise ValueError(
            "quick and design are versions that a study's file offers, and this Study has none.\n"
            '  Change its fields instead: changes={"training.steps": 100}'
        )
    return [change_study(study, changes)]


def bound_studies(studies: list[Study], nab: str | Path | None) -> list[tuple[Study, TaskFacts]]:
    """Bind studies to their data; whatever is wrong in the last is found before the first
    trains."""
    for device in {study.device for study in studies} - {"cpu"}:
        check_device(device)
    if nab is not None:
        use_nab_folder(Path(nab), studies)
    bound = [bind(study) for study in studies]
    return [(study, check_study(study)) for study in bound]


def engine_of(
    engine: str, *, workers: int, address: str | None, gpus_per_run: float, files: RunFiles
) -> Compute:
    """Return what computes the runs of a study."""
    if engine == "ray":
        from locant.lab.engine import ray

        return partial(ray.compute, address=address, gpus_per_run=gpus_per_run, files=files)
    return partial(local.compute, workers=workers or os.cpu_count() or 1, files=files)


def watch_of(progress: Any) -> Watch:
    """Return what hears of the progress: a display, nothing, or the user's own object."""
    if isinstance(progress, bool):
        return choose_display() if progress else Watch()
    if isinstance(progress, Watch):
        return progress
    if not callable(getattr(progress, "planned", None)) or not callable(
        getattr(progress, "ended", None)
    ):
        raise ValueError(
            "progress is True, False, or an object with planned(phase, runs, known) and "
            f"ended(run, result). Got {progress!r}."
        )
    watch = Watch()
    for name in ("begun", "planned", "ended", "finished", "close"):
        if hasattr(progress, name):
            setattr(watch, name, getattr(progress, name))
    return watch


def finish_study(
    driver: Driver, store: Store, task: TaskFacts, command: str, watch: Watch
) -> StudyRecord:
    """Bring one study to its end; Ctrl-C keeps every finished run and says how to go on."""
    try:
        study_id = driver.finish(task, command)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"Stopped. Every finished run is kept in {store.path}; the same command goes on from "
            "here."
        ) from None
    finally:
        watch.close()
    watch.finished(study_id)
    return read_record(store, study_id)
