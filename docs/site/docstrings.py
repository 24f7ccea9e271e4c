"""Docstrings as Markdown: formulas, lists of arguments and doctests become blocks of code."""

from __future__ import annotations

import re
from typing import Any

import griffe

ARGUMENT = re.compile(r"^\S.*?\S {2,}\S")  # a name, two spaces, what it means


def as_markdown(text: str) -> str:
    """Fence every paragraph that is a formula, a list of arguments or a doctest."""
    paragraphs = re.split(r"\n\s*\n", text.strip("\n"))
    return "\n\n".join(_fenced(paragraph) for paragraph in paragraphs)


def _fenced(paragraph: str) -> str:
    first = paragraph.splitlines()[0]
    if first.startswith(">>>"):
        return f"```python\n{paragraph}\n```"
    if first.startswith("    ") or ARGUMENT.match(first):
        return f"```text\n{paragraph}\n```"
    before, prompt, rest = paragraph.partition("\n>>>")
    if prompt:
        return f"{before}\n\n```python\n>>>{rest}\n```"
    return paragraph


class Fenced(griffe.Extension):
    """Rewrite every docstring that mkdocstrings shows."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
