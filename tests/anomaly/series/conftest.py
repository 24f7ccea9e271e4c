"""A file written for a test, and what is read from it."""

from __future__ import annotations

import pytest

from locant.anomaly.series import read_series


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file of this name; lines may be given as a list."""

    def writes(content, name="mine.csv"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(content) + "\n" if isinstance(content, list) else content
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return writes


@pytest.fixture
def read(write):
    """Write a file and read it as a series."""
    return lambda content, name="mine.csv", **options: read_series(write(content, name), **options)
