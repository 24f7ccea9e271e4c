"""A dropped file: its events when it is a series, a sentence when it is not; never kept, never too
large."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from common_explorer import HERE

from locant.explorer.schemas import MAX_UPLOAD_BYTES, MAX_VALUES


def series(rows=480, columns=("load", "heat"), fault=slice(300, 306)):
    """Two waves a day and a little noise, with one fault in the first column."""
    at, draw = np.arange(rows), np.random.default_rng(0)
    values = np.sin(2 * np.pi * at / 24)[:, None] * np.arange(1, len(columns) + 1) + draw.normal(
        0, 0.05, (rows, len(columns))
    )
    values[fault, 0] += 4
    lines = [
        f"2024-01-{1 + row // 24:02}T{row % 24:02}:00,{','.join(map('{:.4f}'.format, values[row]))}"
        for row in at
    ]
    return "\n".join([f"time,{','.join(columns)}", *lines]).encode()


def test_a_fault_is_found_where_it_was_put(client):
    response = client.post("/api/detect", content=series(), headers={"origin": HERE})
    assert response.status_code == 200, response.text[:300]
    found = response.json()
    (event,) = found["events"]
    assert (event["first"], event["last"]) == ("2024-01-13 12:00:00", "2024-01-13 17:00:00")
    assert event["columns"] == ["load"]
    assert max(found["scores"]) > found["threshold"]
    assert np.shape(found["values"]) == np.shape(found["expected"]) == (2, 480)
    assert len(found["times"]) == len(found["scores"]) == 480


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "empty"),
        (b"x" * (MAX_UPLOAD_BYTES + 1), 413, "up to 4 MB"),
        (b"\x1f\x8b" + bytes(50), 400, "Unpack the file"),
        (b"PAR1" + bytes(50), 400, "Unpack the file"),
        (b"a,b\n" + b"1,2\n3,4\n" * 30, 400, "at least 100 rows"),
        (b"a,b,c\n" + b"1,2,3\n" * (MAX_VALUES // 3 + 1), 400, "numbers that vary"),
        (
            b"\n".join(b"%d,%d" % (row, -row * row) for row in range(MAX_VALUES + 1)),
            400,
            "up to 200,000 values",
        ),
        (bytes(range(256)) * 40, 400, "not text"),
        (b"word,other\nx,y\nz,w\n", 400, "dropped.csv"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, bytes) else None,
)
def test_what_is_no_series_is_answered_with_a_sentence(client, body, status, words):
    response = client.post("/api/detect", content=body)
    assert response.status_code == status, response.text[:300]
    assert words in response.json()["error"]
    assert tempfile.gettempdir() not in response.text


def test_nothing_of_a_file_is_kept(client):
    client.post("/api/detect", content=series())
    client.post("/api/detect", content=b"nothing, here\n")
    last = time.monotonic() + 30  # another process may be at a file of its own
    while left := list(Path(tempfile.gettempdir()).glob("locant-dropped-*")):
        assert time.monotonic() < last, left
        time.sleep(0.1)


def test_files_with_random_damage_break_nothing(client):
    draw, whole = random.Random(3), bytearray(series(rows=120))
    for _ in range(60):
        body = bytearray(whole)
        for _ in range(draw.randint(1, 40)):
            body[draw.randrange(len(body))] = draw.choice(b'\x00,;"\n\xff9e-{[')
        del body[draw.randrange(len(body)) :]
        response = client.post("/api/detect", content=bytes(body))
        assert response.status_code < 500, (bytes(body[:200]), response.text[:300])


def test_another_sites_page_may_drop_nothing(client):
    assert (
        client.post(
            "/api/detect", content=series(), headers={"origin": "http://evil.example"}
        ).status_code
        == 403
    )
