"""The study files that are shipped, and what a study may ask for."""

from __future__ import annotations

import json

import pytest
from common_nab import write_nab
from common_ts import write_ts

from locant.lab.study_files import read_studies, read_study, study_names
from locant.lab.tasks.base import make_task


@pytest.mark.parametrize("name", study_names())
def test_every_study_that_is_shipped_can_be_read_in_full_and_quick(name, tmp_path, monkeypatch):
    monkeypatch.setenv("LOCANT_TS", str(write_ts(tmp_path / "ts")))
    path = tmp_path / "mine.csv"
    path.write_text("load\n" + "\n".join(str(number * number % 17) for number in range(2000)))
    changes = {"task_options.path": str(path)} if name.startswith("own-") else {}
    if name == "real-anomalies":
        changes = {"task_options.folder": str(write_nab(tmp_path / "nab"))}
    for quick in (False, True):
        for study in read_studies(name, quick=quick, changes=changes):
            task = make_task(study.task, **study.task_options)
            assert set(study.baselines) <= set(task.baselines)
            assert {"none"} <= {row.name for row in study.rows()}
            assert study.words.shows
            assert study.words.does_not_show
            assert study.words.would_change_it
            known = {row.name for row in study.rows()}
            if not quick:
                assert {claim.row for claim in study.claims} | set(study.published) <= known


def test_designs_are_variations_and_wrong_ones_are_told():
    four = read_studies("anomaly", design="full")
    assert [study.name for study in four] == [
        f"anomaly-{kind}" for kind in ("masked-many", "masked-one", "plain-many", "plain-one")
    ]
    assert len({json.dumps(study.task_options) for study in four}) == 4
    with pytest.raises(ValueError, match=r"Did you mean 'full'"):
        read_studies("anomaly", design="ful")
    with pytest.raises(ValueError, match="slots has no design"):
        read_studies("slots", design="full")
    with pytest.raises(ValueError, match="several studies"):
        read_study("slots")


@pytest.mark.parametrize("seeds", [[], 0, [-1], [1, 1], [1_000_000]])
def test_seeds_are_how_many_or_which_and_never_those_of_the_search(seeds):
    with pytest.raises(ValueError, match="seeds"):
        read_study("order", changes={"seeds": seeds})
