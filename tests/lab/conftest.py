"""What several tests of the laboratory are given."""

from __future__ import annotations

import pytest
from common_nab import write_nab


@pytest.fixture
def nab(tmp_path):
    """A small folder of marked series."""
    return write_nab(tmp_path / "nab")
