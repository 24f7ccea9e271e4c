"""What a path leads to: a file that can be read, told by how it begins, or a sentence that says what it is instead."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from locant._internal.checks import did_you_mean

GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
KINDS = "CSV, TSV, JSON lines (each also packed with gzip) and Parquet are read"
FOREIGN = {  # what people give by mistake: how it begins, what it is, what to do
    b"PK\x03\x04": ("a zip or Excel file", "Unpack it, or save it as CSV"),
    b"\xd0\xcf\x11\xe0": ("an old Excel file", "Save it as CSV"),
    b"\xff\xfe": ("UTF-16 text", "Save it as UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "Save it as UTF-8"),
    b"BZh": ("packed with bzip2", "Unpack it"),
    b"\xfd7zXZ": ("packed with xz", "Unpack it"),
    b"\x28\xb5\x2f\xfd": ("packed with zstd", "Unpack it"),
    b"SQLite format 3": ("an SQLite database", "Export a table as CSV"),
    b"\x93NUMPY": ("a numpy file", "Write it with numpy.savetxt(…, delimiter=',')"),
    b"\x89HDF": ("an HDF5 file", "Export a table as CSV or Parquet"),
}


def existing(path: str | Path) -> Path:
    """The path, when it leads to a plain file."""
    found = Path(path).expanduser()
    if found.is_dir():
        inside = sorted(item.name for item in found.iterdir() if item.is_file())[:3]
        raise ValueError(
            f"{path} is a folder. Name one file in it{', such as ' if inside else ''}{', '.join(inside)}."
        )
    if not found.exists():
        near = did_you_mean(
            found.name,
            [item.name for item in found.parent.iterdir()] if found.parent.is_dir() else [],
        )
        raise ValueError(f"there is no file {path}.{near} Looked in {found.parent.resolve()}.")
    if not found.is_file():
        raise ValueError(
            f"{path} is a pipe or a device, not a file. Write its rows to a file and name that."
        )
    return found


def is_packed(path: Path) -> bool:
    """Whether the file is packed with gzip, whatever its name says."""
    with path.open("rb") as file:
        return file.read(2) == GZIP


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file; what goes wrong below is told as a sentence."""
    try:
        with gzip.open(path) if is_packed(path) else path.open("rb") as file:
            yield cast(IO[bytes], file)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise ValueError(
            f"{path} is packed with gzip, but broken or cut short. Pack it again."
        ) from None
    except OSError as problem:
        raise ValueError(f"{path} cannot be read: {problem.strerror or problem}.") from None


def beginning(path: Path) -> bytes:
    """The first bytes, unpacked, when they are those of something that is read here."""
    with unpacked(path) as file:
        first = file.read(4096)
    if not first:
        raise ValueError(f"{path} is empty. A series needs at least two rows of numbers. {KINDS}.")
    for start, (what, remedy) in FOREIGN.items():
        if first.startswith(start):
            raise ValueError(f"{path} is {what}. {remedy}.\n  {KINDS}.")
    return first
