"""What the README shows is true: its code runs, its table is the one that the command prints, its links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
import torch

from locant.catalog import describe, names
from locant.cli.listing import markdown
from locant.report.pictures import pictures
from locant.report.study import markdown as report
from locant.results.pack import unpack
from locant.shapes import Shape

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def script(name):
    """A script of docs, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_block_of_python_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    shared = {"mask": torch.tensor([[False, True, True]]), "times": [1.0, 2.0, 4.0]}
    blocks = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    assert len(blocks) >= 5
    for block in blocks:
        exec(compile(block, "README.md", "exec"), shared)  # our own file
    assert shared["out"].shape == (2, 100, 64)


def test_the_table_is_the_one_the_command_prints():
    shown = TEXT.split("<!-- made by `locant list --markdown` -->\n")[1].split("\n<!-- end -->")[0]
    assert shown == markdown([describe(name) for name in names()], Shape(64, 4, 512))


def test_every_link_leads_to_a_file():
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")):
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
    shown = TEXT.split(making.BEGIN)[1].split(making.END)[0]
    assert shown == making.front_table(found)
    for record in found:
        name = record.study["name"]
        written = (ROOT / "docs" / "studies" / f"{name}.md").read_text(encoding="utf-8")
        listed = [(picture.caption, f"{name}/{key}.png") for key, picture in pictures(record).items()]
        assert written == report(record, listed)
        assert all((ROOT / "docs" / "studies" / path).exists() for _, path in listed)
    assert making.PACKED.stat().st_size < 2_000_000


def test_the_tables_of_speed_are_what_bench_printed():
    making = script("make_speed")
    told = making.MEASURED.read_text(encoding="utf-8")
    assert making.renewed(TEXT, told) == TEXT
    assert making.renewed(TEXT, told.replace(" MB", " GB")) != TEXT
