"""Pages made from the packed studies are those that their scripts would write today."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from locant.lab.advice import read_summaries
from locant.lab.store.pack import unpack

DOCS = Path(__file__).parents[2] / "docs"
PACKED = DOCS / "studies" / "studies.json.gz"


def script(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "source"),
    [("make_choosing", read_summaries), ("make_published", unpack)],
    ids=["choosing.md", "published.md"],
)
def test_a_made_page_is_what_the_packed_studies_say(name, source):
    make = script(name)
    assert make.PAGE.read_text(encoding="utf-8") == make.page(source(PACKED)), (
        f"run: python docs/{name}.py"
    )


def test_statements_of_studies_that_did_not_run_are_open():
    make = script("make_published")
    text = make.PAGE.read_text(encoding="utf-8")
    kept = {entry.name for entry in unpack(PACKED).studies()}
    assert ("| not run yet | is open |" in text) == bool(
        {name for name in ("copy", "text-lengths") if name not in kept}
    )
