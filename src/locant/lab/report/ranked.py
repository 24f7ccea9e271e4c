"""The rows of a study from best to worst, and which of them are encodings that compete."""

from __future__ import annotations

from locant.lab.statistics.ranking import Ranking, Row, rank
from locant.lab.store.record import StudyRecord


def ranked(record: StudyRecord) -> Ranking | None:
    """Every row in which no run failed; None when there is none."""
    scores = record.complete
    references = [*record.controls, *record.study.get("baselines", ())]
    better = record.facts["higher_is_better"]
    return rank(scores, references=references, higher_is_better=better) if scores else None


def plain(record: StudyRecord) -> list[str]:
    """The plain methods; those that know the answer are no methods."""
    return [
        name
        for name in record.study.get("baselines", ())
        if name not in record.facts.get("oracles", ())
    ]


def rivals(ranking: Ranking) -> list[Row]:
    """The encodings, best first: neither controls nor plain methods nor oracles."""
    return [row for row in ranking.rows if row.group]
