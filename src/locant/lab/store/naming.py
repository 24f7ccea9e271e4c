"""The plain methods of a study under the names that people read; a store and a study's file hold their identifiers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from locant.anomaly.baselines import shown

if TYPE_CHECKING:
    from locant.lab.store.record import StudyRecord


def for_people(record: StudyRecord) -> StudyRecord:
    """The record with `sub_pca` called sub-pca wherever it is named; no other row is called otherwise."""
    plain = set(record.study.get("baselines", ()))

    def called(name: str) -> str:
        return shown(name) if name in plain else name

    facts = {**record.facts, "oracles": [called(name) for name in record.facts.get("oracles", ())]}
    rows = [replace(row, name=called(row.name)) for row in record.rows]
    return replace(record, study=_study(record.study, called), facts=facts, rows=rows)


def _study(study: dict[str, Any], called: Callable[[str], str]) -> dict[str, Any]:
    named = {"baselines": [called(name) for name in study.get("baselines", ())]}
    published = {called(row): values for row, values in study.get("published", {}).items()}
    claims = [
        {**claim, "row": called(claim["row"]), "against": called(claim["against"])}
        for claim in study.get("claims", ())
    ]
    return {**study, **named, "published": published, "claims": claims}
