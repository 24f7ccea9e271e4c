"""The certificates cannot be fooled: every planted bug is caught, and nothing else is called a
bug."""

from __future__ import annotations

import pytest

import locant
from common import EVERY, VARIANTS
from locant.certification.certificate import properties, property_names
from locant.encodings.claims import CLAIMS
from mutants import MUTANTS, PAGE, SIZE

SLOW = {"solves", "longer"}  # they train
QUICK = [name for name in property_names() if name not in SLOW]
JUDGING = {name for name, module in properties().items() if module.CLAIM != "seen"}
CONTROLS = {(m.stem, str(m.options), m.catcher): m for m in MUTANTS if m.catcher not in SLOW}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.stem}: {mutant.bug}")
def test_a_planted_bug_is_caught_by_its_property(mutant, tmp_path):
    found = mutant.examine(tmp_path)
    assert found.verdict == "fails", f"{found.name} says: {found.message}"


@pytest.mark.parametrize("mutant", CONTROLS.values(), ids=map(" ".join, CONTROLS))
def test_without_the_bug_the_same_property_finds_nothing_wrong(mutant):
    encoding = locant.make(mutant.stem, **{**SIZE, **mutant.options})
    assert locant.certify(encoding, effort="quick", only=[mutant.catcher]).fails == []


@pytest.mark.parametrize("name", EVERY)
def test_no_property_fails_on_a_correct_encoding(name):
    base, options = VARIANTS.get(name, (name, {}))
    dim = 16 if options else 32  # the variants are written for heads of width 8
    paper = locant.certify(
        locant.make(base, dim=dim, heads=2, length=64, **options), effort="quick", only=QUICK
    )
    assert {fails: paper[fails].message for fails in paper.fails} == {}


def test_rotary_fails_nothing_even_where_a_model_is_trained():
    assert (
        locant.certify(locant.make("rotary", dim=32, heads=4, length=64), effort="quick").fails
        == []
    )


def test_every_property_that_judges_catches_some_bug():
    assert {mutant.catcher for mutant in MUTANTS} == JUDGING


def test_every_encoding_has_bugs_planted_in_it():
    assert sorted({mutant.stem for mutant in MUTANTS}) == locant.names()


def test_every_claim_that_can_be_measured_is_lied_about():
    lies = {claim for claim in CLAIMS for mutant in MUTANTS if f"claims {claim}" in mutant.bug}
    assert lies == CLAIMS.keys()


def test_no_bug_is_planted_twice():
    sources = [(mutant.source, str(mutant.options)) for mutant in MUTANTS]
    assert len(set(sources)) == len(sources)
    assert len({(mutant.stem, mutant.bug) for mutant in MUTANTS}) == len(MUTANTS)


def test_the_table_in_the_docs_names_the_bugs_that_are_planted():
    rows = [
        line.strip("| ").split(" | ")[:3]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line[:2] == "| "
    ]
    assert rows[1:] == [[m.bug, m.stem, m.catcher] for m in MUTANTS], "run: python tests/mutants.py"
