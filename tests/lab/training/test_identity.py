"""A run is known by the code that decides it: all of that, and nothing else."""

import sys
from inspect import CO_OPTIMIZED
from pathlib import Path

import pytest

from locant.lab.training.config import RunConfig
from locant.lab.training.evaluate import execute
from locant.lab.training.identity import PACKAGE, fingerprint, reached

SMALL = {"steps": 2, "batch": 2, "validate_every": 1, "validation": 2, "test": 2}
TINY = {"dim": 8, "heads": 2, "layers": 1, "ffn": 8}
SERIES = "time,load\n" + "\n".join(
    f"2024-01-{1 + i // 24:02} {i % 24:02}:00,{i % 7}" for i in range(400)
)


def small_run(task, encoding="rotary", **more):
    return RunConfig(
        task=task, name="x", encoding=encoding, seed=0, model=TINY, training=SMALL, **more
    )


@pytest.fixture(scope="module", autouse=True)
def _loaded():
    """What torch loads when it is first used would be slow under a profile."""
    execute(small_run("order"))


def executed_definitions(run):
    """What stands at the top of a file and holds a function that a run enters, in locant or in a
    user's file."""
    seen = set()

    def note(frame, event, _):
        code = frame.f_code
        if (
            event == "call"
            and code.co_flags & CO_OPTIMIZED
            and not code.co_qualname.startswith("<")
        ):
            seen.add((Path(code.co_filename), code.co_qualname.partition(".")[0]))

    sys.setprofile(note)
    try:
        execute(run)
    finally:
        sys.setprofile(None)
    return {
        (path, name) for path, name in seen if PACKAGE in path.parents or path.name == "mine.py"
    }


@pytest.mark.parametrize(
    ("task", "more"),
    [
        ("order", {"encoding": "t5"}),
        ("order", {"encoding": "shaw", "control": "scramble"}),
        ("order", {"encoding": "examples/mine.py:Mine"}),
        ("anomaly", {"encoding": "pope", "task_options": {"series": 2, "faults": 25}}),
        ("anomaly", {"encoding": "none", "baseline": "sub_pca", "task_options": {"series": 2}}),
        ("own-text", {"encoding": "alibi"}),
        ("own-masked", {"encoding": "fourier"}),
    ],
)
def test_everything_that_a_run_enters_is_part_of_its_code(task, more, tmp_path):
    if task.startswith("own"):
        (tmp_path / "load.csv").write_text(SERIES)
        more = {**more, "task_options": {"path": str(tmp_path / "load.csv"), "length": 32}}
    run = small_run(task, **more)
    used, counted = executed_definitions(run), set(reached(run.starts()))
    assert len(used) > 20
    assert not {f"{path.name}: {name}" for path, name in used - counted}


def code_of(folder):
    return fingerprint([(folder / "mine.py", "Mine")])


def write(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


MINE = """STEP = 2

def slope(x):
    return STEP * x

class Mine:
    def bias(self, q):
        return slope(q)
"""


def test_comments_layout_types_docstrings_and_words_of_errors_cost_nothing(tmp_path):
    plain = write(tmp_path / "a", mine=MINE)
    typed = MINE.replace("(x):", "(x: float) -> float:").replace("* x", "*   x  # why")
    worded = MINE.replace("return slope", "'''Other.'''\n        return slope")
    assert len({MINE, typed, worded}) == 3
    assert (
        code_of(plain)
        == code_of(write(tmp_path / "b", mine=f"#!\n{typed}"))
        == code_of(write(tmp_path / "c", mine=worded))
    )
    stern = MINE.replace(
        "    return STEP", "    if x is None:\n        raise ValueError('no x')\n    return STEP"
    )
    kinder = stern.replace("no x", "give an x, please")
    assert (
        code_of(write(tmp_path / "d", mine=stern))
        == code_of(write(tmp_path / "e", mine=kinder))
        != code_of(plain)
    )


def test_moving_a_definition_to_another_file_or_adding_one_beside_it_costs_nothing(tmp_path):
    plain = write(tmp_path / "a", mine=MINE)
    head, tail = MINE.split("class Mine")
    moved = write(
        tmp_path / "b", mine=f"from helpers import slope\n\nclass Mine{tail}", helpers=head
    )
    beside = write(tmp_path / "c", mine=f"{MINE}\ndef unused(x):\n    return 3 * x\n")
    assert code_of(plain) == code_of(moved) == code_of(beside)


@pytest.mark.parametrize(
    ("old", "new"), [("STEP = 2", "STEP = 3"), ("* x", "+ x"), ("slope(q)", "slope(-q)")]
)
def test_a_changed_formula_or_constant_makes_old_runs_strangers_wherever_it_stands(
    old, new, tmp_path
):
    assert old in MINE
    assert code_of(write(tmp_path / "a", mine=MINE)) != code_of(
        write(tmp_path / "b", mine=MINE.replace(old, new))
    )
    head, tail = MINE.split("class Mine")
    there = [f"from helpers import slope\n\nclass Mine{tail}", head]
    changed = [text.replace(old, new) for text in there]
    apart = [
        write(tmp_path / name, mine=a, helpers=b)
        for name, (a, b) in {"c": there, "d": changed}.items()
    ]
    assert code_of(apart[0]) != code_of(apart[1])


def test_reading_files_is_part_of_a_run_on_files_and_of_no_other():
    read = {path.parent.name for path, _ in reached(small_run("own-masked").starts())}
    assert "series" in read
    assert "series" not in {path.parent.name for path, _ in reached(small_run("order").starts())}
