"""Turn numbers and lists into text: the one place that decides how many digits a reader sees."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

Style = Literal["fixed", "signed", "share", "brief", "count", "multiple"]
SMALLEST_SHARE = 0.0005  # a smaller number would read as .000


def number_text(value: float | None, style: Style = "brief", decimals: int = 3) -> str:
    """Write a number as text; None is an empty text.

    fixed     so many decimals: 0.950                 (columns of a table)
    signed    the same with its sign: +0.950          (differences)
    share     without the leading zero, and tiny numbers by their exponent: .950, 1e-06
    brief     two or three digits: .041, .41, 12.3    (sentences)
    count     a whole number with separators: 68,482
    multiple  three digits without an exponent: 0.333, 1,000

    >>> number_text(0.95, "fixed"), number_text(0.95, "signed"), number_text(0.95, "fixed", 1)
    ('0.950', '+0.950', '0.9')
    >>> number_text(0.95, "share"), number_text(1e-6, "share"), number_text(1.5, "share")
    ('.950', '1e-06', '1.500')
    >>> [number_text(value) for value in (0.0412, 0.41, 12.34, 1.0, 0.0004)]
    ['.041', '.41', '12.3', '1.00', '.0004']
    >>> number_text(68482.4, "count"), number_text(1 / 3, "multiple"), number_text(1e3, "multiple")
    ('68,482', '0.333', '1,000')
    """
    if value is None:
        return ""
    if style == "fixed":
        return f"{value:.{decimals}f}"
    if style == "signed":
        return f"{value:+.{decimals}f}"
    if style == "count":
        return f"{value:,.0f}"
    if style == "multiple":
        return f"{float(f'{value:.3g}'):,g}"
    if style == "share":
        return _share(value, decimals)
    return _brief(value)


def _share(value: float, decimals: int) -> str:
    if value and abs(value) < SMALLEST_SHARE:
        return f"{value:.0e}"
    text = f"{value:.{decimals}f}"
    return _without_leading_zero(text) if abs(value) < 1 else text


def _brief(value: float) -> str:
    size = abs(value)
    if size >= 10:
        return f"{value:.1f}"
    if size >= 1:
        return f"{value:.2f}"
    if size >= 0.095:
        return _without_leading_zero(f"{value:.2f}")
    if size >= 0.0095:
        return _without_leading_zero(f"{value:.3f}")
    text = f"{value:.1g}"
    return text if "e" in text else _without_leading_zero(text)


def _without_leading_zero(text: str) -> str:
    return text.replace("0.", ".", 1)


def plus_minus(
    mean: float | None,
    half: float | None,
    style: Style = "brief",
    decimals: int = 3,
    *,
    half_style: Style | None = None,
) -> str:
    """Write a mean and half its interval; the mean alone where the interval has no ends.

    >>> plus_minus(0.6, 0.2484, "share"), plus_minus(0.6, None), plus_minus(0.6, math.inf)
    ('.600 ± .248', '.60', '.60')
    >>> plus_minus(0.6, 0.2484, "signed", half_style="fixed")
    '+0.600 ± 0.248'
    """
    text = number_text(mean, style, decimals)
    if mean is None or half is None or not math.isfinite(half):
        return text
    return f"{text} ± {number_text(half, half_style or style, decimals)}"


def join_words(words: Iterable[object], last: str = "and") -> str:
    """Join words with commas, and the last one with a word.

    >>> join_words([32, 48, 64]), join_words(["none"])
    ('32, 48 and 64', 'none')
    """
    *first, final = map(str, words)
    return f"{', '.join(first)} {last} {final}" if first else final


def counted(count: int, nouns: str) -> str:
    """Write a number and what it counts, given in the plural.

    >>> counted(1, "seeds"), counted(1234, "runs"), counted(1, "series"), counted(0, "hours")
    ('1 seed', '1,234 runs', '1 series', '0 hours')
    """
    one = count == 1 and nouns != "series"
    return f"{count:,} {nouns.removesuffix('s') if one else nouns}"


def capitalize_first(text: str) -> str:
    """Write the first letter in upper case and leave the rest as it is.

    >>> capitalize_first("accuracy, unseen AUC")
    'Accuracy, unseen AUC'
    """
    return text[:1].upper() + text[1:]
