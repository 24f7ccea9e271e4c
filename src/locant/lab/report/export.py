"""A finished study for other programs: JSON, CSV and Parquet."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from locant._internal.files import write_atomically
from locant.lab.report.conclusion import conclusion
from locant.lab.report.score_table import scores
from locant.lab.store.record import StudyRecord


def to_dict(record: StudyRecord) -> dict[str, Any]:
    """Return a study as plain values, every seed's scores included."""
    table = scores(record)
    groups: dict[int, list[str]] = {}
    for score in table:
        if score.group is not None:
            groups.setdefault(score.group, []).append(score.name)
    entrants = []
    for entrant in record.entrants:
        entrants.append(
            {
                "name": entrant.name,
                "metrics": entrant.metrics,
                "cost": entrant.cost,
                "runs": entrant.digests,
                "failures": entrant.failures,
            }
        )
    return {
        "id": record.id,
        "command": record.command,
        "facts": record.facts.to_stored(),
        "study": record.settings.model_dump(exclude_unset=True, serialize_as_any=True),
        "verdict": conclusion(record),
        "groups": list(groups.values()),
        "table": [score.to_dict(record.facts.metric) for score in table],
        "rows": entrants,
    }


def to_csv(record: StudyRecord) -> str:
    """Write the first table of a study as CSV."""
    lines = [score.to_dict(record.facts.metric) for score in scores(record)]
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def write_parquet(record: StudyRecord, path: Path) -> None:
    """Write a Parquet file with one line for each run."""
    import polars

    lines = []
    for entrant in record.entrants:
        for seed, *values in zip(entrant.seeds, *entrant.metrics.values(), strict=True):
            metrics = dict(zip(entrant.metrics, values, strict=True))
            names = {"name": entrant.name, "encoding": entrant.encoding, "seed": seed}
            lines.append({**names, **metrics})
    file = io.BytesIO()  # polars' own errors of a full disk are no OSError
    polars.DataFrame(lines).write_parquet(file)
    with write_atomically(path) as partial:
        partial.write_bytes(file.getvalue())
