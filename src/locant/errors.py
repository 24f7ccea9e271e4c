"""What to tell someone whose request cannot be met: what was asked, what is allowed, what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


def did_you_mean(asked: str, known: Iterable[str]) -> str:
    """' Did you mean 'rotary'?', or nothing when no known word is near.

    >>> did_you_mean("rotry", ["alibi", "rotary"])
    " Did you mean 'rotary'?"
    >>> did_you_mean("zebra", ["alibi", "rotary"])
    ''
    """
    known = list(known)
    starts = [word for word in known if asked and word.startswith(asked[:2])]
    near = get_close_matches(asked, known, n=1, cutoff=0.6) or starts[:1]
    return f" Did you mean {near[0]!r}?" if near else ""


def one_of(owner: str, option: str, value: Any, allowed: Iterable[str]) -> str:
    """The value, when it is one of the allowed words."""
    allowed = list(allowed)
    if value not in allowed:
        hint = did_you_mean(str(value), allowed)
        raise ValueError(f"{owner} was asked for {option}={value!r}.{hint}\n  Allowed: {', '.join(allowed)}")
    return str(value)


def whole_number(owner: str, option: str, value: Any, least: int = 1) -> int:
    """The value, when it is a whole number not below `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{owner} needs a whole number of at least {least} for {option}. Got {value!r} instead.")
    return value


def positive(owner: str, option: str, value: Any) -> float:
    """The value as a float, when it is a finite number above zero."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= 0:
        raise ValueError(f"{owner} needs a finite number above 0 for {option}. Got {value!r} instead.")
    return float(value)
