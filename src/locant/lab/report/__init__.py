"""What was measured, written for people to read. Takes plain values; imports no torch.

study_page         a study as Markdown, HTML or a folder: verdict, table, sections, pictures
conclusion         the verdict, which encoding to take, and what the controls show
score_table        the first table: scores, groups, costs; several studies side by side
learning_table     which entrants learned the task, how soon; another model, another search
longer_rows        scores past the trained length, of entrants that learned it
published          published values and statements, held against what was measured
search_audit       what the searches chose, and which failed
protocol           how the study was done
snippet            the Python that builds a model of the study again
study_pictures     every picture of a study; `score_pictures` makes those of scores
study_view         which entrants a picture draws, and how
export             JSON, CSV and Parquet; `tensorboard`, event files
certificate_pages  certificates as text, Markdown and HTML
rendering          what all pages share: means with intervals, Markdown tables, HTML templates
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from locant.lab.study_result import StudyResult


class _Callable(ModuleType):
    """This package can be called: `locant.lab.report("order")` reads a result again."""

    def __call__(
        self,
        *names: str | Path,
        store: str | Path | None = None,
        study: str | None = None,
        design: str | None = None,
    ) -> StudyResult:
        """Read a result from a store or a file of packed studies; the newest study by default.

        report("order", store="runs.sqlite")   as `compare` takes them
        report("runs.sqlite", "order")         the store first
        report("runs.sqlite")                  a file, or a name with a suffix, is a store
        report("order")                        any other name is a study in the default store
        """
        from locant.lab.store import STORE
        from locant.lab.study_result import read_result

        given = list(names)
        if store is None and given and (len(given) > 1 or _names_a_file(given[0])):
            store = given.pop(0)
        if study is None and given:
            study = str(given.pop(0))
        if given:
            raise ValueError(
                f"report takes a store and a study, each once. Got {', '.join(map(repr, names))} "
                f"beside store={store!r} and study={study!r}."
            )
        return read_result(STORE if store is None else store, study, design)


def _names_a_file(name: str | Path) -> bool:
    path = Path(name).expanduser()
    return bool(path.suffix) or path.is_file()


sys.modules[__name__].__class__ = _Callable
