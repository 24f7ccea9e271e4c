"""Random cases agree with formulas written anew, and a wrong sign would be found."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def attack(source, *options):
    """Run the attack on a copy of the library."""
    command = [sys.executable, str(ROOT / "benchmarks" / "attack"), "--start", "0", *options]
    environment = os.environ | {"PYTHONPATH": str(source)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_random_cases_agree_with_formulas_written_anew():
    done = attack(ROOT / "src", "--minutes", "0.33")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "no difference" in done.stdout


@pytest.mark.slow
def test_a_wrong_sign_is_found(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src")
    planted = tmp_path / "src" / "locant" / "encodings" / "t5.py"
    right, wrong = "self.side * (offset > 0)", "self.side * (offset < 0)"
    assert right in planted.read_text()
    planted.write_text(planted.read_text().replace(right, wrong))
    done = attack(tmp_path / "src", "--minutes", "0.2")
    assert done.returncode == 1, done.stdout[-4000:] + done.stderr[-4000:]
    assert "--seed" in done.stdout
