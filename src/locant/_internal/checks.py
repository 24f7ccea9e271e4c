"""What to tell someone whose request cannot be met: what was asked, what is allowed, what to do."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, TypeVar

Built = TypeVar("Built")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return " Did you mean 'rotary'?", or an empty text when no known word is near.

    >>> did_you_mean("rope", ["pope", "rotary"])
    " Did you mean 'rotary'?"
    >>> did_you_mean("zebra", ["alibi", "rotary"])
    ''
    """
    lower = word.lower()
    words = {one.lower(): one for one in known}
    same_start = [one for one in words if one[:1] == lower[:1]]
    near = get_close_matches(lower, same_start, n=1, cutoff=0.4)
    near = near or get_close_matches(lower, words, n=1)
    return f" Did you mean {words[near[0]]!r}?" if near else ""


def how_to_install(extra: str) -> str:
    """The command that brings an extra: in a clone, and where locant was installed from a release.

    >>> print("the explorer needs plotly." + how_to_install("explore"))
    the explorer needs plotly.
      In a clone:      pip install -c constraints.txt -e '.[explore]'
      From a release:  pip install 'locant[explore]'
    """
    clone, release = (
        f"pip install -c constraints.txt -e '.[{extra}]'",
        f"pip install 'locant[{extra}]'",
    )
    return f"\n  In a clone:      {clone}\n  From a release:  {release}"


def one_of(owner: str, option: str, value: Any, allowed: Iterable[str]) -> str:
    """The value, when it is one of the allowed words."""
    allowed = list(allowed)
    if value not in allowed:
        hint = did_you_mean(str(value), allowed)
        raise ValueError(
            f"{owner} was asked for {option}={value!r}.{hint}\n  Allowed: {', '.join(allowed)}"
        )
    return str(value)


def listed(option: str, text: str) -> list[str]:
    """The words of an option that takes several with commas, each once; none at all is refused.

    >>> listed("--columns", "a, b,a")
    ['a', 'b']
    """
    words = list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not words:
        raise ValueError(f"{option} needs at least one word, several with commas. Got {text!r}.")
    return words


def whole_number(owner: str, option: str, value: Any, least: int = 1) -> int:
    """The value, when it is a whole number not below `least`."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Integral)
        or not least <= int(value) < 2**63
    ):
        raise ValueError(
            f"{owner} needs a whole number of at least {least} for {option}. Got {value!r} instead."
        )
    return int(value)


def positive(owner: str, option: str, value: Any) -> float:
    """The value as a float, when it is a finite number above zero."""
    if not _is_finite(value) or value <= 0:
        raise ValueError(
            f"{owner} needs a finite number above 0 for {option}. Got {value!r} instead."
        )
    return float(value)


def finite(owner: str, option: str, value: Any) -> float:
    """Return the value as a float, when it is a finite number."""
    if not _is_finite(value):
        raise ValueError(f"{owner} needs a finite number for {option}. Got {value!r} instead.")
    return float(value)


def at_least(owner: str, option: str, value: Any, least: float) -> float:
    """The value as a float, when it is a finite number not below `least`."""
    if not _is_finite(value) or value < least:
        raise ValueError(f"{owner} needs {option} ≥ {least:g}. Got {value!r} instead.")
    return float(value)


def share(owner: str, option: str, value: Any) -> float:
    """The value as a float, when it is in [0, 1)."""
    if not _is_finite(value) or not 0 <= value < 1:
        raise ValueError(
            f"{owner} needs a number from 0 up to (not including) 1 for {option}. Got {value!r} "
            "instead."
        )
    return float(value)


def build_from_settings(owner: str, kind: type[Built], settings: Mapping[str, Any]) -> Built:
    """Build a dataclass from settings that a user wrote; refuse those that it does not have.

    >>> from dataclasses import make_dataclass
    >>> build_from_settings("the scaling linear", make_dataclass("L", ["factor"]), {"factr": 4.0})
    Traceback (most recent call last):
    ValueError: the scaling linear has no setting 'factr'. Did you mean 'factor'?
      Its settings: factor
    """
    allowed = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for key in settings:
        if key not in allowed:
            raise ValueError(
                f"{owner} has no setting {key!r}.{did_you_mean(str(key), allowed)}\n"
                f"  Its settings: {', '.join(allowed)}"
            )
    try:
        return kind(**settings)
    except TypeError as problem:
        raise ValueError(
            f"{owner} needs more: {problem}.\n  Its settings: {', '.join(allowed)}"
        ) from None


def warn_renamed(old: str, new: str) -> None:
    """Warn the caller of the function that calls this one that a public name has changed."""
    warnings.warn(f"{old} is now {new}.", DeprecationWarning, stacklevel=3)


def _is_finite(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
