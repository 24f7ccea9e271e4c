"""What the docstring of an encoding's file says beside its formula: when to use it, traps, users.

Each is a paragraph of that docstring that begins with its label and a colon, so that a new encoding
is one file here too. A test tells which are missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LABELS = ("When to use it", "Traps", "Used by")
ARXIV = re.compile(r"arXiv:(\d{4}\.\d{4,5})")


@dataclass(frozen=True)
class Guidance:
    """The parts of an encoding's docstring, as plain text."""

    about: str  # the first line, the formula, the explanation
    advice: dict[str, str]  # label → paragraph, without the label
    examples: str  # the doctests

    @property
    def missing(self) -> list[str]:
        """The labels that the docstring has no paragraph for."""
        return [label for label in LABELS if not self.advice.get(label)]


def read(doc: str) -> Guidance:
    """Take a docstring apart.

    >>> found = read("Mine: a test.\\n\\nTraps: none\\nat all.\\n\\n>>> 1\\n1")
    >>> found.about, found.advice, found.examples
    ('Mine: a test.', {'Traps': 'None at all.'}, '>>> 1\\n1')
    >>> found.missing
    ['When to use it', 'Used by']
    """
    text, prompt, examples = doc.partition("\n>>>")
    about, advice = [], {}
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        label, colon, rest = paragraph.partition(": ")
        if colon and label in LABELS:
            words = " ".join(rest.split())
            advice[label] = words[:1].upper() + words[1:]
        else:
            about.append(paragraph)
    return Guidance("\n\n".join(about), advice, prompt.strip("\n") + examples)


def references(doc: str, paper: str) -> list[str]:
    """List every arXiv number of a docstring and of its paper as a link, each once.

    >>> references("cf. arXiv:1803.02155", "Su et al. 2021, arXiv:2104.09864")
    ['Su et al. 2021, [arXiv:2104.09864](https://arxiv.org/abs/2104.09864)', \
'[arXiv:1803.02155](https://arxiv.org/abs/1803.02155)']
    """
    known = ARXIV.findall(paper)
    others = [number for number in dict.fromkeys(ARXIV.findall(doc)) if number not in known]
    return [_linked(paper), *(_linked(f"arXiv:{number}") for number in others)]


def _linked(text: str) -> str:
    return ARXIV.sub(lambda found: f"[{found[0]}](https://arxiv.org/abs/{found[1]})", text)
