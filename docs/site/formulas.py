"""Formulas in dollar signs as MathML, so that a page needs no script to show them."""

from __future__ import annotations

import re

from latex2mathml.converter import convert

FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
FUNCTION = re.compile(r"(?<!<msup>)(<mi>(?:sin|cos|ln|log)</mi>)(?=<(?:mi|mn|msub|msup)>)")
THIN_SPACE = '<mspace width="0.167em" />'
CODE_OR_INLINE = re.compile(r"(`+).+?\1|(?<![\w$])\$(?P<math>[^$\n]+?)\$(?!\w)")


def as_mathml(text: str) -> str:
    r"""Replace $$…$$ and $…$ in a text without blocks of code; words in backticks stay as they are.

    A span keeps Markdown from taking a formula at the beginning of a paragraph for a paragraph.

    >>> as_mathml("so $x$ is small").startswith("so <span><math")
    True
    >>> as_mathml("write `$x$`")
    'write `$x$`'
    >>> [as_mathml(rf"$\sin{what}$").count("<mspace") for what in (" p", r"\theta", "(p)", "^2 p")]
    [1, 1, 0, 0]
    """
    text = DISPLAY.sub(lambda math: _mathml(math[1], "block"), text)
    return CODE_OR_INLINE.sub(_inline, text)


def _inline(found: re.Match[str]) -> str:
    return f"<span>{_mathml(found['math'], 'inline')}</span>" if found["math"] else found[0]


def _mathml(formula: str, display: str) -> str:
    """Convert a formula; a function and what it is taken of are parted by a thin space."""
    found = convert(formula.strip(), display=display)
    return FUNCTION.sub(lambda function: function[1] + THIN_SPACE, found)
