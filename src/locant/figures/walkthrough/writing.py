"""Numbers as a person writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

MANY = 4096  # positions looked at, so that a wave is known well enough to be followed far
CLOSE = 5e-5  # what is written must give what the encoding gives, to the last digit written
MOST = 12  # numbers of a vector that are written out


def fixed(value: float) -> str:
    """Four digits after the point, with a real minus.

    >>> fixed(-0.98999), fixed(-0.00001)
    ('−0.9900', '0.0000')
    """
    text = f"{value:.4f}"
    return text.replace("-0.0000", "0.0000").replace("-", "−")


def plain(value: float) -> str:
    """As short as it can be at six digits.

    >>> plain(100.0000000001), plain(21.544346900), plain(-0.5), plain(9999.99999999)
    ('100', '21.5443', '−0.5', '10000')
    """
    whole = round(value)
    text = str(whole) if abs(value - whole) <= 1e-7 * max(1.0, abs(value)) else f"{value:.6g}"
    return text.replace("-", "−")


def vector(values: Iterable[float], write: Callable[[float], str] = fixed) -> str:
    """A row of numbers, cut off when it is long.

    >>> vector([0.5, -1.0])
    '[0.5000, −1.0000]'
    """
    listed = list(values)
    shown = [write(value) for value in listed[:MOST]]
    return "[" + ", ".join(shown + ["…"] * (len(listed) > MOST)) + "]"


def factor(value: float, write: Callable[[float], str] = plain) -> str:
    """A number to be multiplied by another: in brackets when it is below 0.

    >>> factor(2.0), factor(-1.0)
    ('2', '(−1)')
    """
    text = write(value)
    return f"({text})" if text.startswith("−") else text


def product(
    one: Sequence[float], other: Sequence[float], write: Callable[[float], str] = plain
) -> str:
    """The terms of a dot product.

    >>> product([1.0, -2.0], [3.0, 1.0])
    '1·3 + (−2)·1'
    """
    terms = [f"{factor(a, write)}·{factor(b, write)}" for a, b in zip(one, other, strict=True)]
    return " + ".join(terms if len(terms) <= MOST else [*terms[: MOST - 1], "…", terms[-1]])


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines whose columns stand under each other.

    >>> columns([("a", "bb"), ("ccc", "d")])
    ['a     bb', 'ccc   d']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
