"""locant.lab.compare in Python: what it takes, what it refuses, and the result that it returns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas
import polars
import pytest
from common_lab import LOCANT, kept, write_tiny
from matplotlib.figure import Figure
from scripted import keep_study

import locant
from locant.encodings.base import Encoding
from locant.lab import study_result
from locant.lab.own_data import data_file
from locant.lab.own_encodings import encoding_name
from locant.lab.progress import LineDisplay, NotebookDisplay, choose_display
from locant.lab.store import STORE
from locant.lab.store.store import Store
from locant.lab.study_result import StudyResult
from locant.lab.training.run_result import RunResult

EXAMPLES = Path(__file__).parents[2] / "examples"
MINE = """
from locant.encodings.base import Encoding

class Mine(Encoding):
    def embed(self, x, pos):
        return x + 0.1 * pos[..., None]
"""
TINY = {"model.dim": 8, "model.heads": 2, "model.layers": 1, "model.ffn": 8}
TINY |= {"training.steps": 4, "training.batch": 4, "training.test": 16, "training.validation": 16}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The tiny study in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return locant.lab.read_study(str(write_tiny(tmp_path)), changes={"seeds": 1})


def test_the_laboratory_imports_no_torch_and_its_door_stays_a_function():
    code = (
        "import sys, locant.lab; dir(locant.lab); locant.lab.report; locant.lab.compare\n"
        "assert 'torch' not in sys.modules and 'pydantic' not in sys.modules\n"
        "import locant.lab.comparison, locant.lab.report.tensorboard\n"
        "assert callable(locant.lab.compare) and callable(locant.lab.report)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_studies_of_a_store_are_listed_as_the_command_lists_them(study, tmp_path):
    result = locant.lab.compare(study, encodings=["rotary"], seeds=1, progress=False)
    frame = locant.lab.runs()
    assert frame.columns == ["id", "title", "finished", "runs", "command"]
    assert frame["id"].to_list() == [result.records[0].id]
    assert frame["command"][0].startswith("locant.lab.compare('tiny'")


def test_what_is_wrong_with_own_data_is_told_in_words_of_python_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = polars.DataFrame({"hour": range(100), "load": np.sin(np.arange(100) / 5)})
    with pytest.raises(ValueError, match=r"shorter windows: train_length \(--train-length\)"):
        locant.lab.compare(data=frame, encodings=["rotary"], quick=True, progress=False)


def test_a_class_in_a_file_is_compared_and_the_same_call_trains_nothing(
    study, tmp_path, monkeypatch
):
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    from mine import Mine

    first = locant.lab.compare(study, encodings=["rotary", Mine], workers=1, progress=False)
    assert "No conclusion is possible with 1 seed" in first.verdict
    assert set(first.table()["name"]) == {"none", "scrambled", "rotary", "Mine"}
    assert first.runs().height == 4
    before = kept(tmp_path)
    seen = []
    watch = SimpleNamespace(planned=lambda *_: None, ended=lambda *_: seen.append(1))
    again = locant.lab.compare(study, encodings=["rotary", "mine.py:Mine"], progress=watch)
    assert (again.verdict, seen, kept(tmp_path)) == (first.verdict, [], before)
    record = locant.lab.report("locant-results/runs.sqlite", "tiny")
    assert record.verdict == first.verdict
    assert record.records[0].command.startswith("locant.lab.compare('tiny', changes=")


def test_a_script_without_a_main_guard_still_gets_its_result(study, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import locant\nresult = locant.lab.compare('tiny.toml', seeds=1, encodings=['rotary'],"
        " workers=1, progress=False)\nprint(result.runs().height)\n"
    )
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "3\n", done.stderr


def test_a_class_without_a_file_is_refused_with_what_to_do():
    class Inner(Encoding):
        pass

    with pytest.raises(ValueError, match=r"Inner is defined in a notebook.*\n.*writefile"):
        encoding_name(Inner)


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        ({"study": None}, "name a study"),
        ({"quick": True}, "this Study has none"),
        ({"data": "mine.csv"}, "leave out the data"),
        ({"columns": ["x"]}, "columns: for your own data alone"),
        ({"progress": 3}, "progress is True, False, or an object"),
        ({"encodings": [3]}, "encodings are names, classes"),
        ({"changes": {"training.stepz": 3}}, "Allowed there: steps"),
        ({"workers": -1}, "at least 0 for workers"),
    ],
    ids=str,
)
def test_a_request_that_cannot_be_met_is_refused(study, tmp_path, request_, reason):
    with pytest.raises(ValueError, match=reason):
        locant.lab.compare(**{"study": study, **request_})
    assert not (tmp_path / "locant-results").exists()


def test_ctrl_c_keeps_every_finished_run_and_says_how_to_go_on(study, tmp_path):
    class Stop(locant.lab.Watch):
        def ended(self, run, result):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"Every finished run is kept in .* goes on"):
        locant.lab.compare(study, workers=1, progress=Stop())
    assert len(kept(tmp_path)) == 1


def test_a_result_is_a_table_a_picture_a_page_and_escaped_html(tmp_path):
    keep_study(tmp_path / "runs.sqlite", title="<script>tiny</script>")
    result = locant.lab.report(tmp_path / "runs.sqlite")
    assert isinstance(result.table(), polars.DataFrame)
    assert result.runs().height == 8
    assert set(result.runs().columns) >= {"name", "encoding", "seed", "accuracy"}
    assert isinstance(result.plot(), Figure)
    plt.close("all")
    assert "metric" in result.pictures
    assert result.to_html(tmp_path / "tiny.html").read_text().startswith("<!doctype html>")
    shown = result._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert "rotary" in shown
    plain = result.to_dict()
    assert plain["verdict"] == result.verdict
    assert sorted(name for group in plain["groups"] for name in group) == ["rotary", "t5"]


def test_frames_and_arrays_become_files_that_are_named_by_what_they_hold(tmp_path):
    values = np.arange(6.0).reshape(3, 2)
    path = data_file(values, tmp_path)
    frame = polars.DataFrame(values, schema=["column 0", "column 1"])
    assert data_file(frame, tmp_path) == path
    pandas_frame = pandas.DataFrame(values, columns=frame.columns)
    assert data_file(pandas_frame, tmp_path) == path
    assert polars.read_csv(path).rows() == frame.rows()
    assert data_file("mine.csv", tmp_path) == Path("mine.csv")
    with pytest.raises(ValueError, match="a polars or pandas frame, or an array"):
        data_file(object(), tmp_path)


def test_a_notebook_gets_a_live_bar_and_other_outputs_lines(monkeypatch, capsys):
    assert isinstance(choose_display(), LineDisplay)
    shown = []
    handle = SimpleNamespace(update=shown.append)

    def display(text, display_id):
        shown.append(text)
        return handle

    ipython, inner = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    inner.HTML, inner.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", inner)
    bar = choose_display()
    assert isinstance(bar, NotebookDisplay)
    bar.planned("runs", 2, [])
    bar.ended(None, RunResult("d", "c", {"name": "<b>"}, "done", {"validation": 0.5}))
    assert 'value="1" max="2"' in shown[-1]
    assert "best validation score so far: &lt;b&gt; 0.500" in shown[-1]


def test_the_example_is_short_and_runs(tmp_path):
    text = (EXAMPLES / "compare.py").read_text()
    assert len(text.splitlines()) < 15
    (tmp_path / "mine.py").write_text((EXAMPLES / "mine.py").read_text())
    small = {**TINY, "seeds": 1, "search": False}
    script = text.replace("quick=True", f"quick=True, workers=1, progress=False, changes={small}")
    (tmp_path / "compare.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "compare.py"], cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert "No conclusion is possible with 1 seed" in done.stdout
    assert (tmp_path / "order.html").is_file()
    assert len(Store(tmp_path / "locant-results" / "runs.sqlite").studies()) == 1


def test_what_cannot_be_meant_is_refused_before_anything_trains(tmp_path):
    given = {"quick": True, "store": tmp_path / "runs.sqlite"}
    with pytest.raises(ValueError, match="no encodings"):
        locant.lab.compare("order", encodings=[], **given)
    with pytest.raises(ValueError, match="for a Ray cluster"):
        locant.lab.compare("order", address="auto", **given)
    with pytest.raises(ValueError, match="seeds are a whole number"):
        locant.lab.compare("order", seeds=1.5, **given)
    assert not (tmp_path / "runs.sqlite").exists()


PACKED = Path(__file__).parents[2] / "docs" / "studies" / "studies.json.gz"


def test_a_result_is_read_again_with_store_and_study_in_either_order(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(study_result, "read_result", lambda *given: seen.append(given))
    report, store = locant.lab.report, tmp_path / "kept"
    store.touch()
    report("order", store="runs.sqlite")
    report("runs.sqlite", "order")
    report(store="runs.sqlite", study="order")
    assert seen == [("runs.sqlite", "order", None)] * 3
    seen.clear()
    report("runs.sqlite")
    report(store)
    report("order")
    report()
    report("anomaly", design="full")
    assert seen == [
        ("runs.sqlite", None, None),
        (store, None, None),
        (STORE, "order", None),
        (STORE, None, None),
        (STORE, "anomaly", "full"),
    ]
    with pytest.raises(ValueError, match=r"each once\. Got 'a.sqlite', 'order' beside"):
        report("a.sqlite", "order", store="b.sqlite", study="slot")


def test_a_result_writes_everything_that_the_command_writes(tmp_path):
    result = locant.lab.report(PACKED, "order")
    command = [LOCANT, "report", "order", "--store", str(PACKED)]

    def printed(option):
        return subprocess.run([*command, option], capture_output=True, text=True).stdout

    assert printed("--csv") == result.to_csv()
    assert printed("--markdown") == result.to_markdown() + "\n"
    assert result.to_parquet(tmp_path / "runs.parquet") == [tmp_path / "runs.parquet"]
    assert (tmp_path / "runs.parquet").stat().st_size > 0
    several = StudyResult([*result.records, *locant.lab.report(PACKED, "slot").records])
    paths = several.to_parquet(tmp_path / "each.parquet")
    assert [path.name for path in paths] == ["each-order.parquet", "each-slot.parquet"]
    assert all(path.is_file() for path in paths)
