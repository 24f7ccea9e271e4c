"""Check the lead and the series that a baseline is given."""

from __future__ import annotations

import numpy as np

TINY = 1e-9  # in series of unit size, less than this is rounding


def checked(
    owner: str,
    lead: np.ndarray,
    series: np.ndarray,
    *,
    least_lead: int = 0,
    least: int = 1,
    remedy: str = "",
) -> tuple[np.ndarray, np.ndarray]:
    """Return lead (L, F) and series (T, F) in float64; refuse what is not finite or too short.

    least_lead  points that the lead must have; least: points that both must have together
    remedy      what else can be done about too few, such as "or a smaller window"

    >>> checked("distance", np.zeros((3, 2)), np.zeros((4, 1)))
    Traceback (most recent call last):
    ValueError: distance was given a lead of 2 features and a series of 1.
      They are two parts of one series: give both the same columns.
    """
    lead, series = _table(owner, "lead", lead), _table(owner, "series", series)
    if lead.shape[1] != series.shape[1]:
        raise ValueError(
            f"{owner} was given a lead of {_counted(lead.shape[1], 'feature')} "
            f"and a series of {series.shape[1]}.\n"
            "  They are two parts of one series: give both the same columns."
        )
    more = f"Give a longer one{remedy and ', '}{remedy}."
    if len(series) == 0:
        raise ValueError(
            f"{owner} was given a series without points. Give at least one point to judge."
        )
    if len(lead) < least_lead:
        raise ValueError(
            f"{owner} needs a lead of at least {_counted(least_lead, 'point')}. "
            f"Got {len(lead)}. {more}"
        )
    if len(lead) + len(series) < least:
        raise ValueError(
            f"{owner} needs at least {_counted(least, 'point')} of lead and series together. "
            f"Got {len(lead)} + {len(series)}. {more}"
        )
    return lead, series


def _table(owner: str, part: str, values: np.ndarray) -> np.ndarray:
    """Return points × features in float64, all finite."""
    values = np.asarray(values)
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"{owner} takes a {part} of real numbers. Got an array of type {values.dtype}."
        )
    if values.ndim != 2 or values.shape[1] == 0:
        raise ValueError(
            f"{owner} takes a {part} of shape (points, features). Got {values.shape}.\n"
            "  A single feature is written x[:, None]."
        )
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        point, feature = wrong[0]
        raise ValueError(
            f"{owner} takes finite numbers only. "
            f"Feature {feature} of the {part} is {values[point, feature]} at point {point}.\n"
            "  Fill such gaps, or leave these points out."
        )
    return values.astype(float)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
