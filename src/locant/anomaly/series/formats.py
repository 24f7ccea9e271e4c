"""The reader that a file needs, chosen by how the file begins."""

from __future__ import annotations

from pathlib import Path

from locant.anomaly.series.delimited import read_delimited
from locant.anomaly.series.jsonlines import read_json_lines
from locant.anomaly.series.opening import KINDS, PARQUET, beginning, existing, is_packed
from locant.anomaly.series.parquet import read_parquet
from locant.anomaly.series.raw import Raw
from locant.anomaly.series.room import needs_room
from locant.anomaly.series.survey import survey

A_BYTE, A_LINE = (
    4,
    60,
)  # bytes of memory that reading takes for each of the file's, measured on a million rows


def read_raw(path: str | Path) -> Raw:
    """The cells of a file with at least two rows."""
    found = existing(path)
    first = beginning(found)
    raw = _parquet(found) if first.startswith(PARQUET) else _text(found, first)
    raw.kind += ", gzip" if is_packed(found) else ""
    if len(raw.places) < 2:
        has = (
            "only a header" if raw.headed and not len(raw.places) else f"only {len(raw.places)} row"
        )
        raise ValueError(f"{path} has {has}. A series needs at least two rows of numbers.")
    return raw


def _parquet(path: Path) -> Raw:
    if is_packed(path):
        raise ValueError(
            f"{path} is a Parquet file packed with gzip. Unpack it (gunzip).\n  {KINDS}."
        )
    return read_parquet(path)


def _text(path: Path, first: bytes) -> Raw:
    if path.suffix == ".parquet":
        raise ValueError(
            f"{path} is called Parquet, but does not begin like it. Write it again, or name it .csv."
        )
    needs_room(path, A_BYTE * path.stat().st_size)  # before a large file is looked through
    text = survey(path)
    needs_room(path, A_BYTE * text.size + A_LINE * text.lines)
    begins = first.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    raw = read_json_lines(text) if begins in (b"{", b"[") else read_delimited(text)
    if text.encoding == "latin-1":
        raw.said.insert(0, "The file is not UTF-8: its letters were read as latin-1.")
    return raw
