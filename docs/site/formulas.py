"""Formulas in dollar signs as MathML, so that a page needs no script to show them."""

from __future__ import annotations

import re

from latex2mathml.converter import convert

FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
CODE_OR_INLINE = re.compile(r"(`+).+?\1|(?<![\w$])\$(?P<math>[^$\n]+?)\$(?!\w)")


def as_mathml(text: str) -> str:
    """Replace $$…$$ and $…$ in a text without blocks of code; words in backticks stay as they are.

    A span keeps Markdown from taking a formula at the beginning of a paragraph for a paragraph.

    >>> as_mathml("so $x$ is small").startswith("so <span><math")
    True
    >>> as_mathml("write `$x$`")
    'write `$x$`'
    """
    text = DISPLAY.sub(lambda math: convert(math[1].strip(), display="block"), text)
    return CODE_OR_INLINE.sub(_inline, text)


def _inline(found: re.Match[str]) -> str:
    return f"<span>{convert(found['math'].strip())}</span>" if found["math"] else found[0]
