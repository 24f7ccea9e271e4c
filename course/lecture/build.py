"""Make the slides of the lecture: one HTML file that needs nothing else.

python course/lecture/build.py [FILE]     # dist/slides.html by default

The source is slides.md: slides between lines of `---`, each with speaker notes after `Note:`. A
block of code is run while the slides are made, in one namespace for all of them, and its first line
says what becomes of it:

    ```python text       what it prints, as it is
    ```python markdown   what it prints, as Markdown: tables, and sentences with computed numbers
    ```python draw       the picture that it leaves in `figure`; run for a light and a dark `theme`
    ```python code       the code itself, and what it prints

`kept(notebook, words)` gives what a cell of the course printed, so that nothing is trained twice.
"""

from __future__ import annotations

import base64
import html
import io
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import markdown
import nbformat
import torch

HOME = Path(__file__).parent
ROOT = HOME.parents[1]
sys.path.insert(0, str(ROOT / "docs" / "site"))

from formulas import as_mathml  # noqa: E402

BLOCK = re.compile(r"^```python (text|markdown|draw|code)\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
WIDE = 1.9  # a picture wider than this, by its height, goes below the text
SMALLER = 0.8  # than in a notebook: a smaller picture, scaled up, has larger letters


def build() -> str:
    """Run the source and return the page."""
    names: dict[str, Any] = {"kept": kept}
    torch.manual_seed(0)
    slides = [_slide(text, names) for text in sources()]
    page = (HOME / "page.html").read_text("utf-8")
    for word in ("style.css", "keys.js"):
        page = page.replace(f"<!-- {word} -->", (HOME / word).read_text("utf-8"))
    return page.replace("<!-- slides -->", "\n".join(slides))


def sources() -> list[str]:
    """Return the Markdown of each slide."""
    return re.split(r"^---\n", (HOME / "slides.md").read_text("utf-8"), flags=re.MULTILINE)


def kept(notebook: str, words: str) -> str:
    """Return what the cell that contains `words` printed, in the notebook whose name begins so."""
    (path,) = (ROOT / "course").glob(f"{notebook}*.ipynb")
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if words in cell.source]
    if len(cells) != 1:
        raise ValueError(f"{len(cells)} cells of {path.name} contain {words!r}; name exactly one.")
    return "".join(output.get("text", "") for output in cells[0].outputs)


def _slide(source: str, names: dict[str, Any]) -> str:
    """Return one slide: its title, its text, pictures beside or below it, and its notes."""
    shown, _, notes = source.partition("\nNote:")
    title, _, shown = shown.strip().partition("\n\n")
    pictures: list[str] = []
    shapes: list[float] = []
    parts, end = [], 0
    for block in BLOCK.finditer(shown):
        parts.append(_markdown(shown[end : block.start()]))
        end = block.end()
        if block[1] == "draw":
            drawn, shape = _pictures(block[2], names)
            pictures.append(drawn)
            shapes.append(shape)
        else:
            parts.append(_printed(block[1], block[2], names))
    parts.append(_markdown(shown[end:]))
    layout = "text"
    if pictures:
        layout = "below" if max(shapes) > WIDE else "beside"
    text = "\n".join(part for part in parts if part)
    return (
        f'<section class="slide {layout}"><header>{_markdown(title)}</header>'
        f'<div class="words">{text}</div>'
        + (f'<div class="pictures">{"".join(pictures)}</div>' if pictures else "")
        + f'<aside class="notes">{_markdown(notes)}</aside></section>'
    )


def _markdown(text: str) -> str:
    return markdown.markdown(as_mathml(text.strip()), extensions=["tables", "fenced_code"])


def _printed(kind: str, code: str, names: dict[str, Any]) -> str:
    printed = io.StringIO()
    with redirect_stdout(printed):
        _run(code, names)
    if kind == "markdown":
        return _markdown(printed.getvalue())
    text = printed.getvalue().rstrip()
    text = f"<pre>{html.escape(text)}</pre>" if text else ""
    if kind == "text":
        return text
    return f'<pre class="code">{html.escape(code.rstrip())}</pre>{text}'


def _pictures(code: str, names: dict[str, Any]) -> tuple[str, float]:
    """Draw for a light and a dark page; return both, and the width by the height."""
    drawn = []
    for theme in ("light", "dark"):
        names["theme"] = theme
        _run(code, names)
        figure = names["figure"]
        figure.set_size_inches(*(SMALLER * figure.get_size_inches()))
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=160)
        data = base64.b64encode(file.getvalue()).decode()
        title = html.escape(figure.get_suptitle().replace("\n", ", "))
        drawn.append(f'<img class="{theme}" alt="{title}" src="data:image/png;base64,{data}">')
    width, height = figure.get_size_inches()
    return "".join(drawn), width / height


def _run(code: str, names: dict[str, Any]) -> None:
    exec(compile(code, "slides.md", "exec"), names)


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist" / "slides.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(build(), "utf-8")
    print(f"{target}: {len(sources())} slides, {target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
