"""Advice says what finished studies allow, and no more."""

from __future__ import annotations

import json

import pytest
from common_records import finished

from locant import lab
from locant.lab.advice import SUMMARIES, advise_need, read_summaries
from locant.lab.needs import NEEDS
from locant.lab.report.study_summary import summarize
from locant.lab.store.record import read_record
from locant.lab.study_files import parts, study_names


def summary(name="order", **more):
    entries = []
    for number, encoding in enumerate(("rotary", "t5", "alibi")):
        group, ahead = (1, 1, 2)[number], number < 2
        entries.append(
            {"name": encoding, "mean": 0.9 - number / 10, "half": 0.01, "group": group}
            | {"ahead_of_none": ahead, "parameters": 0, "ms_a_step": 1.0}
        )
    view = {"metric": "accuracy", "length": None, "none": 0.5, "entries": entries}
    fields = {"study": name, "seeds": 10, "unit": "seeds", "doubts": [], "not_learned": []}
    return {**fields, "encodings": ["rotary", "t5", "alibi"], "views": [view], **more}


def test_every_need_names_studies_that_exist_or_are_designs():
    designs = {"real-anomalies-irregular"}
    known = {*study_names(), *designs}
    for need in NEEDS.values():
        assert set(need.studies) <= known
        assert need.studies or need.besides
    assert parts("real-anomalies", "irregular") == ["real-anomalies-irregular"]


def test_an_answer_is_the_best_group_that_is_ahead_of_none():
    (answer,) = advise_need("order", {"order": summary()}).answers
    assert [one["name"] for one in answer.best] == ["rotary", "t5"]
    text = answer.as_text()
    assert "rotary .900 ± .010 and t5 .800 ± .010 cannot be distinguished; none has .500" in text
    assert "alibi" not in text
    assert "Not firm" not in text


def test_what_is_not_ahead_of_none_is_not_advised():
    behind = summary()
    for entry in behind["views"][0]["entries"]:
        entry["ahead_of_none"] = False
    (answer,) = advise_need("order", {"order": behind}).answers
    assert answer.best == []
    assert "no encoding is surely better than none" in answer.as_text()


def test_doubts_are_said_and_keep_a_study_out_of_what_is_shared():
    doubtful = summary("parity", doubts=["3 seeds, and a conclusion needs 10"])
    doubtful["views"][0]["entries"] = doubtful["views"][0]["entries"][1:2]
    need = advise_need("order", {"order": summary(), "parity": doubtful})
    advice = lab.Advice([need])
    assert "Not firm: 3 seeds" in str(advice)
    assert advice.shared == ["rotary", "t5"]
    firm = {**doubtful, "doubts": []}
    both = lab.Advice([advise_need("order", {"order": summary(), "parity": firm})])
    assert both.shared == ["t5"]
    assert "In the best group of order and parity: t5." in str(both)
    assert "sinusoidal" in str(both).partition("none of these studies")[2]


def test_longer_rows_answer_only_the_need_for_them():
    near, far = summary("lag"), summary("lag")
    far["views"][0] |= {"metric": "accuracy at 512", "length": 512}
    assert advise_need("long context", {"lag": near}).answers == []
    assert "lag" in advise_need("long context", {"lag": near}).missing
    (answer,) = advise_need("long context", {"lag": far}).answers
    assert answer.metric == "accuracy at 512"
    assert advise_need("exact offset", {"lag": far}).answers == []


def test_what_no_study_has_answered_is_not_advised():
    need = advise_need("two dimensions", {})
    assert need.lines()[1:] == [
        "  Not measured yet: grid.",
        "  No study has answered this: nothing can be advised.",
    ]
    assert "locant check" in str(lab.Advice([advise_need("pretrained checkpoint", {})]))


def test_a_summary_rests_on_the_runs(tmp_path):
    def metrics(name, seed):
        best = {"rotary": 0.9, "t5": 0.9, "alibi": 0.5}
        noise = ((seed * 7 + len(name)) % 10) / 1000
        return {"accuracy": best.get(name, 0.5) + noise}

    changes = {"encodings": ["rotary", "t5", "alibi"], "baselines": []}
    store, study = finished(tmp_path, "order", metrics, **changes)
    made = summarize(read_record(store, study))
    (view,) = made["views"]
    groups = {entry["name"]: (entry["group"], entry["ahead_of_none"]) for entry in view["entries"]}
    assert groups["rotary"] == groups["t5"] == (1, True)
    assert groups["alibi"][0] == 2
    assert not groups["alibi"][1]
    assert made["doubts"] == []
    assert made["seeds"] == 10
    told = lab.advise("order", store=store.path)
    assert told.shared == ["rotary", "t5"] or told.shared == ["t5", "rotary"]
    few, study = finished(tmp_path, "order", metrics, **changes, seeds=3)
    assert summarize(read_record(few, study))["doubts"] == ["3 seeds, and a conclusion needs 10"]


def test_what_is_shipped_is_what_the_packed_studies_say():
    from pathlib import Path

    packed = Path(__file__).parents[2] / "docs" / "studies" / "studies.json.gz"
    made = read_summaries(packed)
    shipped = json.loads(SUMMARIES.read_text(encoding="utf-8"))
    assert [made[one["study"]] for one in shipped] == json.loads(json.dumps(shipped))
    assert set(made) == {one["study"] for one in shipped}


def test_needs_are_words_from_a_list():
    with pytest.raises(ValueError, match="Did you mean 'exact offset'"):
        lab.advise("exact ofset")
    with pytest.raises(ValueError, match="name a need"):
        lab.advise()
    assert [one.need for one in lab.advise("Order, absolute  slot").needs] == [
        "order",
        "absolute slot",
    ]


def test_a_file_suggests_needs(tmp_path):
    text = tmp_path / "book.txt"
    text.write_text("words " * 50)
    assert [one.need for one in lab.advise(data=text).needs] == ["real text"]
    times = [0, 1, 2, 3.5, 4, 5.9, 6, 7, 8.4, 9] * 3
    lines = [f"{10 * (n // 10) + time},{n % 7}" for n, time in enumerate(times)]
    series = tmp_path / "load.csv"
    series.write_text("time,load\n" + "\n".join(lines))
    found = lab.advise(data=series)
    assert [one.need for one in found.needs] == ["real series", "irregular time", "small data"]
    assert found.hints[0] == "load.csv is a series of 30 rows."
    with pytest.raises(ValueError, match="is not there"):
        lab.advise(data=tmp_path / "no.csv")
