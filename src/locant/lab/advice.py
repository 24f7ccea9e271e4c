"""Advice: for each need the encodings in the best group of every study that asks it, and no more.

    locant.lab.advise("exact offset, long context")
    locant.lab.advise(data="load.csv")

Made of summaries of finished studies: those that come with locant (docs/make_choosing.py writes
them from the packed records), or those of a store. No torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from locant._internal.text import join_words, number_text, plus_minus
from locant.encodings.registry import names
from locant.lab.needs import NEEDS, find_needs

SUMMARIES = Path(__file__).parent / "report" / "summaries.json"
IRREGULAR = 0.1  # a share of uneven gaps from which times are worth telling
FEW_ROWS = 2000  # a series with fewer rows counts as small
Summary = Mapping[str, Any]


@dataclass(frozen=True)
class StudyAdvice:
    """What one study says: its best group, how surely, and what it leaves open.

    best      entries of the first group that are surely ahead of none, best first
    doubts    why it carries no conclusion; empty where it does
    """

    study: str
    metric: str
    seeds: int
    unit: str
    none: float | None
    best: list[dict[str, Any]]
    not_learned: list[str]
    doubts: list[str]
    unmeasured: list[str]

    def as_text(self) -> str:
        """Write the study's answer in one sentence or two."""
        where = f"{self.study} ({self.seeds} {self.unit}, {self.metric})"
        none = "" if self.none is None else f"; none has {number_text(self.none, 'share')}"
        if not self.best:
            text = f"{where}: no encoding is surely better than none{none}."
        else:
            listed = join_words([self._entry(one) for one in self.best])
            more = " cannot be distinguished" if len(self.best) > 1 else " leads alone"
            text = f"{where}: {listed}{more}{none}."
        if self.doubts:
            text += f" Not firm: {'; '.join(self.doubts)}."
        return text

    def _entry(self, one: Mapping[str, Any]) -> str:
        score = plus_minus(one["mean"], one["half"] or None, "share")
        learned = " (not learned by most of its runs)" * (one["name"] in self.not_learned)
        return f"{one['name']} {score}{learned}"


@dataclass(frozen=True)
class NeedAdvice:
    """The answers to one need, and the studies that have not been run."""

    need: str
    sentence: str
    answers: list[StudyAdvice]
    missing: list[str]
    besides: str = ""

    @property
    def unmeasured(self) -> list[str]:
        """The encodings that are in none of the studies that answer."""
        return in_no_study(self.answers)

    def lines(self) -> list[str]:
        """Write the need, its answers, and what has not been measured."""
        lines = [f"{self.need}: {self.sentence}"]
        lines += [f"  {answer.as_text()}" for answer in self.answers]
        if self.missing:
            lines.append(f"  Not measured yet: {', '.join(self.missing)}.")
        if not self.answers and not self.besides:
            lines.append("  No study has answered this: nothing can be advised.")
        if self.besides:
            lines.append(f"  {self.besides}")
        return lines


@dataclass(frozen=True)
class Advice:
    """Answers to all needs, and the encodings that are in the best group of each firm study."""

    needs: list[NeedAdvice]
    hints: list[str] = field(default_factory=list)

    @property
    def firm(self) -> list[StudyAdvice]:
        """The answers that carry a conclusion."""
        return [one for need in self.needs for one in need.answers if not one.doubts]

    @property
    def shared(self) -> list[str]:
        """The encodings in the best group of every firm study, in the order of the first."""
        if not self.firm or any(not one.best for one in self.firm):
            return []
        listed = [[entry["name"] for entry in one.best] for one in self.firm]
        return [name for name in listed[0] if all(name in some for some in listed)]

    def lines(self) -> list[str]:
        """Write everything for people: hints, needs, what is shared, what nobody measured."""
        lines = list(self.hints)
        for need in self.needs:
            lines += need.lines()
        studies = [one.study for one in self.firm]
        if len(studies) > 1:
            where = join_words(list(dict.fromkeys(studies)))
            together = ", ".join(self.shared)
            if together:
                lines.append(f"In the best group of {where}: {together}.")
            else:
                lines.append(f"No encoding is in the best group of all of {where}.")
        unmeasured = in_no_study(self.answers)
        if unmeasured:
            lines.append(f"Encodings in none of these studies: {', '.join(unmeasured)}.")
        if any(need.answers for need in self.needs):
            lines.append(
                "Small models, each on its own task: what holds for your data, only they can say: "
                "locant compare --data FILE"
            )
        return lines

    @property
    def answers(self) -> list[StudyAdvice]:
        """Every answer to every need."""
        return [one for need in self.needs for one in need.answers]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {**asdict(self), "shared": self.shared}

    def __str__(self) -> str:
        return "\n".join(self.lines())


