"""Certificates as text, Markdown and HTML. Takes the dictionaries of `Certificate.to_dict`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from html import escape
from typing import Any

from locant.lab.report.rendering import environment

MARKS = {"holds": "✓", "fails": "✗", "not claimed": "–", "seen": "·", "not judged": "○"}
LEGEND = (
    "✓ claimed (or a law for all) and holds · ✗ claimed and does not hold · – not claimed · · measured, nothing is claimed "
    "· ○ not judged: there was nothing to measure, or the model did not learn its task"
)
Paper = dict[str, Any]


def mark(finding: dict[str, Any]) -> str:
    return MARKS[finding["verdict"]]


def title(paper: Paper) -> str:
    """Name the encoding, and its options that are not at their defaults.

    >>> title({"encoding": "rotary", "options": {"base": 500}})
    'rotary (base=500)'
    """
    options = ", ".join(f"{key}={value!r}" for key, value in paper.get("options", {}).items())
    return f"{paper['encoding']} ({options})" if options else str(paper["encoding"])


def full_text(paper: Paper, width: int = 100) -> str:
    """One certificate, every property with its sentence and its measurement."""
    shape = ", ".join(f"{key} {value}" for key, value in paper["shape"].items())
    versions = ", ".join(f"{key} {value}" for key, value in paper["versions"].items())
    lines = [
        f"Certificate of {title(paper)}",
        *_wrapped("", f"{shape} · {paper['effort']}, seed {paper['seed']} · {versions}", width),
        "",
    ]
    for finding in paper["findings"]:
        lines += _wrapped(f"{mark(finding)} {finding['name']:11} ", finding["sentence"], width)
        said = finding["message"] + (
            f" (Bound: {finding['bound']}; {finding['why']}.)"
            if finding["verdict"] == "fails"
            else ""
        )
        lines += _wrapped(" " * 14, said, width)
    lines += ["", *_wrapped("", _summary(paper), width)]
    return "\n".join(lines)


def matrix_text(papers: Sequence[Paper], width: int = 100) -> str:
    """All certificates in one table: properties down, encodings across, a mark and a number in each cell."""
    first = max(len(finding["name"]) for finding in papers[0]["findings"]) + 1
    room = max(7, min(11, (width - first) // len(papers)))
    across = max(1, (width - first) // room)
    blocks = []
    for start in range(0, len(papers), across):
        group = papers[start : start + across]
        rows = [
            " " * first
            + "".join(_short(paper["encoding"], room - 1).ljust(room) for paper in group)
        ]
        for index, finding in enumerate(group[0]["findings"]):
            cells = [paper["findings"][index] for paper in group]
            rows.append(
                finding["name"].ljust(first)
                + "".join(_cell(cell, room - 1).ljust(room) for cell in cells)
            )
        blocks.append("\n".join(row.rstrip() for row in rows))
    notes = [LEGEND, *(_summary(paper) for paper in papers if paper["fails"])]
    return "\n\n".join(
        [*blocks, "\n".join(line for note in notes for line in _wrapped("", note, width))]
    )


def markdown(papers: Sequence[Paper]) -> str:
    """The matrix and, below it, every failure in a sentence."""
    parts = [
        markdown_matrix(papers),
        LEGEND,
        "\n".join(failures(papers)),
        "What each property says:",
    ]
    return "\n\n".join([part for part in parts if part] + ["\n".join(meanings(papers[0]))])


def markdown_matrix(papers: Sequence[Paper]) -> str:
    """Properties down, encodings across."""
    lines = ["| property | " + " | ".join(_code(title(paper)) for paper in papers) + " |"]
    lines.append("|---|" + "---|" * len(papers))
    for index, finding in enumerate(papers[0]["findings"]):
        cells = [paper["findings"][index] for paper in papers]
        shown = " | ".join(f"{mark(cell)} {_prose(cell['value'])}" for cell in cells)
        lines.append(f"| **{finding['name']}** | {shown} |")
    return "\n".join(lines)


def failures(papers: Sequence[Paper]) -> list[str]:
    """Every failure as a line of a Markdown list."""
    return [
        f"- {_code(title(paper))}, {finding['name']}: {_prose(finding['message'])}"
        for paper in papers
        for finding in paper["findings"]
        if finding["verdict"] == "fails"
    ]


def meanings(paper: Paper) -> list[str]:
    """What each property says, as lines of a Markdown list."""
    return [f"- **{one['name']}** ({one['claim']}): {one['sentence']}" for one in paper["findings"]]


def html(papers: Sequence[Paper]) -> str:
    """One self-contained page; every cell opens its measurement."""
    return (
        environment()
        .get_template("certificates.html")
        .render(papers=papers, mark=mark, title=title, legend=LEGEND)
    )


def _summary(paper: Paper) -> str:
    fails = ", ".join(paper["fails"])
    return f"{title(paper)}: {len(paper['holds'])} hold, " + (
        f"{len(paper['fails'])} FAIL: {fails}" if fails else "none fails"
    )


def _wrapped(start: str, text: str, width: int) -> list[str]:
    """Lines of at most `width` characters (or 40), the later ones indented like the first."""
    return textwrap.wrap(
        text,
        max(width, 40),
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_on_hyphens=False,
    )


def _code(name: str) -> str:
    """A name in Markdown, whatever characters it has.

    >>> print(_code("a|<b>`c"))
    `a\\|<b>'c`
    """
    return "`" + " ".join(name.replace("`", "'").replace("|", r"\|").split()) + "`"


def _prose(text: str) -> str:
    """Words in Markdown that may hold anything, such as another library's error.

    >>> print(_prose("expected <class 'int'> | got *"))
    expected &lt;class 'int'&gt; \\| got \\*
    """
    safe = escape(" ".join(text.split()), quote=False)
    return re.sub(r"([|*_`\[\]\\])", r"\\\1", safe)


def _short(name: str, room: int) -> str:
    name = name.rpartition(":")[2]
    return name if len(name) <= room else name[: room - 1] + "…"


def _cell(finding: dict[str, Any], room: int) -> str:
    return mark(finding) + _brief(finding["value"], room - 1)


def _brief(value: str, room: int) -> str:
    """A value in few characters.

    >>> _brief("7.2e-07", 5), _brief("0.0083", 5), _brief("0.078", 5), _brief("degrades", 5), _brief("–", 5)
    ('7e-7', '8e-3', '0.078', 'degr.', '')
    """
    if value == "–":
        return ""
    try:
        number = float(value)
    except ValueError:
        return value if len(value) <= room else value[: room - 1] + "."
    if len(value) <= room and "e" not in value:
        return value
    digits, power = f"{number:.0e}".split("e")
    return f"{digits}e{int(power)}"
