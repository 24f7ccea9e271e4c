"""What all worked examples share: their form, a query and a key, and numbers as a person writes
them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

MIN_FITTED = 4096  # positions observed, so that a wave is known well enough to be followed far
TOLERANCE = 5e-5  # what is written must agree with the encoding, to the last digit written
MAX_WRITTEN = 12  # numbers of a vector that are written out
QUERY, KEY = (1.0, 2.0, -1.0, 1.0), (2.0, 1.0, 1.0, -1.0)  # repeated to a head's width


@dataclass(frozen=True)
class WorkedPart:
    """The worked example of one hook: a title, lines to be read, and the same as numbers."""

    hook: str
    title: str
    lines: list[str]
    numbers: dict[str, Any] = field(default_factory=dict)


def example_vectors(width: int) -> tuple[Tensor, Tensor]:
    """Return a query and a key of one head, (d) each, in small integers that a person can check.

    >>> example_vectors(5)[0].tolist()
    [1.0, 2.0, -1.0, 1.0, 1.0]
    """
    repeats = -(-width // len(QUERY))
    q = torch.tensor(QUERY * repeats, dtype=torch.float64)
    k = torch.tensor(KEY * repeats, dtype=torch.float64)
    return q[:width], k[:width]


def query_and_key(position: float, key: float, width: int) -> str:
    """Write the title of an example with one query and one key.

    >>> query_and_key(3, 1, 4)
    'a query at 3 and a key at 1, in a head of width 4'
    """
    return (
        f"a query at {shortest(position)} and a key at {shortest(key)}, in a head of width {width}"
    )


def fixed(value: float) -> str:
    """Write four digits after the decimal point, with a real minus sign.

    >>> fixed(-0.98999), fixed(-0.00001)
    ('−0.9900', '0.0000')
    """
    text = f"{value:.4f}"
    return text.replace("-0.0000", "0.0000").replace("-", "−")


def shortest(value: float) -> str:
    """Write a number with up to six digits, without trailing zeros.

    >>> shortest(100.0000000001), shortest(21.544346900), shortest(-0.5), shortest(9999.99999999)
    ('100', '21.5443', '−0.5', '10000')
    """
    integer = round(value)
    is_integer = abs(value - integer) <= 1e-7 * max(1.0, abs(value))
    text = str(integer) if is_integer else f"{value:.6g}"
    return text.replace("-", "−")


def vector(values: Iterable[float], write: Callable[[float], str] = fixed) -> str:
    """Write a vector, cut off when it is long.

    >>> vector([0.5, -1.0])
    '[0.5000, −1.0000]'
    """
    listed = list(values)
    shown = [write(value) for value in listed[:MAX_WRITTEN]]
    if len(listed) > MAX_WRITTEN:
        shown.append("…")
    return f"[{', '.join(shown)}]"


def factor(value: float, write: Callable[[float], str] = shortest) -> str:
    """Write a factor of a product: in parentheses when it is negative.

    >>> factor(2.0), factor(-1.0)
    ('2', '(−1)')
    """
    text = write(value)
    return f"({text})" if text.startswith("−") else text


def dot_product(
    one: Sequence[float], other: Sequence[float], write: Callable[[float], str] = shortest
) -> str:
    """Write the terms of a dot product.

    >>> dot_product([1.0, -2.0], [3.0, 1.0])
    '1·3 + (−2)·1'
    """
    terms = [f"{factor(a, write)}·{factor(b, write)}" for a, b in zip(one, other, strict=True)]
    if len(terms) > MAX_WRITTEN:
        terms = [*terms[: MAX_WRITTEN - 1], "…", terms[-1]]
    return " + ".join(terms)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write rows of cells as lines with aligned columns.

    >>> aligned([("a", "bb"), ("ccc", "d")])
    ['a     bb', 'ccc   d']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("   ".join(cells).rstrip())
    return lines
