"""Write certificates of encodings and of models as text, Markdown and HTML, from what their
`to_dict` gives."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from html import escape
from typing import Any

from locant.lab.report.rendering import environment

MARKS = {"holds": "✓", "fails": "✗", "not claimed": "–", "seen": "·", "not judged": "○"}
MODEL_MARKS = {"by nature": "~", "does not apply": "–"}  # verdicts on whole models alone
LEGEND = (
    "✓ claimed (or required of every encoding) and holds; ✗ claimed and does not hold; "
    "– not claimed; · measured, nothing is claimed; "
    "○ not judged: there was nothing to measure, or the model did not learn its task"
)
MODEL_LEGEND = (
    "✓ holds; ✗ fails; ~ differs by nature, and says why; – does not apply, and says why; "
    "· measured, nothing is promised; ○ not measured, or nothing could be seen"
)
Certificate = dict[str, Any]


def legend(certificate: Certificate) -> str:
    """Return what the marks of a certificate mean: of a model, or of an encoding."""
    return MODEL_LEGEND if "model" in certificate else LEGEND


def mark(finding: dict[str, Any]) -> str:
    """Return the mark that stands for a verdict."""
    return (MARKS | MODEL_MARKS)[finding["verdict"]]


def title(certificate: Certificate) -> str:
    """Name the encoding and its options that are not at their defaults, or the model.

    >>> title({"encoding": "rotary", "options": {"base": 500}})
    'rotary (base=500)'
    """
    given = certificate.get("options", {}).items()
    options = ", ".join(f"{key}={value!r}" for key, value in given)
    name = _name(certificate)
    return f"{name} ({options})" if options else name


def _name(certificate: Certificate) -> str:
    return str(certificate["model"] if "model" in certificate else certificate["encoding"])


def full_text(certificate: Certificate, width: int = 100) -> str:
    """Write one certificate: every property with its sentence and its measurement."""
    shape = ", ".join(f"{key} {value}" for key, value in certificate["shape"].items())
    versions = ", ".join(f"{key} {value}" for key, value in certificate["versions"].items())
    effort = f"{certificate['effort']}, seed {certificate['seed']}"
    lines = [
        f"Certificate of {title(certificate)}",
        *_wrapped("", f"{_kind(certificate)}{shape} · {effort} · {versions}", width),
        "",
    ]
    for finding in certificate["findings"]:
        lines += _wrapped(f"{mark(finding)} {finding['name']:11} ", finding["sentence"], width)
        measured = finding["message"]
        if finding["verdict"] == "fails":
            measured += f" (Bound: {finding['bound']}; {finding['why']}.)"
            measured += _remedy(finding)
        lines += _wrapped(" " * 14, measured, width)
    lines += ["", *_wrapped("", _summary(certificate), width)]
    return "\n".join(lines)


def _kind(certificate: Certificate) -> str:
    if "model" not in certificate:
        return ""
    return f"{certificate['architecture']}, {certificate['kind']} · "


def _remedy(finding: dict[str, Any]) -> str:
    return f" What to do: {finding['remedy']}" if finding.get("remedy") else ""


def matrix_text(certificates: Sequence[Certificate], width: int = 100) -> str:
    """Write all certificates as one table: properties down, encodings across."""
    first = max(len(finding["name"]) for finding in certificates[0]["findings"]) + 1
    column = max(7, min(11, (width - first) // len(certificates)))
    across = max(1, (width - first) // column)
    blocks = []
    for start in range(0, len(certificates), across):
        group = certificates[start : start + across]
        names = [_short(_name(certificate), column - 1).ljust(column) for certificate in group]
        lines = [" " * first + "".join(names)]
        for index, finding in enumerate(group[0]["findings"]):
            cells = [_cell(certificate["findings"][index], column - 1) for certificate in group]
            line = finding["name"].ljust(first) + "".join(cell.ljust(column) for cell in cells)
            lines.append(line)
        blocks.append("\n".join(line.rstrip() for line in lines))
    notes = _wrapped("", legend(certificates[0]), width)
    for certificate in certificates:
        if certificate["fails"]:
            notes += _wrapped("", _summary(certificate), width)
    return "\n\n".join([*blocks, "\n".join(notes)])


def markdown(certificates: Sequence[Certificate]) -> str:
    """Write the matrix and, below it, every failure in a sentence."""
    parts = [
        markdown_matrix(certificates),
        legend(certificates[0]),
        "\n".join(failures(certificates)),
        "What each property says:",
    ]
    return "\n\n".join([part for part in parts if part] + ["\n".join(meanings(certificates[0]))])


def markdown_matrix(certificates: Sequence[Certificate]) -> str:
    """Write the matrix as Markdown: properties down, encodings across."""
    names = [_code(title(certificate)) for certificate in certificates]
    lines = [f"| property | {' | '.join(names)} |"]
    lines.append("|---|" + "---|" * len(certificates))
    for index, finding in enumerate(certificates[0]["findings"]):
        cells = [certificate["findings"][index] for certificate in certificates]
        shown = " | ".join(f"{mark(cell)} {_prose(cell['value'])}" for cell in cells)
        lines.append(f"| **{finding['name']}** | {shown} |")
    return "\n".join(lines)


def failures(certificates: Sequence[Certificate]) -> list[str]:
    """Write every failure as a line of a Markdown list."""
    return [
        f"- {_code(title(certificate))}, {finding['name']}: "
        f"{_prose(finding['message'] + _remedy(finding))}"
        for certificate in certificates
        for finding in certificate["findings"]
        if finding["verdict"] == "fails"
    ]


def meanings(certificate: Certificate) -> list[str]:
    """Write what each property says, as lines of a Markdown list."""
    return [
        f"- **{one['name']}**{_claim(one)}: {one['sentence']}" for one in certificate["findings"]
    ]


def _claim(finding: dict[str, Any]) -> str:
    """Return the claim in brackets; of models every property is required."""
    return "" if "remedy" in finding else f" ({finding['claim']})"


def html(certificates: Sequence[Certificate]) -> str:
    """Write one self-contained page; every cell opens its measurement."""
    return (
        environment()
        .get_template("certificates.html")
        .render(
            certificates=certificates,
            mark=mark,
            title=title,
            kind=_kind,
            remedy=_remedy,
            legend=legend(certificates[0]),
        )
    )


def _summary(certificate: Certificate) -> str:
    count = len(certificate["holds"])
    holds = f"{title(certificate)}: {count} hold{'s' if count == 1 else ''}"
    if not certificate["fails"]:
        return f"{holds}, none fails"
    return f"{holds}, {len(certificate['fails'])} FAIL: {', '.join(certificate['fails'])}"


def _wrapped(start: str, text: str, width: int) -> list[str]:
    """Wrap a text to `width` characters (at least 40), the later lines indented like the first."""
    return textwrap.wrap(
        text,
        max(width, 40),
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_on_hyphens=False,
    )


def _code(name: str) -> str:
    """Write a name as Markdown code, whatever characters it has.

    >>> print(_code("a|<b>`c"))
    `a\\|<b>'c`
    """
    return "`" + " ".join(name.replace("`", "'").replace("|", r"\|").split()) + "`"


def _prose(text: str) -> str:
    """Escape text for Markdown that may hold anything, such as another library's error.

    >>> print(_prose("expected <class 'int'> | got *"))
    expected &lt;class 'int'&gt; \\| got \\*
    """
    safe = escape(" ".join(text.split()), quote=False)
    return re.sub(r"([|*_`\[\]\\])", r"\\\1", safe)


def _short(name: str, width: int) -> str:
    name = name.rpartition(":")[2]
    return name if len(name) <= width else name[: width - 1] + "…"


def _cell(finding: dict[str, Any], width: int) -> str:
    return mark(finding) + _brief(finding["value"], width - 1)


def _brief(value: str, width: int) -> str:
    """Shorten a value to so many characters.

    >>> [_brief(value, 5) for value in ("7.2e-07", "0.0083", "0.078", "degrades", "–")]
    ['7e-7', '8e-3', '0.078', 'degr.', '']
    """
    if value == "–":
        return ""
    try:
        number = float(value)
    except ValueError:
        return value if len(value) <= width else value[: width - 1] + "."
    if len(value) <= width and "e" not in value:
        return value
    digits, power = f"{number:.0e}".split("e")
    return f"{digits}e{int(power)}"
