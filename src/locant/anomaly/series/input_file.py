"""Open an input file: find it, decompress it, recognize its format, scan its text, and check that
memory holds it.

Memory is checked before a file is read: polars ends the whole process when memory runs out.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TextIO, cast

import numpy as np

from locant._internal.checks import did_you_mean

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
READABLE = "CSV, TSV, JSON lines (each also compressed with gzip) and Parquet can be read"
FOREIGN = {  # what people give by mistake: its first bytes, what it is, what to do
    b"PK\x03\x04": ("a zip or Excel file", "Unpack it, or save it as CSV"),
    b"\xd0\xcf\x11\xe0": ("an old Excel file", "Save it as CSV"),
    b"\xff\xfe": ("UTF-16 text", "Save it as UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "Save it as UTF-8"),
    b"BZh": ("compressed with bzip2", "Decompress it"),
    b"\xfd7zXZ": ("compressed with xz", "Decompress it"),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", "Decompress it"),
    b"SQLite format 3": ("an SQLite database", "Export a table as CSV"),
    b"\x93NUMPY": ("a numpy file", "Write it with numpy.savetxt(…, delimiter=',')"),
    b"\x89HDF": ("an HDF5 file", "Export a table as CSV or Parquet"),
}
SCAN_BYTES = 1 << 20  # a block of the scan, and the longest line that is read
CONTROL = np.array(  # bytes that text does not contain
    [code < 32 and chr(code) not in "\t\n\v\f\r\x1b" for code in range(256)]
)
MEMINFO, CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def find_file(path: str | Path) -> Path:
    """Return the path of a regular file, or refuse what the path leads to instead."""
    found = Path(path).expanduser()
    if found.is_dir():
        inside = sorted(item.name for item in found.iterdir() if item.is_file())[:3]
        such_as = f", such as {', '.join(inside)}" if inside else ""
        raise ValueError(f"{path} is a folder. Name one file in it{such_as}.")
    if not found.exists():
        siblings: list[str] = []
        if found.parent.is_dir():
            siblings = [item.name for item in found.parent.iterdir()]
        near = did_you_mean(found.name, siblings)
        raise ValueError(f"there is no file {path}.{near} Looked in {found.parent.resolve()}.")
    if not found.is_file():
        raise ValueError(
            f"{path} is a pipe or a device, not a file. Write its rows to a file and name that."
        )
    return found


def is_gzipped(path: Path) -> bool:
    """Whether the file is compressed with gzip, whatever its suffix is."""
    with path.open("rb") as file:
        return file.read(2) == GZIP


@contextmanager
def open_decompressed(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressed; errors name the file."""
    try:
        with gzip.open(path) if is_gzipped(path) else path.open("rb") as file:
            yield cast(IO[bytes], file)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise ValueError(
            f"{path} is compressed with gzip, but damaged or cut short. Compress it again."
        ) from None
    except OSError as problem:
        raise ValueError(f"{path} cannot be read: {problem.strerror or problem}.") from None


def read_first_bytes(path: Path) -> bytes:
    """Return the first bytes, decompressed, and refuse a format that cannot be read."""
    with open_decompressed(path) as file:
        first = file.read(4096)
    if not first:
        raise ValueError(
            f"{path} is empty. A series needs at least two rows of numbers. {READABLE}."
        )
    for start, (what, remedy) in FOREIGN.items():
        if first.startswith(start):
            raise ValueError(f"{path} is {what}. {remedy}.\n  {READABLE}.")
    return first


@dataclass(frozen=True)
class TextFile:
    """A file of text that was scanned."""

    path: Path
    encoding: str
    has_quotes: bool  # a quotation mark occurs in it
    size: int  # bytes, decompressed
    lines: int

    @contextmanager
    def open(self) -> Iterator[TextIO]:
        """Open the file for reading lines; every kind of line ending is read as one."""
        with (
            open_decompressed(self.path) as file,
            io.TextIOWrapper(file, encoding=self.encoding) as text,
        ):
            yield text


def scan_text(path: Path) -> TextFile:
    """Scan a whole file in little memory: refuse what is not text, and find its encoding."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    size, control, line, length = 0, 0, 1, 0
    is_utf8, has_quotes = True, False
    with open_decompressed(path) as file:
        while True:
            block = file.read(SCAN_BYTES)
            size += len(block)
            control += int(CONTROL[np.frombuffer(block, np.uint8)].sum())
            is_utf8 = is_utf8 and _decodes(decoder, block)
            if b"\0" in block or control > size / 100:
                raise ValueError(
                    f"{path} is not text: it contains bytes that text does not have. {READABLE}."
                )
            if not block:
                break
            line, length = _last_line(path, block, line, length)
            has_quotes = has_quotes or b'"' in block
    return TextFile(path, "utf-8-sig" if is_utf8 else "latin-1", has_quotes, size, line)


def _decodes(decoder: codecs.IncrementalDecoder, block: bytes) -> bool:
    try:
        decoder.decode(block, final=not block)
    except UnicodeDecodeError:
        return False
    return True


def _last_line(path: Path, block: bytes, line: int, length: int) -> tuple[int, int]:
    """Return the number and the length so far of a block's last line; refuse a line too long."""
    ends = [end for end in (block.find(b"\n"), block.find(b"\r")) if end >= 0]
    if length + (min(ends) if ends else len(block)) > SCAN_BYTES:
        raise ValueError(
            f"{path}, line {line:,} is longer than {SCAN_BYTES:,} bytes, too long for a row.\n"
            "  Write one row a line. One long JSON list is split into lines with: jq -c '.[]'"
        )
    last = max(block.rfind(b"\n"), block.rfind(b"\r"))
    return line + block.count(b"\n"), len(block) - last - 1 if ends else length + len(block)


def check_memory(path: Path, needed: int) -> None:
    """Refuse a file that needs more bytes of memory than are free."""
    free = available_memory()
    if free is not None and needed > free:
        raise ValueError(
            f"{path} needs about {needed / 1e9:.1f} GB of memory, but "
            f"{max(free, 0) / 1e9:.1f} GB are free.\n"
            "  Read a part of it (head -n 1000000), fewer columns, or use a larger machine."
        )


def available_memory() -> int | None:
    """Return the bytes this process may still take: the least that machine, cgroup, limit leave."""
    found = [free for free in (_of_machine(), _of_cgroup(), _of_limit()) if free is not None]
    return min(found, default=None)


def _of_machine() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _of_cgroup() -> int | None:
    try:
        most = int((CGROUP / "memory.max").read_text())
        return most - int((CGROUP / "memory.current").read_text())
    except (OSError, ValueError):  # no cgroup, or "max"
        return None


def _of_limit() -> int | None:
    """Return half of what the address-space limit leaves: freed memory keeps its addresses."""
    if resource is None:
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        pages = 0
    if most == resource.RLIM_INFINITY:
        return None
    return (most - pages * resource.getpagesize()) // 2
