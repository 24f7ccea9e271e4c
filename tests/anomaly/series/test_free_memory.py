"""A file that does not fit into memory is refused before it is read."""

from __future__ import annotations

import resource
import subprocess
import sys

import polars as pl
import pytest

from locant.anomaly.series import free_memory, read_series

GOOD = ["time,x", "2014-02-14,1", "2014-02-15,2"]


@pytest.mark.parametrize("name", ["mine.csv", "mine.parquet"])
def test_a_file_that_does_not_fit_into_memory_is_refused_before_it_is_read(
    write, monkeypatch, name
):
    path = write(GOOD, name)
    if name.endswith("parquet"):
        pl.DataFrame({"x": [1.0, 2.0, 4.0]}).write_parquet(path)
    monkeypatch.setattr(free_memory, "available_memory", lambda: 100)
    with pytest.raises(
        ValueError, match=r"needs about 0.0 GB of memory, but 0.0 GB are free.\n  Read a part of it"
    ):
        read_series(path)


def test_a_limit_on_the_process_counts_as_memory():
    code = "import resource; from locant.anomaly.series import free_memory\n"
    code += "free = free_memory.available_memory()\n"
    code += "resource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.RLIM_INFINITY))\n"
    code += "assert free_memory.available_memory() < 8 << 30\n"
    code += "assert 8 << 30 < free or free_memory.available_memory() <= free"
    assert resource.RLIM_INFINITY
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
