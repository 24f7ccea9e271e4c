"""Certificates as text, Markdown and HTML. Takes the dictionaries of `Certificate.to_dict`."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader

MARKS = {"holds": "✓", "fails": "✗", "not claimed": "–", "seen": "·"}
LEGEND = "✓ claimed (or a law for all) and holds · ✗ claimed and does not hold · – not claimed · · seen, not judged"
Paper = dict[str, Any]


def mark(finding: dict[str, Any]) -> str:
    return MARKS[finding["verdict"]]


def full_text(paper: Paper, width: int = 100) -> str:
    """One certificate, every property with its sentence and its measurement."""
    shape = ", ".join(f"{key} {value}" for key, value in paper["shape"].items())
    versions = ", ".join(f"{key} {value}" for key, value in paper["versions"].items())
    lines = [
        f"Certificate of {paper['encoding']}",
        f"{shape} · {paper['effort']}, seed {paper['seed']} · {versions}",
        "",
    ]
    for finding in paper["findings"]:
        lines.append(f"{mark(finding)} {finding['name']:11} {finding['sentence']}")
        said = finding["said"] + (
            f" (Bound: {finding['bound']}; {finding['why']}.)" if finding["verdict"] == "fails" else ""
        )
        lines += textwrap.wrap(said, width, initial_indent=" " * 14, subsequent_indent=" " * 14)
    lines += ["", _summary(paper)]
    return "\n".join(lines)


def matrix_text(papers: Sequence[Paper], width: int = 100) -> str:
    """All certificates in one table: properties down, encodings across, a mark and a number in each cell."""
    first = max(len(finding["name"]) for finding in papers[0]["findings"]) + 1
    room = max(7, min(11, (width - first) // len(papers)))
    across = max(1, (width - first) // room)
    blocks = []
    for start in range(0, len(papers), across):
        group = papers[start : start + across]
        rows = [" " * first + "".join(_short(paper["encoding"], room - 1).ljust(room) for paper in group)]
        for index, finding in enumerate(group[0]["findings"]):
            cells = [paper["findings"][index] for paper in group]
            rows.append(finding["name"].ljust(first) + "".join(_cell(cell, room - 1).ljust(room) for cell in cells))
        blocks.append("\n".join(row.rstrip() for row in rows))
    return "\n\n".join([*blocks, "\n".join([LEGEND, *[_summary(paper) for paper in papers if paper["fails"]]])])


def markdown(papers: Sequence[Paper]) -> str:
    """The matrix and, below it, every failure in a sentence."""
    lines = ["| property | " + " | ".join(f"`{paper['encoding']}`" for paper in papers) + " |"]
    lines.append("|---|" + "---|" * len(papers))
    for index, finding in enumerate(papers[0]["findings"]):
        cells = [paper["findings"][index] for paper in papers]
        lines.append(
            f"| **{finding['name']}** | " + " | ".join(f"{mark(cell)} {cell['value']}" for cell in cells) + " |"
        )
    lines += ["", LEGEND, ""]
    for paper in papers:
        for finding in paper["findings"]:
            if finding["verdict"] == "fails":
                lines.append(f"- `{paper['encoding']}`, {finding['name']}: {finding['said']}")
    lines += ["", "What each property says:", ""]
    lines += [
        f"- **{finding['name']}** ({finding['claim']}): {finding['sentence']}" for finding in papers[0]["findings"]
    ]
    return "\n".join(lines)


def html(papers: Sequence[Paper]) -> str:
    """One self-contained page; every cell opens its measurement."""
    environment = Environment(
        loader=PackageLoader("locant.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("certificates.html").render(papers=papers, mark=mark, legend=LEGEND)


def _summary(paper: Paper) -> str:
    fails = ", ".join(paper["fails"])
    return f"{paper['encoding']}: {len(paper['holds'])} hold, " + (
        f"{len(paper['fails'])} FAIL: {fails}" if fails else "none fails"
    )


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
