"""locant compare real-anomalies: which series it takes, and what it refuses before anything
trains."""

from __future__ import annotations

import pytest
from common_nab import SMALL, mark, write_nab

from locant.cli.app import app
from locant.lab.binding import bind as bound
from locant.lab.study_files import about, read_studies, read_study


def test_seeds_are_all_series_unless_fewer_are_asked_for(nab, monkeypatch):
    monkeypatch.setenv("LOCANT_NAB", str(nab))
    changes = {f"task_options.{name}": value for name, value in SMALL.items()}
    assert bound(read_study("real-anomalies", changes=changes)).seed_list() == [0, 1, 2]
    assert bound(read_study("real-anomalies", changes={**changes, "seeds": 2})).seed_list() == [
        0,
        1,
    ]
    (uneven,) = read_studies("real-anomalies", design="irregular", changes=changes)
    assert bound(uneven).seed_list() == [0]
    assert {"rotary", "rotary, times"} <= {row.name for row in uneven.rows()}
    assert about("real-anomalies").endswith("(15 rows × all series)")


CASES = [
    (["real-anomalies"], "locant compare real-anomalies --nab FOLDER, or set LOCANT_NAB"),
    (["real-anomalies", "--nab", "nowhere"], "there is no folder"),
    (["real-anomalies", "--nab", "bare"], "has no windows.json"),
    (["real-anomalies", "--nab", "broken"], "is not valid JSON"),
    (["real-anomalies", "--nab", "calm"], "no labeled series: windows.json has 2 names"),
    (["real-anomalies", "--nab", "short"], "even/0.csv has 100 rows, but a window has 256"),
    (["real-anomalies", "--nab", "whole"], "marks none or all of the rows of even/0.csv"),
    (["real-anomalies", "--nab", "two"], "even/0.csv has 2 columns of values"),
    (
        ["real-anomalies", "--nab", "nab", "--seeds", "9"],
        "has 3 series, numbered from 0, but number 8 is asked for",
    ),
    (
        ["real-anomalies", "--nab", "nab", "--set", "search={ check = 1 }"],
        "cannot search: all its series are reported",
    ),
    (["real-anomalies", "--nab", "even", "--design", "irregular"], "is sampled at uneven times"),
    (["order", "--nab", "nab"], "--nab is for studies of the task real-anomalies"),
    (["order", "--set", "seeds=all"], "has no end of them"),
    (["clock.toml", "--nab", "nab"], "t5 takes whole numbers alone"),
    (["order.toml"], "the data of this task have none"),
]


@pytest.mark.parametrize(("words", "said"), CASES)
def test_what_cannot_be_compared_is_told_before_anything_trains(
    tmp_path, words, said, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOCANT_NAB", "")
    monkeypatch.setattr("locant.lab.store.store.Store", None)  # nothing may begin
    write_nab(tmp_path / "nab")
    write_nab(tmp_path / "even", uneven=0)
    write_nab(tmp_path / "calm", even=0, uneven=0)
    write_nab(tmp_path / "short", rows=100)
    mark(write_nab(tmp_path / "whole"), "even/0.csv", [["2014-01-01", "2015-01-01"]])
    (tmp_path / "bare" / "group").mkdir(parents=True)
    (write_nab(tmp_path / "broken") / "windows.json").write_text("{")
    path = write_nab(tmp_path / "two") / "even" / "0.csv"
    lines = path.read_text().splitlines()
    path.write_text(
        "\n".join(f"{line},{'more' if not at else at % 7}" for at, line in enumerate(lines))
    )
    row = 'title = "t"\ncontrols = ["none"]\n'
    row += 'encodings = [{ name = "a", encoding = "t5", positions = "times" }]\n'
    (tmp_path / "clock.toml").write_text(row + 'seeds = "all"\ntask = "real-anomalies"\n')
    (tmp_path / "order.toml").write_text(row + 'task = "order"\n')
    with pytest.raises(SystemExit) as end:
        app(["compare", *words])
    told = capsys.readouterr().err
    assert end.value.code == 2, told
    assert "locant: " in told
    assert said in " ".join(told.split())
    assert not (tmp_path / "locant-results").exists()
