"""What the controls of a study show, in sentences."""

from __future__ import annotations

import numpy as np

from locant._internal.text import number_text, plus_minus
from locant.lab.statistics.paired import compare, interval
from locant.lab.statistics.verdict import MIN_SEEDS
from locant.lab.store.record import StudyRecord

ALARM_LEVEL = 0.999  # the interval that must lie above a ceiling before a leak is reported
ONE_IN = 40  # one control in so many has a 95 % interval above its true value


def control_notes(record: StudyRecord) -> list[str]:
    """Say whether controls respect their ceiling, and whether destroyed order equals none."""
    scores = record.complete
    ceiling = record.facts.ceilings.get("without positions")
    sentences = []
    for name in record.controls:
        known = name in scores and len(scores[name]) > 1 and name != "no attention"
        if known and ceiling is not None:
            sentences.append(_against_ceiling(name, scores[name], ceiling))
    if "none" in scores and "scrambled" in scores and len(scores["none"]) > 1:
        sentences.append(_scrambled(record))
    return sentences


def _scrambled(record: StudyRecord) -> str:
    """Compare the sinusoid whose order is destroyed with none, and with the sinusoid itself."""
    scores = record.complete
    only_here = "This says nothing about other encodings."
    text = (
        "The sinusoid with its order destroyed: scrambled minus none is "
        f"{_gap(scores['scrambled'], scores['none'])}"
    )
    if "sinusoidal" not in scores:
        return f"{text}. {only_here}"
    text += f", sinusoidal minus scrambled {_gap(scores['sinusoidal'], scores['scrambled'])}"
    seeds = len(scores["none"])
    if seeds < MIN_SEEDS:
        few = f"{seeds} {record.unit} are too few to say whether its gain comes from positions"
        return f"{text}; {few}."
    gains = record.facts.sign * (scores["sinusoidal"] - scores["scrambled"])
    low, high = interval(gains)
    if low > 0:
        return f"{text}: its order is surely a gain. {only_here}"
    if high < 0:
        return f"{text}: its order makes it worse. {only_here}"
    return f"{text}: nothing shows that its order helps. {only_here}"


def _gap(a: np.ndarray, b: np.ndarray) -> str:
    """Write the mean of a − b with its sign, and half its interval.

    >>> _gap(np.array([0.5, 0.6, 0.7]), np.array([0.6, 0.6, 0.8]))
    '-.067 ± .14'
    """
    apart = compare(a, b)
    sign = "+" if apart.mean > 0 else ""
    return sign + plus_minus(apart.mean, apart.half_width)


def _against_ceiling(name: str, scores: np.ndarray, ceiling: float) -> str:
    """Hold a control against its exact ceiling.

    A 95 % interval lies above its ceiling by chance once in forty controls, and people read many
    studies; so only a 99.9 % interval above the ceiling is called a leak.
    """
    low, high = interval(scores)
    where = f"{name} lies at {low:.3f} to {high:.3f}"
    if low <= ceiling:
        return f"{where}; without positions at most {number_text(ceiling)} is possible."
    above = f"{where}, above the ceiling of {ceiling:.3f}"
    if interval(scores, ALARM_LEVEL)[0] <= ceiling:
        return (
            f"{above}, but so little that this happens by chance once in {ONE_IN} controls (its "
            f"{ALARM_LEVEL:.1%} interval reaches the ceiling); more seeds would decide it."
        )
    return f"{above}: information leaks. Do not trust this table."
