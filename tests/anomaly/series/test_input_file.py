"""What cannot be read is refused with a sentence: what was found, what is allowed, what to do."""

from __future__ import annotations

import gzip
import os
import random
import resource
import subprocess
import sys

import polars as pl
import pytest

from locant.anomaly.series import input_file, read_series

NOISE = random.Random(0).randbytes(5000)
GOOD = ["time,x", "2014-02-14,1", "2014-02-15,2"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            b"",
            r"mine.csv is empty. A series needs at least two rows of numbers. CSV, TSV, JSON lines",
        ),
        (gzip.compress(b"", mtime=0), r"mine.csv is empty"),
        (b"\n \n\n", r"holds only empty lines"),
        (b"time,x\n", r"has only a header. A series needs at least two rows"),
        (b"time,x\n2014-02-14,1\n", r"has only 1 row. A series needs at least two"),
        (b"1,2\n", r"has only 1 row"),
        (b"time,x\n1,5\n1,6\n", r"has only 1 row with a time of its own"),
        (
            b"name,place\na,b\nc,d\n",
            r"has no column of numbers that vary.\n  Column .* holds text \('",
        ),
        (b"x\n5\n5\n5\n", r"has no column of numbers that vary.\n  Column x is constant \(5\)."),
        (b"x,y\nNA,\n,null\n", r"Column x has no values. Column y has no values."),
        (b"time,label\n1,0\n2,1\n", r"There is no column besides the time and the labels"),
        (
            b"a,b\n1,2\n3,4,5\n",
            r"line 3 has 3 cells, but the first line has 2.\n  Give every row the same",
        ),
        (b"# a comment\na,b\n1,2\n3,4\n", r"line 2 has 2 cells, but the first line has 1"),
        (b"a,b\n1,2\n\n3\n", r"line 4 has 1 cell, but the first line has 2"),
        (b'a,b\n"1",2\n3,4,5\n', r"line 3 has 3 cells, but the first line has 2"),
        (b'a,b\n1,"2\n3,4\n', r"the quotation marks do not pair up"),
        (
            b"x,y\n1,1\n1e400,2\n",
            r"line 3: 1e400 in column x is beyond the largest number that float64 holds, 1.8e308",
        ),
        (
            b"x,y\n1,1\n" + b"9" * 400 + b",2\n",
            r"line 3: 99999999999999999999… in column x is beyond",
        ),
        (NOISE, r"is not text: it contains bytes that text does not have"),
        (NOISE.replace(b"\0", b"\1"), r"is not text"),
        (b"x,y\n1,2\n" + b"3,4\n" * 400_000 + b"\0", r"is not text"),
        (b"PK\x03\x04" + NOISE, r"is a zip or Excel file. Unpack it, or save it as CSV"),
        ("x,y\n1,2".encode("utf-16"), r"is UTF-16 text. Save it as UTF-8"),
        (b"x,y\n1,2\n3," + b"a" * 200_000, r"is not a table: field larger than field limit"),
        (
            b"x\n" + b"1" * (2 << 20),
            r"line 2 is longer than 1,048,576 bytes, too long for a row",
        ),
        (gzip.compress(NOISE, mtime=0)[:-20], r"is compressed with gzip, but damaged or cut short"),
        (gzip.compress(b"PAR1", mtime=0), r"is a Parquet file compressed with gzip. Decompress it"),
        (b"PAR1" + NOISE, r"begins like a Parquet file, but cannot be read as one"),
        (
            b'{"x": 1}\n{"x": 2\n',
            r"line 2 is not JSON: .*\n  JSON lines have one complete object a line",
        ),
        (b'{"x": 1}\n\n5\n', r"line 3 is JSON, but not an object such as"),
        (
            b'[{"x": 1}, {"x": 2}]\n',
            r"line 1 is JSON, but not an object .*\n.* split into lines with: jq -c '.\[\]'",
        ),
    ],
)
def test_a_file_that_holds_no_series_is_refused(read, content, why):
    with pytest.raises(ValueError, match=why):
        read(content)


def test_a_long_line_is_fine_as_long_as_it_can_be_a_row(read):
    rows = [",".join(f"{(k + j) ** 2 % 7}.{'0' * 500}" for j in range(300)) for k in (1, 2)]
    assert len(rows[0]) > 131_072  # what the csv module allows one cell
    assert read(rows).values.shape[0] == 2


def test_a_file_that_is_not_there_is_refused_with_the_nearest_name(write):
    path = write(GOOD)
    with pytest.raises(
        ValueError, match=r"there is no file .*/mien.csv. Did you mean 'mine.csv'\? Looked in"
    ):
        read_series(path.with_name("mien.csv"))
    with pytest.raises(ValueError, match=r"there is no file .*/nowhere/mine.csv. Looked in"):
        read_series(path.parent / "nowhere" / "mine.csv")


def test_a_folder_is_refused_with_what_is_in_it(write):
    with pytest.raises(ValueError, match=r"is a folder. Name one file in it, such as mine.csv"):
        read_series(write(GOOD).parent)


def test_a_pipe_is_refused_rather_than_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match=r"is a pipe or a device, not a file"):
        read_series(tmp_path / "pipe")


def test_a_time_column_without_times_leaves_no_rows(read):
    with pytest.raises(
        ValueError, match=r"has no row with a time of its own. A series needs at least two"
    ):
        read(["time,x", "NA,5", ",6"], time="time")


def test_a_file_called_parquet_must_be_one(read):
    with pytest.raises(
        ValueError, match=r"has the suffix .parquet, but does not begin like a Parquet file"
    ):
        read(GOOD, "mine.parquet")


def test_a_parquet_time_beyond_nanoseconds_is_refused(tmp_path):
    from datetime import date

    pl.DataFrame({"d": [date(2014, 1, 1), date(9999, 1, 1)], "x": [1, 2]}).write_parquet(
        tmp_path / "a.parquet"
    )
    with pytest.raises(
        ValueError,
        match=r"row 2: '9999-01-01' in the time column d is not between the years 1678 and 2261",
    ):
        read_series(tmp_path / "a.parquet")


def test_reading_needs_no_torch():
    code = "import sys, locant.anomaly.series; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("name", ["mine.csv", "mine.parquet"])
def test_a_file_that_does_not_fit_into_memory_is_refused_before_it_is_read(
    write, monkeypatch, name
):
    path = write(GOOD, name)
    if name.endswith("parquet"):
        pl.DataFrame({"x": [1.0, 2.0, 4.0]}).write_parquet(path)
    monkeypatch.setattr(input_file, "available_memory", lambda: 100)
    with pytest.raises(
        ValueError, match=r"needs about 0.0 GB of memory, but 0.0 GB are free.\n  Read a part of it"
    ):
        read_series(path)


def test_a_limit_on_the_process_counts_as_memory():
    code = "import resource; from locant.anomaly.series import input_file\n"
    code += "free = input_file.available_memory()\n"
    code += "resource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.RLIM_INFINITY))\n"
    code += "assert input_file.available_memory() < 8 << 30\n"
    code += "assert 8 << 30 < free or input_file.available_memory() <= free"
    assert resource.RLIM_INFINITY
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
