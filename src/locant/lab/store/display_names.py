"""Show the baselines of a study under the names that people read; a store holds identifiers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from locant.anomaly.baselines import shown

if TYPE_CHECKING:
    from locant.lab.store.record import StudyRecord


def with_display_names(record: StudyRecord) -> StudyRecord:
    """Return the record with `sub_pca` called sub-pca wherever it is named; other names stay."""
    study = record.settings
    baselines = set(study.baselines)

    def called(name: str) -> str:
        return shown(name) if name in baselines else name

    claims = []
    for claim in study.claims:
        names = {"row": called(claim.row), "against": called(claim.against)}
        claims.append(claim.model_copy(update=names))
    settings = study.model_copy(
        update={
            "baselines": [called(name) for name in study.baselines],
            "published": {called(name): values for name, values in study.published.items()},
            "claims": claims,
        }
    )
    facts = replace(record.facts, oracles=tuple(called(name) for name in record.facts.oracles))
    entrants = [replace(entrant, name=called(entrant.name)) for entrant in record.entrants]
    return replace(record, settings=settings, facts=facts, entrants=entrants)
