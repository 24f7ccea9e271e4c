"""A look through a whole file of text, in little memory, before it is read: is it text, how encoded, with lines?"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from locant.anomaly.series.opening import KINDS, is_packed, unpacked

BLOCK = 1 << 20  # also the longest line that is read
CONTROL = np.array(
    [code < 32 and chr(code) not in "\t\n\v\f\r\x1b" for code in range(256)]
)  # not of any text


@dataclass(frozen=True)
class Text:
    """A file of text that was looked through."""

    path: Path
    encoding: str
    quoted: bool  # a quotation mark stands in it
    size: int  # bytes, unpacked
    lines: int

    @property
    def packed(self) -> bool:
        """Whether it is packed with gzip."""
        return is_packed(self.path)

    @contextmanager
    def open(self) -> Iterator[TextIO]:
        """Its lines; every kind of line end is read as one."""
        with unpacked(self.path) as file, io.TextIOWrapper(file, encoding=self.encoding) as text:
            yield text


def survey(path: Path) -> Text:
    """The file as text, or a sentence that says why it is none."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    size, control, line, length, latin, quoted = 0, 0, 1, 0, False, False
    with unpacked(path) as file:
        while True:
            block = file.read(BLOCK)
            size, control = (
                size + len(block),
                control + int(CONTROL[np.frombuffer(block, np.uint8)].sum()),
            )
            latin = latin or not _decodes(decoder, block)
            if b"\0" in block or control > size / 100:
                raise ValueError(f"{path} is no text: it holds bytes that no text has. {KINDS}.")
            if not block:
                break
            line, length = _line(path, block, line, length)
            quoted = quoted or b'"' in block
    return Text(path, "latin-1" if latin else "utf-8-sig", quoted, size, line)


def _decodes(decoder: codecs.IncrementalDecoder, block: bytes) -> bool:
    try:
        decoder.decode(block, final=not block)
    except UnicodeDecodeError:
        return False
    return True


def _line(path: Path, block: bytes, line: int, length: int) -> tuple[int, int]:
    """The number and length so far of the last line in a block, when none is too long."""
    ends = [end for end in (block.find(b"\n"), block.find(b"\r")) if end >= 0]
    if length + (min(ends) if ends else len(block)) > BLOCK:
        raise ValueError(
            f"{path}, line {line:,} is longer than {BLOCK:,} bytes, which no row of a table is.\n"
            "  One row a line is needed. One long JSON list can be cut into lines with: jq -c '.[]'"
        )
    last = max(block.rfind(b"\n"), block.rfind(b"\r"))
    return line + block.count(b"\n"), len(block) - last - 1 if ends else length + len(block)
