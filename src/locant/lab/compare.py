"""The laboratory's Python door: compare encodings, and get a result that shows itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from locant._internal.checks import one_of, whole_number
from locant.lab.store import STORE

if TYPE_CHECKING:
    from locant.lab.study import Study
    from locant.lab.study_result import StudyResult

NAB_STUDY = "real-anomalies"


def compare(
    study: str | Path | Study | None = None,
    *,
    encodings: Sequence[Any] | str | None = None,
    seeds: int | Sequence[int] | str | None = None,
    quick: bool = False,
    design: str | None = None,
    device: str | None = None,
    changes: Mapping[str, Any] | None = None,
    data: Any = None,
    objective: str | None = None,
    train_length: int | None = None,
    test_lengths: Sequence[int] | None = None,
    time: str | None = None,
    columns: Sequence[str] | None = None,
    nab: str | Path | None = None,
    store: str | Path = STORE,
    workers: int = 0,
    engine: str = "local",
    address: str | None = None,
    gpus_per_run: float = 0.0,
    any_code: bool = False,
    retry_failed: bool = False,
    progress: Any = True,
    command: str | None = None,
) -> StudyResult:
    """Compare encodings over paired seeds, with controls, and return verdict, table and runs.

    study         a name such as "order", the path of a .toml file, or a `locant.lab.Study`
    encodings     names, classes (each in a file), or tables with name, encoding and options
    seeds         how many, or which; a claim needs 10
    quick         the study's short version; design: variations that it offers, such as "full"
    changes       any other field of the study: {"training.steps": 100}
    data          your own data instead of a study: a path, a polars or pandas frame, an array;
                  then objective ("masked", "forecast" or "text"), train_length, test_lengths
                  (text), time and columns (series) say how it is used
    nab           the folder of real series that real-anomalies needs
    store         the SQLite file that keeps every run: the same call again trains nothing
    workers       processes, one per core by default; engine="ray" uses a cluster at `address`
    any_code      accept runs that older code left; retry_failed: try failed runs again
    progress      True (a bar), False, or an object with planned(…) and ended(…) as `Watch` has
    command       what the record says it was made by; this call by default

    Ctrl-C keeps every finished run; the same call goes on from there. In a notebook the bar is live
    and the result shows itself as a page; a class of your own must stand in a file (%%writefile
    mine.py), because worker processes import it.
    """
    from locant.lab import comparison
    from locant.lab.engine.attempt import RunFiles
    from locant.lab.engine.driver import Driver
    from locant.lab.own_data import data_file, own_study
    from locant.lab.own_encodings import entrant
    from locant.lab.store.store import Store
    from locant.lab.study_result import StudyResult

    store = Path(store).expanduser()
    one_of("compare", "engine", engine, ("local", "ray"))
    if engine == "local" and (address is not None or gpus_per_run):
        raise ValueError(
            "address and gpus_per_run are for a Ray cluster: give engine='ray', or leave them out."
        )
    if encodings is not None and not len(encodings):
        raise ValueError("compare was given no encodings. Leave them out for the study's own.")
    if isinstance(seeds, float):
        raise ValueError(f"seeds are a whole number or a list of them. Got {seeds!r} instead.")
    whole_number("compare", "workers", workers, least=0)
    if store.suffix == ".gz":
        raise ValueError(
            f"{store} would be a packed file, which takes no more runs. "
            "Give the store a name such as runs.sqlite."
        )
    of_data = {
        "objective": objective,
        "train_length": train_length,
        "test_lengths": test_lengths,
        "time": time,
        "columns": columns,
    }
    requested: dict[str, Any] = {}
    if data is not None:
        if study is not None:
            raise ValueError(
                f"data bring a study of their own: leave out {str(study)!r}, or leave out the data."
            )
        study, requested = own_study(
            data_file(data, store.parent / "data"),
            objective=objective,
            train_length=train_length,
            test_lengths=test_lengths,
            time=time,
            columns=columns,
        )
    elif given := [name for name, value in of_data.items() if value is not None]:
        raise ValueError(
            f"{', '.join(given)}: for your own data alone. Give data, or leave this out."
        )
    if study is None and nab is None:
        raise ValueError('name a study, such as compare("order"), or give data=…')
    study = NAB_STUDY if study is None else study
    requested |= changes or {}
    if encodings is not None:
        single = [encodings] if isinstance(encodings, str) and encodings != "all" else encodings
        requested["encodings"] = "all" if single == "all" else [entrant(one) for one in single]
    if seeds is not None:
        requested["seeds"] = seeds if isinstance(seeds, int | str) else list(seeds)
    if device is not None:
        requested["device"] = device
    if command is None:
        command = _call(study, requested, quick=quick, design=design)
    with comparison.only_one():
        studies = comparison.requested_studies(study, quick=quick, design=design, changes=requested)
        bound = comparison.bound_studies(studies, nab)
        watch = comparison.watch_of(progress)
        kept, records = Store(store), []
        for one, task in bound:
            files = RunFiles(str(store.resolve().parent / "files"), one.keep_files)
            compute = comparison.engine_of(
                engine, workers=workers, address=address, gpus_per_run=gpus_per_run, files=files
            )
            driver = Driver(one, kept, compute, any_code=any_code, retry=retry_failed, watch=watch)
            records.append(comparison.finish_study(driver, kept, task, command, watch))
    return StudyResult(records)


def _call(study: Any, changes: dict[str, Any], **more: Any) -> str:
    """Write the call as it is kept with the study.

    >>> _call("order", {"seeds": 3}, quick=True, design=None)
    "locant.lab.compare('order', changes={'seeds': 3}, quick=True)"
    """
    name = study if isinstance(study, str | Path) else study.name
    parts = [repr(str(name))]
    if changes:
        parts.append(f"changes={changes!r}")
    parts += [f"{key}={value!r}" for key, value in more.items() if value]
    return f"locant.lab.compare({', '.join(parts)})"