def in_no_study(answers: Sequence[StudyAdvice]) -> list[str]:
    """List the encodings that no answer's study measured; nothing where there is no answer."""
    if not answers:
        return []
    known = [name for name in names() if name != "none"]
    return [name for name in known if all(name in one.unmeasured for one in answers)]


def advise(
    need: str | Sequence[str] | None = None,
    *,
    data: str | Path | None = None,
    store: str | Path | None = None,
) -> Advice:
    """Say which encodings fit a need, as far as finished studies allow.

    need   one or more of `locant.lab.needs.NEEDS`, with commas or as a list
    data   a file of series or text: the needs that it suggests
    store  take the studies of this store, or packed file, instead of those that come with locant
    """
    hints: list[str] = []
    wanted: list[str] = []
    if need is not None:
        wanted = find_needs(need if isinstance(need, str) else ",".join(need))
    if data is not None:
        suggested, hints = needs_of_file(Path(data).expanduser())
        wanted += [name for name in suggested if name not in wanted]
    if not wanted:
        raise ValueError(
            f"name a need, or give data.\n  Needs: {', '.join(NEEDS)}\n"
            '  Example: locant advise --need "exact offset, long context"'
        )
    summaries = read_summaries(store)
    return Advice([advise_need(name, summaries) for name in wanted], hints)


def advise_need(need: str, summaries: Mapping[str, Summary]) -> NeedAdvice:
    """Collect what finished studies say about one need."""
    entry = NEEDS[need]
    answers, missing = [], []
    for study in entry.studies:
        found = _answer(summaries[study], far=entry.far) if study in summaries else None
        if found is None:
            missing.append(study)
        else:
            answers.append(found)
    return NeedAdvice(need, entry.sentence, answers, missing, entry.besides)


def _answer(summary: Summary, *, far: bool) -> StudyAdvice | None:
    """Read one study's answer; None where it has no scores of the kind that is needed."""
    views = [view for view in summary["views"] if (view["length"] is not None) == far]
    if not views:
        return None
    view = views[0]
    best = []
    for entry in view["entries"]:
        if entry["group"] == 1 and entry["ahead_of_none"] is not False:
            best.append(entry)
    return StudyAdvice(
        study=summary["study"],
        metric=view["metric"],
        seeds=summary["seeds"],
        unit=summary["unit"],
        none=view["none"],
        best=best,
        not_learned=list(summary["not_learned"]),
        doubts=list(summary["doubts"]),
        unmeasured=[name for name in names() if name not in summary["encodings"]],
    )


def read_summaries(store: str | Path | None = None) -> dict[str, Summary]:
    """Read summaries by the name of their study: those that come with locant, or a store's."""
    if store is None:
        listed = json.loads(SUMMARIES.read_text(encoding="utf-8"))
        return {one["study"]: one for one in listed}
    from locant.lab.report.study_summary import summarize
    from locant.lab.store.open import open_store
    from locant.lab.store.record import read_record

    kept = open_store(Path(store).expanduser())
    known = {study for need in NEEDS.values() for study in need.studies}
    found = [entry.name for entry in kept.studies() if entry.name in known]
    return {name: summarize(read_record(kept, name)) for name in dict.fromkeys(found)}


def needs_of_file(path: Path) -> tuple[list[str], list[str]]:
    """Look at a file: the needs that it suggests, and why."""
    from locant.lab.own_data import objective_of

    if not path.exists():
        raise ValueError(f"{path} is not there. Give the path of a series or a text.")
    if objective_of(path) == "text":
        return ["real text"], [f"{path.name} is read as text."]
    from locant.anomaly.series import read_series

    summary = read_series(path).summary
    found, hints = ["real series"], [f"{path.name} is a series of {summary.rows:,} rows."]
    if summary.irregular is not None and summary.irregular >= IRREGULAR:
        found.append("irregular time")
        hints.append(
            f"{summary.irregular:.0%} of its steps are uneven: times may be worth telling."
        )
    if summary.rows < FEW_ROWS:
        found.append("small data")
        hints.append(f"Fewer than {FEW_ROWS:,} rows are little to learn from.")
    return found, hints
