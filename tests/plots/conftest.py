"""The pictures of one study for all tests that look at them."""

from __future__ import annotations

import warnings

import pytest
from common_study import PAPERS, study

from locant.lab.report.pictures import pictures


@pytest.fixture(scope="module")
def offered():
    return pictures(study(), PAPERS)


@pytest.fixture(scope="module")
def axes(offered):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return {name: picture.draw() for name, picture in offered.items()}
