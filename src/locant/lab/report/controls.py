"""What the controls of a study show, in sentences."""

from __future__ import annotations

import numpy as np

from locant.lab.statistics.paired import compare, interval
from locant.lab.statistics.verdict import FEWEST, short
from locant.lab.store.record import StudyRecord

SURE = 0.999  # the interval that must lie above a ceiling before anything is said to leak
ODDS = 40  # one control in so many has a 95 % interval above what it truly is


def told(record: StudyRecord) -> list[str]:
    """Chance and ceilings met or broken, and whether destroyed order equals none at all."""
    scores, facts = record.complete, record.facts
    sentences = []
    for name in record.controls:
        known = name in scores and len(scores[name]) > 1 and name != "no attention"
        if known and "without positions" in facts["ceilings"]:
            sentences.append(
                _against_ceiling(name, scores[name], facts["ceilings"]["without positions"])
            )
    if "none" in scores and "scrambled" in scores and len(scores["none"]) > 1:
        sentences.append(_scrambled(record))
    return sentences


def _scrambled(record: StudyRecord) -> str:
    """The sinusoid with its order destroyed against none, and against the sinusoid itself; of others it says nothing."""
    scores, sign = record.complete, 1 if record.facts["higher_is_better"] else -1
    said = f"The sinusoid with its order destroyed: scrambled minus none is {_gap(scores['scrambled'], scores['none'])}"
    if "sinusoidal" not in scores:
        return f"{said}. Of other encodings that says nothing."
    said += f", sinusoidal minus scrambled {_gap(scores['sinusoidal'], scores['scrambled'])}"
    if len(scores["none"]) < FEWEST:
        return f"{said}; {len(scores['none'])} {record.unit} are too few to say whether its gain is positional."
    low, high = interval(sign * (scores["sinusoidal"] - scores["scrambled"]))
    if low > 0:
        return (
            f"{said}: what order adds to it is surely a gain. Of other encodings that says nothing."
        )
    if high < 0:
        return f"{said}: its order makes it worse. Of other encodings that says nothing."
    return f"{said}: nothing shows that its order helps. Of other encodings that says nothing."


def _gap(a: np.ndarray, b: np.ndarray) -> str:
    """
    >>> _gap(np.array([0.5, 0.6, 0.7]), np.array([0.6, 0.6, 0.8]))
    '-.067 ± .14'
    """
    apart = compare(a, b)
    return f"{'+' if apart.mean > 0 else ''}{short(apart.mean)} ± {short(apart.half_width)}"


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
