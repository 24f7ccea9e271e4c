"""What the README shows is true: its code runs, its table is the one that the command prints, its
links lead somewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import locant
from locant.cli.listing import markdown
from locant.encodings.registry import describe, names
from locant.lab.report.study_page import markdown as report
from locant.lab.report.study_pictures import pictures
from locant.lab.store.pack import unpack
from locant.shapes import Shape

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def script(name, folder=ROOT / "docs"):
    """A script of docs or of the course, as a module."""
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
GUIDES = [ROOT / "docs" / "index.md", *sorted(ROOT.glob("docs/guides/*.md"))]
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *GUIDES[1:]]


@pytest.mark.parametrize("number", range(max(2, len(BLOCKS))))
def test_every_block_of_python_runs_alone(number):
    done = subprocess.run(
        [sys.executable, "-c", BLOCKS[number]],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"{BLOCKS[number]}\n{done.stderr}"


def test_every_block_of_python_in_the_guides_runs_alone():
    found = [
        (page.name, block)
        for page in GUIDES
        for block in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), flags=re.DOTALL)
    ]
    code = f"for page, block in {found!r}:\n    print(page, block)\n    exec(block, {{}})\n"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-800:] + done.stderr
    assert len(found) > 10


def test_every_dotted_name_leads_somewhere_after_importing_locant_alone():
    named = {
        name
        for page in PAGES
        for name in re.findall(r"(?<!from )\blocant(?:\.[A-Za-z_]\w*)+", page.read_text("utf-8"))
    }  # a module that is imported from has a statement of its own
    assert {"locant.testing.assert_certified", "locant.encodings.Rotary.from_hf_config"} <= named
    code = "import locant\n" + "\n".join(sorted(named))
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def test_every_class_of_an_encoding_is_imported_by_its_name():
    for name in names():
        cls = getattr(locant.encodings, describe(name).class_name)
        assert issubclass(cls, locant.encodings.Encoding)
        assert cls is type(locant.make(name, dim=8))
    assert {"Rotary", "T5", "Encoding", "rotary", "base"} <= set(dir(locant.encodings))
    with pytest.raises(AttributeError, match=r"has no name 'Rotery'. Did you mean 'Rotary'"):
        _ = locant.encodings.Rotery


def test_the_commands_that_install_name_an_extra_and_are_written_in_one_place():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    sources = {path: path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")}
    assert [path.name for path, text in sources.items() if "pip install" in text] == ["checks.py"]
    asked = {
        name
        for text in sources.values()
        for name in re.findall(r"how_to_install\([\"'](\w+)", text)
    }
    assert {"lab", "explore", "ray", "hf"} == asked <= set(extras)
    for line in [
        line
        for page in PAGES
        for line in page.read_text("utf-8").splitlines()
        if "pip install" in line
    ]:
        assert set(re.findall(r"\[(\w+)\]", line)) <= set(extras), line
        assert "release" in line or "locant[" not in line, line  # there is none yet
        assert "clone" in line or "-c constraints.txt" not in line, line


def printed_by(command, folder):
    """The lines that README shows under a command, and those that it prints in an empty folder."""
    (folder / "examples").symlink_to(ROOT / "examples")
    shown = re.search(rf"^\$ locant {re.escape(command)}\n(.*?)```", TEXT, flags=re.M | re.S)[1]
    done = subprocess.run(
        [sys.executable, "-m", "locant", *command.split()],
        cwd=folder,
        env=os.environ | {"COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    return shown.splitlines(), [line.rstrip() for line in done.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("command", re.findall(r"^\$ locant (.*)$", TEXT, flags=re.MULTILINE))
def test_a_command_prints_what_is_shown_under_it(command, tmp_path):
    moved = script("run", ROOT / "course").moved
    shown, now = printed_by(command, tmp_path)
    for line in shown:
        assert any(not moved(line, other) for other in now), line


def test_the_readme_is_short():
    assert len(TEXT.splitlines()) <= 120


def test_the_table_is_the_one_the_command_prints():
    shown = TEXT.split("<!-- made by `locant list --markdown` -->\n")[1].split("\n<!-- end -->")[0]
    assert shown == markdown([describe(name) for name in names()], Shape(64, 4, 512))


def test_every_link_leads_to_a_file():
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), (page.name, target)


def test_every_encoding_has_its_formula_paper_and_worked_example_at_the_top():
    for name in names():
        doc = describe(name).doc
        assert "arXiv:" in doc, name
        assert ">>>" in doc, name
        assert re.search(r"^    \S.*[=+(].*", doc, flags=re.MULTILINE), name


@pytest.mark.slow
def test_the_front_table_and_the_reports_are_made_from_the_packed_records():
    making = script("make_studies")
    found = making.records(unpack(making.PACKED))
    assert found
    overview = making.OVERVIEW.read_text(encoding="utf-8")
    assert overview.split(making.BEGIN)[1].split(making.END)[0] == making.front_table(found)
    for record in found:
        name = record.settings.name
        written = (ROOT / "docs" / "studies" / f"{name}.md").read_text(encoding="utf-8")
        listed = [
            (picture.caption, f"{name}/{key}.png") for key, picture in pictures(record).items()
        ]
        assert written == report(record, listed)
        assert all((ROOT / "docs" / "studies" / path).exists() for _, path in listed)
    assert sum(path.stat().st_size for path in making.PACKED.parent.glob("*.gz")) < 6_000_000


def test_the_tables_of_speed_are_what_bench_printed():
    making = script("make_speed")
    told = making.MEASURED.read_text(encoding="utf-8")
    shown = making.SHOWN.read_text(encoding="utf-8")
    assert making.renewed(shown, told) == shown
    assert making.renewed(shown, told.replace(" MB", " GB")) != shown
