"""The notebooks of the course and the demo as pages: text, code, what it printed, its pictures."""

from __future__ import annotations

import base64
import re
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\((?:\.\./(?:course|examples)/)?([\w-]+)\.ipynb\)")
sys.path.insert(0, str(ROOT / "course" / "lecture"))

from build import build as build_slides  # noqa: E402


def notebooks() -> list[Path]:
    """List the notebooks: the parts of the course, then the demo."""
    return [*sorted((ROOT / "course").glob("*.ipynb")), ROOT / "examples" / "demo.ipynb"]


def paths() -> list[str]:
    """List the pages, in the order of the parts."""
    return [f"course/{path.stem}.md" for path in notebooks()]


def pages() -> dict[str, str | bytes]:
    """Return every page and picture of the course, and the slides, by their paths in the site."""
    made: dict[str, str | bytes] = {}
    listed = []
    for path in notebooks():
        notebook = nbformat.read(path, as_version=4)
        made |= _page(path.stem, notebook)
        title = notebook.cells[0].source.splitlines()[0].removeprefix("# ")
        first = notebook.cells[0].source.split("\n\n")[1]
        listed.append(f"**[{title}]({path.stem}.md)** {first}\n")
    about = (
        "# The course\n\nWhy self-attention loses order, and how each family of encodings brings "
        "it back, with every number computed in front of you. The notebooks lie in `course/`; "
        "`make course` runs them again. [What the course covers](../checklist.md), one "
        "demonstration after the other.\n\n"
    )
    slides = (
        "**[The slides of the lecture](slides.html)** The same material in about forty slides, "
        "with notes for the speaker: arrow keys, n for notes, d for dark, p to print. One file, "
        "by `make slides`.\n"
    )
    made["course/slides.html"] = build_slides()
    return {"course/index.md": about + "\n".join([*listed, slides]), **made}


def _page(name: str, notebook: nbformat.NotebookNode) -> dict[str, str | bytes]:
    made: dict[str, str | bytes] = {}
    lines: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            lines += [_unquoted(_linked(cell.source)), ""]
            continue
        lines += ["```python", cell.source, "```", ""]
        printed = ""
        for output in cell.outputs:
            picture = output.get("data", {}).get("image/png")
            if picture:
                file = f"{name}-{len(made) + 1}.png"
                made[f"course/{file}"] = base64.b64decode(picture)
                lines += [f"![What the cell above draws]({file})", ""]
            elif output.get("name") != "stderr":
                printed += output.get("text") or output.get("data", {}).get("text/plain", "")
        if printed.strip():
            lines += ["```text", printed.rstrip("\n"), "```", ""]
    made[f"course/{name}.md"] = "\n".join(lines)
    return made


def _linked(text: str) -> str:
    """Turn links to other notebooks and to docs/ into links between pages."""
    return LINK.sub(r"](\1.md)", text).replace("](../docs/", "](../")


def _unquoted(text: str) -> str:
    """Turn an exercise in a block quote into a box with a folded answer."""
    if "> <details>" not in text:
        return text
    lines, box = [], False
    for line in text.splitlines():
        if line.startswith("> **Exercise"):
            title, _, rest = line.removeprefix("> **").partition("**")
            lines += [f'!!! question "{title.rstrip(".")}"', "", f"    {rest.strip()}"]
            box = True
        elif box and line.startswith(">"):
            lines.append(_boxed(line.removeprefix(">").removeprefix(" ")))
        else:
            box = False
            lines.append(line)
    return "\n".join(lines)


def _boxed(line: str) -> str:
    if line.startswith("<details>"):
        return '    ??? success "Answer"\n'
    if line.startswith("</details>"):
        return ""
    return f"        {line}" if line else ""
