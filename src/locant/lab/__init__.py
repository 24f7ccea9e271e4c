"""The laboratory: honest comparisons of encodings.

compare     the Python door: `locant.lab.compare("order", encodings=["rotary", "alibi"])`
study       what is compared; `studies`, those that come with locant, as TOML files
tasks       on what is compared; `training`, how a run is trained
engine      runs of a study, on local cores or by Ray; `store`, the file that keeps them
statistics  verdicts; `report`, how they are written for people

`locant.lab.report("order", store=…)` reads a result again; `locant.lab.runs(store)` lists what
is kept; `locant.lab.advise("exact offset")` says what finished studies allow to advise. Names load
when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from locant.lab import report
from locant.lab.compare import compare

if TYPE_CHECKING:
    from locant.lab.advice import Advice, advise
    from locant.lab.engine.driver import Watch
    from locant.lab.study import Study
    from locant.lab.study_files import read_study, study_names
    from locant.lab.study_result import StudyResult, runs

__all__ = ["Advice", "Study", "StudyResult", "Watch", "advise", "compare", "read_study", "report"]
__all__ += ["runs", "study_names"]

_HOME = {
    "Advice": "locant.lab.advice",
    "advise": "locant.lab.advice",
    "Study": "locant.lab.study",
    "StudyResult": "locant.lab.study_result",
    "Watch": "locant.lab.engine.driver",
    "runs": "locant.lab.study_result",
    "read_study": "locant.lab.study_files",
    "study_names": "locant.lab.study_files",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"locant.lab has no name {name!r}. It has: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
