"""What the controls of a study show, in sentences."""

from __future__ import annotations

from locant.results.record import StudyRecord
from locant.statistics.paired import compare, interval
from locant.statistics.verdict import FEWEST, short


def told(record: StudyRecord) -> list[str]:
    """Chance and ceilings met or broken, and whether destroyed order equals none at all."""
    scores, facts = record.complete, record.facts
    sentences = []
    for name in record.study["controls"]:
        if name in scores and len(scores[name]) > 1:
            low, high = interval(scores[name])
            if name != "no attention" and "without positions" in facts["ceilings"]:
                sentences.append(_against_ceiling(name, low, high, facts["ceilings"]["without positions"]))
    if "none" in scores and "scrambled" in scores and len(scores["none"]) > 1:
        apart = compare(scores["scrambled"], scores["none"])
        same = apart.low <= 0 <= apart.high
        said = "equals none within its interval" if same else "is not the same as none"
        gain = "what the encodings gain is positional" if same else "not all of a gain over none is positional"
        if len(scores["none"]) < FEWEST:
            gain = f"but {len(scores['none'])} seeds are too few to say whether a gain is positional"
        else:
            gain = f"so {gain}"
        gap = f"{short(apart.mean)} ± {short(apart.half_width)}"
        sentences.append(f"The same vectors with their order destroyed: scrambled {said} ({gap}), {gain}.")
    return sentences


def _against_ceiling(name: str, low: float, high: float, ceiling: float) -> str:
    where = f"{short(low)} to {short(high)}"
    if low <= ceiling:
        return f"{name} lies at {where}; without positions {short(ceiling)} is the most that is possible."
    return f"{name} lies at {where}, above the ceiling of {short(ceiling)}: something leaks. Do not trust this table."
