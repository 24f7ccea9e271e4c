"""The notebooks of the course run, and print what they printed when they were written."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent
spec = importlib.util.spec_from_file_location("course_run", ROOT / "course" / "run.py")
course = importlib.util.module_from_spec(spec)
spec.loader.exec_module(course)
NOTEBOOKS = course.notebooks()


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_printed_before(path):
    assert course.changes(nbformat.read(path, as_version=4), course.run(path)) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_with_the_outputs_of_one_run_from_top_to_bottom(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [out for cell in cells for out in cell.outputs if out.output_type == "error"]


def test_a_changed_number_word_or_picture_is_seen():
    kept = nbformat.v4.new_notebook(cells=[_printed("loss 0.512\nafter 3 steps\n")])
    assert course.changes(kept, kept) == []
    for text in ("loss 0.52\nafter 3 steps\n", "loss 0.512\nafter 4 steps\n", "loss 0.512\n"):
        assert course.changes(kept, nbformat.v4.new_notebook(cells=[_printed(text)])), text
    near = nbformat.v4.new_notebook(cells=[_printed("loss 0.511\nafter 3 steps\n")])
    assert course.changes(kept, near) == []


def _printed(text):
    output = nbformat.v4.new_output("stream", name="stdout", text=text)
    return nbformat.v4.new_code_cell("print()", outputs=[output])


def found_in(where):
    """The text of what a line of the checklist points to: sources, and what they printed."""
    names = {"slides": ["lecture/slides.md"], "demo": ["../examples/demo.ipynb"]}
    numbers = re.findall(r"\d", where.partition(",")[0])
    files = names.get(where) or [path.name for path in NOTEBOOKS if path.name[1] in numbers]
    text = ""
    for file in files:
        path = ROOT / "course" / file
        if path.suffix == ".md":
            return path.read_text("utf-8")
        notebook = nbformat.read(path, as_version=4)
        text += "\n".join(cell.source for cell in notebook.cells)
        text += "\n".join(line for lines in course.outputs(notebook) for line in lines)
    return text


def test_every_line_of_the_checklist_is_found_where_it_says():
    text = (ROOT / "docs" / "checklist.md").read_text("utf-8")
    lines = re.findall(r"^\| .+? \| (.+?) \| `(.+)` \|$", text, flags=re.MULTILINE)
    assert len(lines) > 60
    missing = [(where, words) for where, words in lines if words not in found_in(where)]
    assert missing == []
    sections = re.findall(r"(\d), §(\d\.\d+)", text)
    for number, section in sections:
        assert f"## {section} " in found_in(number), section
