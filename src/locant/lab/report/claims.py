"""Published claims and what was measured: holds, does not hold, or cannot be told; with few seeds, where it points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from locant.lab.report.details import with_half
from locant.lab.statistics.paired import interval
from locant.lab.statistics.verdict import FEWEST
from locant.lab.store.record import StudyRecord
from locant.lab.study import Claim


class Answer(NamedTuple):
    """A claim, what was published, what was measured, and what follows."""

    claim: str
    published: str
    measured: str
    answer: str


def answers(record: StudyRecord) -> list[Answer]:
    """Every claim of a study, judged by a 95 % interval over seeds."""
    rows = {row.name: row for row in record.rows if not row.failures}
    out = []
    for fields in record.study.get("claims", []):
        claim = Claim(**fields)
        needed = [claim.row] + ([claim.against] if claim.against else [])
        if all(name in rows and len(rows[name].scores(claim.metric)) for name in needed):
            values = rows[claim.row].scores(claim.metric)
            if claim.against:
                values = values - rows[claim.against].scores(claim.metric)
            measured = f"{claim.metric} of {claim.row}{f' minus {claim.against}' if claim.against else ''}: {with_half(values)}"
            out.append(
                Answer(
                    claim.claim,
                    claim.published,
                    measured,
                    judged(values, *claim.bound(), record.unit),
                )
            )
        else:
            out.append(Answer(claim.claim, claim.published, "not run", "cannot be told"))
    return out


def judged(values: np.ndarray, bound: float, side: int, unit: str = "seeds") -> str:
    """Whether values lie on a side of a bound, by their interval; with too few for a claim, where the interval points.

    >>> many = np.linspace(0.0, 0.01, 6)
    >>> judged(0.9 + many, 0.5, 1), judged(0.2 + many, 0.5, 1), judged(0.495 + many, 0.5, 1)
    ('holds', 'does not hold', 'cannot be told')
    >>> judged(0.9 + many[:3], 0.5, 1), judged(0.2 + many[:3], 0.5, 1)
    ('points that way (3 seeds: no claim)', 'points the other way (3 seeds: no claim)')
    >>> judged(np.array([0.2, 0.9]), 0.5, 1), judged(np.array([0.9]), 0.5, 1)
    ('stays open', 'stays open')
    """
    low, high = interval(values)
    few = f" ({len(values)} {unit}: no claim)" if len(values) < FEWEST else ""
    if (low > bound and side > 0) or (high < bound and side < 0):
        return f"points that way{few}" if few else "holds"
    if (high <= bound and side > 0) or (low >= bound and side < 0):
        return f"points the other way{few}" if few else "does not hold"
    return "stays open" if few else "cannot be told"
