"""What was measured, written for people to read. Takes plain values; needs no torch.

certificates   certificates as text, Markdown and HTML
study          a study's first table and verdict, and everything as Markdown; its parts: details, claims, controls, protocol
suite          several studies side by side
pictures       which pictures a study has (shown, picture, pictures_of_scores, pictures_of_runs make them)
page, folder   one HTML file; Markdown files with pictures (rendering: what all HTML shares)
tensorboard    event files
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
