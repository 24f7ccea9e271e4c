"""Wrong fields of a study are told in sentences, wherever the study comes from."""

from __future__ import annotations

import pytest

from locant.lab import Study, compare
from locant.lab.study_files import read_study

WRONG = [
    ("training.steps", "x", r"training.steps is 'x'.*Allowed: a whole number of at least 1\."),
    (
        "training.step",
        3,
        r"training.step is no field.*Did you mean 'steps'\? Allowed there: steps, ",
    ),
    ("seeds", 2.5, r"seeds is 2.5.*a whole number, a list of whole numbers or 'all'\."),
    ("seeds", ["a"], r"seeds is \['a'\].*a list of whole numbers"),
    ("seeds", 0, r"seeds is 0: give how many \(at least 1\), or a list"),
    ("model.norm", "rms", r"model.norm is 'rms'.*Allowed: 'pre' or 'post'\."),
    ("model.dropout", 2, r"model.dropout is 2.*a number of at least 0 and below 1\."),
    ("controls", ["nune"], r"controls.0 is 'nune'.*'none', 'scrambled' or 'no attention'"),
    ("encodings", [{"encoding": "rotary"}], r"encodings.0.name is missing. It is a text"),
    ("encodings", [{"name": "a", "control": "q"}], r"encodings.0.control is 'q'.*'scramble'"),
    ("encodings", ["rotary", 3], r"encodings.1 is 3.*a table with the fields name, encoding"),
    ("search", 5, r"search is 5.*a table with the fields rate, positional_rate"),
    ("search.rate", ["a"], r"search.rate.0 is 'a'.*Allowed: a number\."),
    ("margin", 0, r"margin is 0.*a number above 0\."),
    ("words.show", "x", r"words.show is no field.*Did you mean 'shows'\?"),
]


def sentences(problem):
    """The text of an error, which names no library's types and no web address."""
    text = str(problem.value)
    for foreign in ("Input should", "validation error", "pydantic", "Field required", "type="):
        assert foreign not in text, text
    assert type(problem.value) is ValueError
    return text


@pytest.mark.parametrize(("field", "value", "words"), WRONG)
def test_a_wrong_field_is_told_with_its_value_and_what_is_allowed(field, value, words):
    with pytest.raises(ValueError, match=words) as problem:
        read_study("order", changes={field: value})
    assert sentences(problem).startswith("the study order cannot be used:\n")
    assert "Change this in the study's file or in `changes`" in str(problem.value)


def test_a_study_of_ones_own_in_a_file_or_in_python_is_told_the_same(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('title = "Mine"\ntask = "order"\nseeds = 3.5\n', encoding="utf-8")
    with pytest.raises(ValueError, match="encodings is missing") as in_file:
        compare(path, store=tmp_path / "runs.sqlite")
    with pytest.raises(ValueError, match=r"seeds is 3\.5") as in_python:
        compare(Study(name="mine", title="Mine", task="order", seeds=3.5))
    assert sentences(in_file) == sentences(in_python)
    assert not (tmp_path / "runs.sqlite").exists()


def test_each_field_is_told_once():
    with pytest.raises(ValueError, match="title is missing") as problem:
        Study(name="a", seeds=2.5, encodings="all")
    lines = sentences(problem).splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == ["title", "task", "seeds"]
