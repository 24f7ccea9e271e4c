"""Every shipped study in its quick version with few seeds, from the command line to the report.
Minutes, so CI runs it."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from common_lab import LOCANT
from common_nab import write_nab
from common_ts import write_ts

from locant.lab.study_files import parts, read_study, study_names

FEW_SEEDS = 2
SINGLE = [name for name in study_names() if parts(name) == [name] and not name.startswith("own-")]


@pytest.mark.slow
@pytest.mark.parametrize("name", SINGLE)
def test_a_quick_study_ends_in_a_report(name, tmp_path):
    words = [LOCANT, "compare", name, "--quick"]
    seeds = read_study(name, quick=True).seeds
    if isinstance(seeds, int) and seeds > FEW_SEEDS:
        words += ["--seeds", str(FEW_SEEDS)]  # `make demo` runs a quick study with all of them
    env = {**os.environ, "LOCANT_NAB": str(write_nab(tmp_path / "nab"))}
    env["LOCANT_TS"] = str(write_ts(tmp_path / "ts"))
    done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stdout
    told = subprocess.run(
        [LOCANT, "report", name, "--json"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    said = json.loads(told.stdout)
    assert said["verdict"]
    assert {"none"} <= {row["name"] for row in said["table"]}
    subprocess.run(
        [LOCANT, "report", name, "--out", "told"], cwd=tmp_path, capture_output=True, check=True
    )
    assert (tmp_path / "told" / f"{name}.md").read_text().startswith("# ")
    assert list((tmp_path / "told" / name).glob("*.png"))
