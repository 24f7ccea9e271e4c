"""Certificates as text, Markdown and HTML: complete, narrow enough, and safe with hostile names."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest

import locant
from locant.certification.certificate import FAILS, MARKS, certify, property_names
from locant.lab.report import certificate_pages as report

SMALL = {"dim": 16, "heads": 2, "length": 32}


@pytest.fixture(scope="module")
def paper():
    """Every property of a small rotary encoding."""
    return certify(locant.make("rotary", **SMALL), effort="quick", name="rotary")


def fakes(paper, names, fails=()):
    """The same certificate under other names, some properties failing."""
    papers = []
    for name in names:
        one = copy.deepcopy(paper.to_dict()) | {"encoding": name, "fails": list(fails)}
        for finding in one["findings"]:
            finding["verdict"] = FAILS if finding["name"] in fails else finding["verdict"]
        papers.append(one)
    return papers


@pytest.mark.parametrize("fails", [(), property_names()], ids=["none fails", "all fail"])
def test_the_matrix_of_all_encodings_fits_a_hundred_columns(paper, fails):
    text = report.matrix_text(fakes(paper, locant.names(), fails), width=100)
    assert [line for line in text.splitlines() if len(line) > 100] == []
    words = {line.split()[0] for line in text.splitlines() if line.strip()}
    assert set(property_names()) <= words
    for name in locant.names():
        assert name[:5] in text


@pytest.mark.parametrize("width", [60, 80, 100])
def test_one_certificate_keeps_to_the_width_of_the_terminal(paper, width):
    (one,) = fakes(paper, ["rotary"], ["shift", "precision"])
    text = report.full_text(one, width)
    assert [line for line in text.splitlines() if len(line) > width] == []
    joined = " ".join(text.split())
    for finding in one["findings"]:
        assert finding["message"] in joined
        assert finding["sentence"] in joined
    assert "Bound: 0.0001 in float32, 0.1 in bfloat16; float32 scores carry rounding" in joined


def test_what_was_not_learned_is_shown_as_not_judged_beside_what_was():
    made = {name: locant.make(name, dim=32, heads=4, length=64) for name in ("none", "shaw")}
    papers = [
        certify(one, only=["beyond", "longer"], name=name).to_dict() for name, one in made.items()
    ]
    _, beyond, longer, *_ = report.matrix_text(papers).splitlines()
    assert beyond.split() == ["beyond", "○", "✓finite"]
    assert longer.split() == ["longer", "○unsolved", "·holds"]
    assert "| **longer** | ○ unsolved | · holds |" in report.markdown(papers)
    page = report.html(papers)
    assert re.search(
        r'<td class="not judged"><a href="#0-longer" title="Not judged: in .*">○ unsolved</a></td>',
        page,
    )
    assert [one["findings"][1]["verdict"] for one in papers] == ["not judged", "seen"]
    assert "○ not judged: there was nothing to measure, or the model did not learn its task" in page


def test_every_verdict_has_the_same_mark_in_tables_and_in_the_explorer():
    script = Path(locant.__file__).parent / "explorer" / "page" / "tabs" / "certificates.js"
    written = re.search(r"const MARKS = {(.*)};", script.read_text(encoding="utf-8"))[1]
    assert {
        word.strip('"'): mark for word, mark in re.findall(r'("[^"]+"|\w+): "(.)"', written)
    } == MARKS
    assert report.MARKS == MARKS


HOSTILE = ["<script>alert(1)</script>", "a|b", "`tick`", "quote\"'&", "two\nlines"]


def test_markdown_has_every_property_and_every_failure(paper):
    text = report.markdown(fakes(paper, ["rotary", "alibi"], ["shift"]))
    for finding in paper.findings:
        assert f"| **{finding.name}** | " in text
        assert f"- **{finding.name}** ({finding.claim}): {finding.sentence}" in text
    assert text.count("- `alibi`, shift: Scores move by") == 1


def test_hostile_names_and_messages_stay_text_in_markdown(paper):
    papers = fakes(paper, HOSTILE, ["shift"])
    papers[0]["findings"][0]["value"] = "a|b"
    for one in papers:
        one["findings"][6]["message"] = "It raised <img> | [x](y)"
    text = report.markdown(papers)
    outside_code = re.sub(r"`[^`\n]*`", "", text)
    assert "<" not in outside_code
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + len(papers[0]["findings"])
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {len(papers) + 2}


def test_the_page_has_every_property_and_stands_alone(paper):
    page = report.html(fakes(paper, ["rotary", "alibi"]))
    for finding in paper.findings:
        assert f'id="1-{finding.name}"' in page
        assert f'href="#0-{finding.name}"' in page
    for outside in ("http://", "https://", "src=", "<link", "<script", "@import", "url("):
        assert outside not in page


def test_hostile_names_stay_text_in_the_page(paper):
    page = report.html(fakes(paper, HOSTILE, ["shift"]))
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert page.count("<section>") == len(HOSTILE)
