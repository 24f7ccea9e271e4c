"""What was measured, written for people to read. Takes plain values; imports no torch.

study_page         a study as Markdown, HTML or a folder: verdict, table, sections, pictures
conclusion         the verdict, and which encoding to take
score_table        the first table: scores, groups, costs; several studies side by side
detail_tables      further measurements; tables as Markdown
learning_table     which entrants learned the task and how soon; does it survive another model?
published          published values and statements, held against what was measured
controls           what the controls show
search_audit       what the searches chose, and which failed
protocol           how the study was done
snippet            the Python that builds a model of the study again
study_view         which entrants a picture draws, and how
study_pictures     every picture of a study (score_pictures, run_pictures make them)
export             JSON, CSV and Parquet; `tensorboard`, event files
certificate_pages  certificates as text, Markdown and HTML; `rendering`, what all HTML shares
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from locant.lab.study_result import StudyResult


class _Callable(ModuleType):
    """This package can be called: `locant.lab.report(store, study)` reads a result again."""

    def __call__(self, store: str | Path, study: str | None = None) -> StudyResult:
        """Read a result from a store or a file of packed studies; the newest study by default."""
        from locant.lab.study_result import read_result

        return read_result(store, study)


sys.modules[__name__].__class__ = _Callable
