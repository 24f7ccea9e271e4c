"""What the controls of a study show, in sentences."""

from __future__ import annotations

import numpy as np

from locant.results.record import StudyRecord
from locant.statistics.paired import compare, interval
from locant.statistics.verdict import FEWEST, short

SURE = 0.999  # the interval that must lie above a ceiling before anything is said to leak
ODDS = 40  # one control in so many has a 95 % interval above what it truly is
SMALL = 0.2  # a share of the largest gain below which a control counts as level with none


def told(record: StudyRecord) -> list[str]:
    """Chance and ceilings met or broken, and whether destroyed order equals none at all."""
    scores, facts = record.complete, record.facts
    sentences = []
    for name in record.controls:
        known = name in scores and len(scores[name]) > 1 and name != "no attention"
        if known and "without positions" in facts["ceilings"]:
            sentences.append(_against_ceiling(name, scores[name], facts["ceilings"]["without positions"]))
    if "none" in scores and "scrambled" in scores and len(scores["none"]) > 1:
        sentences.append(_scrambled(record))
    return sentences


def _scrambled(record: StudyRecord) -> str:
    """How far destroyed order lies from none, and what share of the largest gain that could explain."""
    scores, sign = record.complete, 1 if record.facts["higher_is_better"] else -1
    apart = compare(scores["scrambled"], scores["none"])
    said = (
        "The same vectors with their order destroyed: scrambled minus none is "
        f"{short(apart.mean)} ± {short(apart.half_width)}"
    )
    if len(scores["none"]) < FEWEST:
        return f"{said}; {len(scores['none'])} {record.unit} are too few to say what share of a gain is positional."
    others = [name for name in scores if name not in (*record.controls, *record.study.get("baselines", ()))]
    gain = max((sign * float((scores[name] - scores["none"]).mean()) for name in others), default=0.0)
    if gain <= 0:
        return f"{said}, and no encoding gains over none."
    share = max(abs(apart.low), abs(apart.high)) / gain
    if share <= SMALL:
        return (
            f"{said}: at most {max(share, 0.01):.0%} of the largest gain over none ({short(gain)}) is not positional."
        )
    return (
        f"{said}: not small against the largest gain over none ({short(gain)}); what share of it is positional is open."
    )


def _against_ceiling(name: str, scores: np.ndarray, ceiling: float) -> str:
    """An alarm must be rarer than the one in forty of a 95 % interval: every study has controls, and people read many."""
    low, high = interval(scores)
    if low <= ceiling:
        where = f"{low:.3f} to {high:.3f}"
        return f"{name} lies at {where}; without positions {short(ceiling)} is the most that is possible."
    where = f"{name} lies at {low:.3f} to {high:.3f}"
    if interval(scores, SURE)[0] <= ceiling:
        by_chance = f"by so little that chance does it once in {ODDS} controls"
        said = f"{where}, above the ceiling of {ceiling:.3f} {by_chance}"
        return f"{said} (its {SURE:.1%} interval reaches the ceiling); more seeds would tell."
    return f"{where}, above the ceiling of {ceiling:.3f}: something leaks. Do not trust this table."
