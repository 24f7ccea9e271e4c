"""The first table of a study: every entrant's score, its rank among encodings, and its cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from locant._internal.text import number_text, plus_minus
from locant.lab.report.learning_table import count_learned, measures_learning
from locant.lab.report.rendering import Table, mean_text
from locant.lab.report.search_audit import failed_searches
from locant.lab.statistics.paired import holm
from locant.lab.statistics.ranking import ALPHA, RankedEntrant, Ranking, rank
from locant.lab.statistics.verdict import MIN_SEEDS
from locant.lab.store.record import EntrantRecord, StudyRecord

LEGEND = (
    "k/n: runs that learned the task; (1): cannot be distinguished from the leading encoding of "
    "the study, (2): from the best of the rest, and so on"
)
MIN_PAIRED_ENCODINGS = 3  # fewer need no table of pairs


def rank_entrants(record: StudyRecord) -> Ranking | None:
    """Rank every entrant in which no run failed; None when there is none."""
    scores = record.complete
    if not scores:
        return None
    references = [*record.controls, *record.settings.baselines]
    better = record.facts.higher_is_better
    return rank(scores, references=references, higher_is_better=better)


def honest_baselines(record: StudyRecord) -> list[str]:
    """List the baselines; one that knows the answer (an oracle) is not a method."""
    baselines = record.settings.baselines
    return [name for name in baselines if name not in record.facts.oracles]


def ranked_encodings(ranking: Ranking) -> list[RankedEntrant]:
    """List the encodings, best first: neither controls nor baselines nor oracles."""
    return [entrant for entrant in ranking.entrants if entrant.group]


@dataclass(frozen=True)
class Score:
    """One entrant of the first table; numbers that are not known are None.

    low, high      the 95 % interval of the mean
    group          1 for encodings that cannot be distinguished from the leading one, and so on
    learned        the share of runs that learned the task
    against_none   the mean difference to none with its interval, its p and its p after Holm
    """

    name: str
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    group: int | None = None
    search_failed: bool | None = None
    learned: float | None = None
    against_none: float | None = None
    against_none_low: float | None = None
    against_none_high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    parameters: float | None = None
    ms_a_step: float | None = None
    megabytes: float | None = None
    seeds: int = 0
    failed: int = 0
    rate: float | None = None
    positional_rate: float | None = None

    def to_dict(self, metric: str) -> dict[str, Any]:
        """Return the fields under the names that JSON and CSV files give them."""
        return {metric if name == "mean" else name: value for name, value in asdict(self).items()}


def scores(record: StudyRecord) -> list[Score]:
    """List the entrants, best first; those with failed runs come last, without a score."""
    entrants = {entrant.name: entrant for entrant in record.entrants}
    ranking = rank_entrants(record)
    listed = []
    if ranking is not None:
        p_holm = _p_against_none(ranking)
        failed = failed_searches(record)
        for ranked in ranking.entrants:
            entrant = entrants[ranked.name]
            listed.append(_score(ranked, entrant, record, ranking, p_holm, failed))
    for entrant in record.entrants:
        if entrant.failures:
            finished = len(entrant.scores(record.facts.metric))
            listed.append(Score(entrant.name, seeds=finished, failed=len(entrant.failures)))
    return listed


def _score(
    ranked: RankedEntrant,
    entrant: EntrantRecord,
    record: StudyRecord,
    ranking: Ranking,
    p_holm: dict[str, float],
    failed: list[str],
) -> Score:
    against_none: dict[str, Any] = {}
    if ranked.name in p_holm:
        difference, p = ranking.difference(ranked.name, "none")
        against_none = {
            "against_none": difference.mean,
            "against_none_low": _finite(difference.low),
            "against_none_high": _finite(difference.high),
            "p": p,
            "p_holm": p_holm[ranked.name],
        }
    counts = count_learned(entrant, record)
    cost = entrant.cost
    seconds = cost.get("seconds_a_step")
    rate, positional_rate = entrant.common
    return Score(
        name=ranked.name,
        mean=ranked.mean,
        low=_finite(ranked.low),
        high=_finite(ranked.high),
        group=None if ranked.name in failed else ranked.group or None,
        search_failed=ranked.name in failed,
        learned=None if counts is None else counts[0] / counts[1],
        **against_none,
        parameters=cost.get("parameters"),
        ms_a_step=None if seconds is None else 1000 * seconds,
        megabytes=cost.get("peak_megabytes"),
        seeds=len(ranked.scores),
        rate=rate,
        positional_rate=positional_rate,
    )


def _finite(value: float) -> float | None:
    """Return None for an infinite end of an interval, which JSON cannot hold."""
    return value if np.isfinite(value) else None


def _p_against_none(ranking: Ranking) -> dict[str, float]:
    """Compute the p of every entrant against none alone, corrected by Holm."""
    names = [entrant.name for entrant in ranking.entrants]
    if "none" not in names:
        return {}
    others = [name for name in names if name != "none"]
    ps = holm([ranking.difference(name, "none")[0].p for name in others])
    return dict(zip(others, ps, strict=True))


def header(record: StudyRecord) -> list[str]:
    """Name the columns of the first table."""
    columns = ["", "learned"] if measures_learning(record) else [""]
    columns += [record.facts.metric, "group", "against none", "p"]
    return [*columns, "params", "ms/step", "MB", record.unit]


def cells(score: Score, record: StudyRecord) -> list[str]:
    """Write one entrant of the first table as text, under `header`."""
    columns = len(header(record))
    if score.failed:
        count = f"{score.seeds} ({score.failed} failed)"
        return [score.name, *[""] * (columns - 2), count]
    line = [score.name]
    if measures_learning(record):
        learned = score.learned
        line.append("" if learned is None else f"{learned * score.seeds:.0f} of {score.seeds}")
    group = "search failed" if score.search_failed else number_text(score.group, "count")
    gap_half = _half(score.against_none_low, score.against_none_high)
    return [
        *line,
        plus_minus(score.mean, _half(score.low, score.high), "fixed"),
        group,
        plus_minus(score.against_none, gap_half, "signed", half_style="fixed"),
        number_text(score.p, "fixed"),
        number_text(score.parameters, "count"),
        number_text(score.ms_a_step, "fixed", 1),
        number_text(score.megabytes, "fixed", 0),
        str(score.seeds),
    ]


def _half(low: float | None, high: float | None) -> float | None:
    return None if low is None or high is None else (high - low) / 2


def text_table(record: StudyRecord) -> Table:
    """Write the first table as text."""
    return header(record), [cells(score, record) for score in scores(record)]


def table_note(record: StudyRecord) -> str:
    """Say what the columns of the first table mean."""
    learned = ""
    if measures_learning(record):
        learned = f"learned: runs that reached {record.facts.threshold:g} in validation; "
    return (
        f"{learned}group: an encoding cannot be distinguished from the best of its group (sign "
        f"flips paired by {record.one}, corrected over all pairs of encodings); ± is half a 95 % t "
        "interval; p is against none, corrected over the entrants; ms/step is the time of training "
        "alone (CPU time on a CPU)"
    )


def pairs_table(record: StudyRecord) -> Table | None:
    """Show row minus column for every pair of encodings, with a star where they differ."""
    ranking = rank_entrants(record)
    if ranking is None or ranking.seeds < MIN_SEEDS:
        return None
    names = [entrant.name for entrant in ranked_encodings(ranking)]
    if len(names) < MIN_PAIRED_ENCODINGS:
        return None
    lines = []
    for index, first in enumerate(names[:-1]):
        line = [first, *[""] * index]
        for second in names[index + 1 :]:
            difference, p = ranking.difference(first, second)
            line.append(f"{number_text(difference.mean, 'signed')}{'*' if p < ALPHA else ''}")
        lines.append(line)
    return ["row minus column", *names[1:]], lines


def side_by_side(records: list[StudyRecord]) -> Table:
    """Put several studies into one table: a line for each entrant, a column for each study."""
    names: dict[str, None] = {}
    for record in records:
        names |= dict.fromkeys(entrant.name for entrant in record.entrants)
    columns = [_study_column(record) for record in records]
    lines = [[name, *[column.get(name, "") for column in columns]] for name in names]
    return ["", *[record.settings.name for record in records]], lines


def _study_column(record: StudyRecord) -> dict[str, str]:
    """Write for every entrant how many runs learned the task, its mean and its group."""
    ranking, metric = rank_entrants(record), record.facts.metric
    groups = {one.name: one.group for one in ranking.entrants} if ranking else {}
    failed = failed_searches(record)
    column = {}
    for entrant in record.entrants:
        if entrant.failures:
            column[entrant.name] = f"{len(entrant.failures)} failed"
            continue
        parts = []
        counts = count_learned(entrant, record)
        if counts:
            parts.append(f"{counts[0]}/{counts[1]}")
        parts.append(mean_text(entrant.scores(metric)))
        if groups.get(entrant.name):
            group = "search failed" if entrant.name in failed else groups[entrant.name]
            parts.append(f"({group})")
        column[entrant.name] = " ".join(parts)
    return column
