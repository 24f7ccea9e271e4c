"""A baseline has one name wherever people read; a store holds its identifier."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from common_records import finished

from locant.anomaly import baselines
from locant.anomaly.detector import methods
from locant.lab.report.published import judge_statements
from locant.lab.report.score_table import scores as score_table
from locant.lab.report.study_page import html, markdown
from locant.lab.store.record import read_record

ROOT = Path(__file__).parents[3]
HIDDEN = re.compile("|".join(name for name in baselines.names() if "_" in name))
CLAIM = {
    "claim": "c",
    "published": "p",
    "metric": "average precision",
    "row": "sub_pca",
    "against": "none",
    "above": 0,
}


@pytest.fixture
def kept(tmp_path):
    """A study in which sub_pca is best, and a row of the user's own has an underscore in its
    name."""

    def scores(row, seed):
        return {
            "average precision": {"sub_pca": 0.9, "my_own": 0.8}.get(row, 0.5)
            + 0.001 * ((3 * seed) % 7)
        }

    changes = {
        "encodings": ["rotary", {"name": "my_own", "encoding": "alibi"}],
        "claims": [CLAIM],
        "seeds": 6,
    }
    return finished(
        tmp_path, "anomaly", scores, published={"sub_pca": {"average precision": 0.7}}, **changes
    )


def test_reports_show_the_name_and_the_store_keeps_the_identifier(kept):
    store, which = kept
    record = read_record(store, which)
    for text in (markdown(record), html([record])):
        assert not HIDDEN.search(text)
        assert "sub-pca" in text
        assert "my_own" in text  # what a user calls a row is left alone
    assert "Baselines ahead of every encoding: sub-pca (by " in markdown(record)
    assert score_table(record)[0].name == "sub-pca"
    assert "sub_pca" in store.studies()[0].study["baselines"]


def test_what_was_published_of_a_plain_method_still_finds_its_row(kept):
    record = read_record(*kept)
    assert [answer.answer for answer in judge_statements(record)] == ["holds"]
    assert "| sub-pca | .700" in markdown(record).split("## Published and measured")[1]


def test_detect_calls_its_plain_methods_as_reports_do():
    assert set(methods.names()) - {"transformer"} <= {
        baselines.shown(name) for name in baselines.names()
    }


def test_no_page_calls_a_plain_method_by_its_identifier_or_in_another_way():
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        found = [
            line
            for line in page.read_text("utf-8").splitlines()
            if HIDDEN.search(line) or "sub-PCA" in line
        ]
        assert found == [], page
