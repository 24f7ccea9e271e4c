"""The thresholds above which scores count as events, and their measured rates of false alarms.

Scores have two scales: smoothed residuals show stretches, the residuals of single rows show spikes.
Each scale has its own threshold, set from clean scores, from a rate of false alarms, or given as a
number. The rate that is reported is measured: it is the share of held-out rows above a threshold,
and every held-out row counts. Where a threshold is itself set from held-out rows, each fifth of
them is counted against the threshold that the other four fifths give.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from locant._internal.checks import positive
from locant.anomaly.detector.residuals import row_maximum, smooth_observed
from locant.anomaly.detector.time_grid import Flags, Floats

MAX_ABOVE = 0.1  # share of the scores that may lie above the edge, however heavy the tail
FOLDS = 5  # of the held-out rows, each counted against a threshold from the others
# Smoothed scores this many widths apart are as good as independent: ∫ exp(−t²/4) dt.
INDEPENDENT_WIDTHS = math.sqrt(4 * math.pi)
MIN_INDEPENDENT = 10  # independent scores, below which no rate is measured
MIN_ALARMS = 8  # held-out rows above a threshold, with which its rate can be set
FALSE_SPIKES = 0.05  # rows of a clean series that may look like a spike
TINY = 1e-6
SLOPES = (0.3, 2.0)  # of a tail: 0.5 is normal, 1 exponential, more is heavier
TAIL = (0.5, 0.9)  # quantiles of single rows from which the tail beyond is extrapolated
FARTHER = 1.5  # deviations by which stretches stay clear of a rate that single rows have
ORIGINS = {
    "clean": "the edge of the clean scores",
    "rate": "from the rate that was asked for",
    "value": "given",
}


@dataclass(frozen=True)
class ScaleThreshold:
    """The threshold of one scale, and the share of clean rows above it."""

    width: int  # of the smoothing, in rows; 0 for single rows
    value: float
    typical: float  # the median of the clean scores
    measured: float | None  # the share of held-out rows above it; None when they are too few
    independent: int  # about so many independent scores the held-out rows have

    @property
    def name(self) -> str:
        """Name the scale."""
        return "stretches" if self.width else "single rows"


@dataclass(frozen=True)
class Threshold:
    """A threshold, its origin, and the share of clean rows above it, at any scale.

    Scores are in units of the first scale: a score above `value` is anomalous.
    """

    value: float
    origin: str
    measured: float | None  # the share of held-out rows above it; None when they are too few
    asked: float | None  # the rate of false alarms that was asked for, if one was
    rows: int  # held-out rows, on which false alarms were counted
    independent: int  # about so many independent scores they have after smoothing
    known_clean: bool  # whether the user said that all these rows are clean
    scales: tuple[ScaleThreshold, ...] = ()  # the smoothed one first, single rows last

    @property
    def single_rows(self) -> float:
        """Return the threshold of single rows; infinite where there is no such scale."""
        return self.scales[-1].value if self.scales[-1].width == 0 else math.inf

    @property
    def sentence(self) -> str:
        """Describe the threshold: what was asked for, what was measured, on how many rows.

        >>> asked = "from the rate that was asked for"
        >>> Threshold(3.2, asked, 0.006, 0.005, 9800, 9800, True).sentence
        'Threshold: 3.2. False alarms: asked 0.5 %, measured 0.6 % on 9,800 held-out rows.'
        >>> print(Threshold(4.0, "given", None, None, 60, 5, True).sentence)
        Threshold: 4 (given). False alarms: not measured, 60 held-out rows are too few at this
        smoothing.
        """
        origin = f" ({self.origin})" if self.asked is None else ""
        asked = "" if self.asked is None else f"asked {_percent(self.asked)}, "
        text = f"Threshold: {self.value:.3g}{origin}. False alarms: {asked}"
        if self.measured is None:
            return f"{text}not measured, {self.rows:,} held-out rows are too few at this smoothing."
        text += f"measured {_percent(self.measured)} on {self.rows:,} held-out rows."
        if len(self.scales) > 1:
            text += f" Of these: {', '.join(map(_describe_scale, self.scales))}."
        elif self.measured < 1 / self.independent:
            text += f" {_too_few(self.independent)}."
        if not self.known_clean:
            text += " Anomalies among these rows count as false alarms."
        return text


class CleanScores(NamedTuple):
    """Scores of the rows that were learned from, at one scale.

    held_out  scores of rows that the method had not learned from, block after block
    fitted    scores of all rows by the method that learned from them, which may hold anomalies;
              None where the user says that all rows are clean
    columns   a score is the largest of so many
    """

    held_out: Floats
    fitted: Floats | None
    columns: int = 1

    @classmethod
    def of(cls, held_out: Sequence[Floats], fitted: Floats | None, width: int) -> CleanScores:
        """Score scaled residuals, blocks of held-out rows (T,F) and all rows, at one scale."""
        parts = [row_maximum(smooth_observed(block, width)) for block in held_out]
        every = None if fitted is None else row_maximum(smooth_observed(fitted, width))
        return cls(np.concatenate(parts), every, held_out[0].shape[1])

    @property
    def known_clean(self) -> bool:
        """Whether the user says that all rows are clean."""
        return self.fitted is None

    @property
    def scores(self) -> Floats:
        """Return the scores that thresholds are set from, (T,)."""
        return self.held_out if self.fitted is None else self.fitted

    def spike_edge(self) -> float:
        """Return the score that chance alone hardly reaches."""
        return spike_edge(self.scores, self.columns, known_clean=self.known_clean)


def parse_threshold(asked: str | float) -> tuple[str, float]:
    """Parse a threshold into ("clean", 0), ("rate", share) or ("value", number).

    >>> parse_threshold("clean"), parse_threshold("0.5%"), parse_threshold(3)
    (('clean', 0.0), ('rate', 0.005), ('value', 3.0))
    """
    text = str(asked).strip()
    if text == "clean":
        return "clean", 0.0
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = -1.0
    if not text.endswith("%") and number > 0:
        return "value", positive("detect", "threshold", number)
    if not 0 < number < 50:
        raise ValueError(
            "a threshold is clean (the edge of the clean scores), a rate of false alarms such as "
            f"0.5%, or a score such as 4. Got {text!r}."
        )
    return "rate", number / 100


def check_rate(asked: str | float, held_out: int) -> None:
    """Refuse a rate of false alarms that so many held-out rows cannot show.

    >>> check_rate("0.5%", 240)
    Traceback (most recent call last):
    ValueError: a rate of false alarms of 0.5 % cannot be set from 240 held-out rows: 1 of them
      would lie above the threshold, and 8 are needed.
      Ask for at least 3.4%, give more rows, or use --threshold clean.
    """
    kind, rate = parse_threshold(asked)
    if kind != "rate" or rate * held_out >= MIN_ALARMS:
        return
    least = math.ceil(1000 * MIN_ALARMS / max(held_out, 1)) / 10
    remedy = f"Ask for at least {least:g}%, give" if least < 50 else "Give"
    raise ValueError(
        f"a rate of false alarms of {_percent(rate)} cannot be set from {held_out:,} held-out "
        f"rows: {rate * held_out:.0f} of them\n  would lie above the threshold, and "
        f"{MIN_ALARMS} are needed.\n  {remedy} more rows, or use --threshold clean."
    )


def scale_widths(width: int) -> tuple[int, ...]:
    """List the widths of the scales: the smoothed one first, single rows last.

    >>> scale_widths(50), scale_widths(0)
    ((50, 0), (0,))
    """
    return (width, 0) if width else (0,)


def set_threshold(asked: str | float, clean: Sequence[CleanScores], width: int) -> Threshold:
    """Set the thresholds of all scales from their clean scores; measure rates of false alarms.

    clean  the scores of each of `scale_widths(width)`
    """
    kind, number = parse_threshold(asked)
    widths, known_clean = scale_widths(width)[: len(clean)], clean[0].known_clean
    scores = [one.scores for one in clean]
    columns = clean[0].columns
    values = _values(kind, number, scores, widths, columns, known_clean=known_clean)
    alarms = _held_out_alarms(kind, number, clean, widths, values)  # (scales, rows)
    rows = len(clean[0].held_out)
    scales = []
    for one, at, value, above in zip(scores, widths, values, alarms, strict=True):
        independent = int(rows / max(INDEPENDENT_WIDTHS * at, 1))
        measured = float(above.mean()) if independent >= MIN_INDEPENDENT else None
        scales.append(ScaleThreshold(at, value, float(np.median(one)), measured, independent))
    return Threshold(
        values[0],
        ORIGINS[kind],
        None if scales[-1].measured is None else float(alarms.any(0).mean()),
        asked=number if kind == "rate" else None,
        rows=rows,
        independent=scales[0].independent,
        known_clean=known_clean,
        scales=tuple(scales),
    )


def _values(
    kind: str,
    number: float,
    scores: Sequence[Floats],
    widths: Sequence[int],
    columns: int,
    *,
    known_clean: bool,
) -> list[float]:
    """Set the threshold of each scale from its scores (T,)."""
    if kind == "value":
        return [number] * len(scores)
    if kind == "clean":
        return [
            stretch_edge(one, width, columns)
            if width
            else spike_edge(one, columns, known_clean=known_clean)
            for one, width in zip(scores, widths, strict=True)
        ]
    return _values_for_rate(number, scores, widths, columns, known_clean=known_clean)


def _values_for_rate(
    rate: float,
    scores: Sequence[Floats],
    widths: Sequence[int],
    columns: int,
    *,
    known_clean: bool,
) -> list[float]:
    """Set thresholds so that a share of clean rows lies above one of them.

    Smoothed scores have too few independent values for a small rate: stretches stay well above
    their clean edge, and single rows make up the rate. Rows that may hold anomalies lose their
    highest scores before a rate is set on them, never before it is measured.
    """
    singles = scores[-1]
    values = []
    normal = np.ones(len(singles), np.bool_)
    if not known_clean:
        normal &= singles <= spike_edge(singles, columns, known_clean=False)
    for one, width in zip(scores[:-1], widths[:-1], strict=True):
        far = stretch_edge(one, width, columns, FARTHER)
        values.append(max(far, float(np.quantile(one, 1 - rate / 2))) if known_clean else far)
        normal &= one <= values[-1]
    return [*values, float(np.quantile(singles[normal], 1 - rate))]


def _held_out_alarms(
    kind: str,
    number: float,
    clean: Sequence[CleanScores],
    widths: Sequence[int],
    values: Sequence[float],
) -> Flags:
    """Flag the held-out rows (scales, rows) above thresholds that were set without them."""
    held_out = np.stack([one.held_out for one in clean])  # (scales, rows)
    if clean[0].fitted is not None:
        return held_out > np.array(values)[:, None]
    rows = held_out.shape[1]
    fold = np.arange(rows) * FOLDS // rows
    above = np.zeros(held_out.shape, np.bool_)
    for one in range(FOLDS):
        others = list(held_out[:, fold != one])
        columns = clean[0].columns
        limits = np.array(_values(kind, number, others, widths, columns, known_clean=True))
        above[:, fold == one] = held_out[:, fold == one] > limits[:, None]
    return above


def stretch_edge(scores: Floats, width: int, columns: int = 1, farther: float = 0.0) -> float:
    """Return the edge of smoothed scores, as far out as the largest of so many would be."""
    return edge(scores, expected_maximum(columns * len(scores) / max(width, 1)) + farther)


def spike_edge(scores: Floats, columns: int = 1, *, known_clean: bool) -> float:
    """Return the score of a single row that chance alone hardly reaches in so many rows.

    columns  a score is the largest of so many; each has the tail that is extrapolated

    The tail of the scores is extrapolated as that of a Weibull distribution, which holds normal
    and exponential tails: ln quantile grows linearly in ln(−ln p). Its slope is read below the
    largest tenth, where few anomalies reach. No row that is known to be clean lies above it.

    >>> normal = np.abs(np.random.default_rng(0).normal(size=10_000))
    >>> 5 < spike_edge(normal, known_clean=False) < 6.5
    True
    """
    share = np.linspace(*TAIL, 24)
    quantile = np.maximum(np.quantile(scores, share), TINY)
    tail = 1 - share ** (1 / columns)  # of one column
    depth = np.log(-np.log(tail))
    slope = float(np.polyfit(depth, np.log(quantile), 1)[0])
    far = min(FALSE_SPIKES / (columns * len(scores)), tail[-1])
    beyond = math.log(-math.log(far)) - depth[-1]
    reached = float(quantile[-1]) * math.exp(np.clip(slope, *SLOPES) * beyond)
    return max(reached, float(scores.max())) if known_clean else reached


def expected_maximum(count: float) -> float:
    """Estimate the largest of `count` normal values, in standard deviations: √(2·ln count).

    >>> round(expected_maximum(80), 2), round(expected_maximum(100_000), 2)
    (2.96, 4.8)
    """
    return math.sqrt(2 * math.log(max(count, 10)))


def edge(scores: Floats, deviations: float) -> float:
    """Return the median of the scores plus so many robust standard deviations.

    >>> scores = np.array([1.0, 1.0, 1.1, 1.2, 1.2, 1.3, 1.4, 900.0])
    >>> edge(scores, 3.0) < 10  # anomalies hardly move it
    True
    """
    middle, upper, top = np.quantile(scores, [0.5, 0.75, 1 - MAX_ABOVE], method="lower")
    return float(max(middle + deviations * (upper - middle) / 0.6745, top))


def _describe_scale(scale: ScaleThreshold) -> str:
    """Describe the measured rate of one scale."""
    if scale.measured is None:
        return f"{scale.name} not measured (too few independent scores)"
    text = f"{scale.name} {_percent(scale.measured)}"
    if scale.measured < 1 / scale.independent:
        text += f" ({_too_few(scale.independent)})"
    return text


def _too_few(independent: int) -> str:
    return f"about {independent:,} independent scores: no smaller rate can be told"


def _percent(share: float) -> str:
    """Format a share as a percentage.

    >>> _percent(0.005), _percent(0.0), _percent(0.12345)
    ('0.5 %', '0 %', '12 %')
    """
    return f"{100 * share:.2g} %"
