"""The package as others get it: an sdist with tests, a wheel that works without the repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import locant

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def run(*command, cwd=ROOT, **env):
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-3000:]
    return done.stdout


def test_every_classifier_is_one_that_package_indexes_know():
    from trove_classifiers import classifiers

    assert set(PROJECT["classifiers"]) <= classifiers
    newest = max(re.findall(r":: 3\.(\d+)", "\n".join(PROJECT["classifiers"])), key=int)
    assert f">=3.{newest}" == PROJECT["requires-python"]


def test_the_citation_names_this_version_and_license():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["version"] == locant.__version__
    assert cited["license"] == PROJECT["license"]
    assert [author["name"] for author in cited["authors"]] == [
        author["name"] for author in PROJECT["authors"]
    ]


def test_the_workflow_runs_what_ci_runs():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))
    (job,) = workflow["jobs"].values()
    assert ".ci/run" in [step.get("run") for step in job["steps"]]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run("-m", "hatchling", "build", "-t", "sdist", "-d", folder)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    run("-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=source)
    return folder


@pytest.mark.slow
@pytest.mark.xdist_group("package")
def test_the_sdist_has_tests_course_and_licenses(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"LICENSE", "CITATION.cff", "constraints.txt", "conftest.py", "tests/test_package.py"}
    assert wanted | {"course/run.py", "examples/demo.ipynb", "docs/index.md"} <= files
    assert not [name for name in files if name.startswith((".venv", "site/", "dist/"))]


@pytest.mark.slow
@pytest.mark.xdist_group("package")
def test_the_wheel_works_without_the_repository(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
        files = set(archive.namelist())
    assert {"locant/py.typed", "locant/lab/studies/order.toml"} <= files
    assert {"locant/explorer/page/index.html", "locant/explorer/page/tabs/encodings.js"} <= files
    assert "locant/lab/report/templates/certificates.html" in files
    assert not [name for name in files if name.startswith(("tests/", "docs/"))]
    away = {"cwd": tmp_path, "PYTHONPATH": str(tmp_path / "installed")}
    where = run("-c", "import locant; print(locant.__file__)", **away)
    assert str(tmp_path) in where
    listed = run("-m", "locant", "list", "--json", **away)
    assert '"rotary"' in listed
    assert "score" in run("-m", "locant", "show", "rotary", **away)
    run("-m", "locant", "check", "rotary", "--quick", **away)
    verdict = run(
        "-m",
        "locant",
        *["compare", "order", "--quick", "--encodings", "rotary", "--seeds", "2", "--workers", "1"],
        **away,
    )
    assert "rotary" in verdict
