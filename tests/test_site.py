"""The documentation site: it builds without a warning, and every page stands on its own."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from common_browser import CHROMIUM, FLAGS, NEEDS_CHROMIUM

import locant
from locant.encodings.registry import describe, names
from locant.lab.store.store import Store
from locant.lab.study_files import read_study

ROOT = Path(__file__).parent.parent
NARROW = {"width": 390, "height": 800}


def site_module(name):
    """A module of docs/site."""
    path = ROOT / "docs" / "site" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # a dataclass looks its module up
    spec.loader.exec_module(module)
    return module


def test_formulas_become_mathml_and_words_in_backticks_stay():
    found = doctest.testmod(site_module("formulas"))
    assert (found.failed, found.attempted) == (0, 3)


def test_every_encoding_says_when_to_use_it_what_its_traps_are_and_who_uses_it():
    guidance = site_module("guidance")
    assert doctest.testmod(guidance).failed == 0
    missing = {name: guidance.read(describe(name).doc).missing for name in names()}
    assert {name: labels for name, labels in missing.items() if labels} == {}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_the_site_has_a_page_for_every_encoding_and_every_part_of_the_course(site):
    assert {path.stem for path in (site / "encodings").glob("*.html")} >= set(locant.names())
    for notebook in (ROOT / "course").glob("*.ipynb"):
        text = (site / "course" / f"{notebook.stem}.html").read_text("utf-8")
        assert "<math" in text or "$" not in notebook.read_text("utf-8")
        assert "$$" not in text


@NEEDS_CHROMIUM
@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_every_page_opens_without_an_error_another_host_or_sideways_scrolling(site):
    playwright = pytest.importorskip("playwright.sync_api")
    wrong = []
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for page_file in sorted(set(site.rglob("*.html")) - {site / "404.html"}):
            # 404.html is shown by servers alone, at any address
            wrong += _look_at(browser, page_file, site)
        browser.close()
    assert wrong == []


def _look_at(browser, page_file, site):
    """What is wrong with a page, as a phone shows it."""
    name = page_file.relative_to(site).as_posix()
    page = browser.new_page(viewport=NARROW)
    wrong = []
    page.on("console", lambda said: said.type == "error" and wrong.append((name, said.text)))
    page.on("pageerror", lambda error: wrong.append((name, str(error))))
    page.on(
        "request",
        lambda asked: (
            not asked.url.startswith(("file:", "data:", "blob:"))
            and wrong.append((name, asked.url))
        ),
    )
    page.goto(page_file.as_uri())
    width = page.evaluate("document.documentElement.scrollWidth")
    if width > NARROW["width"]:
        wrong.append((name, f"{width} pixels wide"))
    page.close()
    return wrong


def test_the_study_of_the_guide_is_one(tmp_path):
    guide = (ROOT / "docs" / "guides" / "extend-locant.md").read_text("utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", guide, flags=re.DOTALL)
    file = tmp_path / "mine.toml"
    file.write_text(text, "utf-8")
    assert read_study(str(file)).seeds == 10
    quick = read_study(str(file), quick=True)
    assert (quick.seeds, quick.training.steps) == (3, 60)


def test_the_guide_to_the_store_names_every_table_and_column(tmp_path):
    Store(tmp_path / "runs.sqlite")
    guide = (ROOT / "docs" / "guides" / "store.md").read_text("utf-8")
    described = dict(re.findall(r"^\| `(\w+)` \| .+? \| (.+) \|$", guide, flags=re.MULTILINE))
    with closing(sqlite3.connect(tmp_path / "runs.sqlite")) as database:
        tables = [name for (name,) in database.execute("select name from sqlite_master")]
        kept = [name for name in tables if not name.startswith("sqlite_")]
        assert set(described) == {name for name in kept if "_" not in name}
        for table, columns in described.items():
            there = {line[1] for line in database.execute(f"pragma table_info({table})")}
            assert set(re.findall(r"`(\w+)`", columns)) == there, table


def test_the_guide_names_every_encoding_that_is_added_to_the_input():
    guide = (ROOT / "docs" / "guides" / "your-attention.md").read_text("utf-8")
    (named,) = re.findall(r"added to the input\s*\((.+?)\)", guide, flags=re.DOTALL)
    assert set(re.findall(r"`(\w+)`", named)) == {
        name for name in names() if "embed" in describe(name).hooks
    }
