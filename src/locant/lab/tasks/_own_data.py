"""A user's own file as the data of a task: its digest, and texts split into training, validation
and test parts.

Of one text file the first eight tenths train, a tenth validates, a tenth tests. Of a folder every
file belongs to one part, by the hash of its name, so that no part holds a piece of another part's
file.
"""

from __future__ import annotations

import hashlib
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from locant._internal.seeds import stable_seed
from locant.lab.tasks import UNSEEN
from locant.lab.tasks.base import Scores

STANDARD_LIBRARY = "python:standard-library"  # a text that is always there: Python's own sources
PART_OF_HASH = (0, 0, 0, 0, 0, 0, 0, 0, 1, 2)  # the last digit of a name's hash → the part
SKIPPED_FOLDERS = {"site-packages", "test", "__pycache__"}
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class OwnTask:
    """A task on a user's file. `digest` names what the file holds: other data are another task."""

    path: str = ""
    digest: str = ""

    pool = False
    higher_is_better = False
    tested_on = UNSEEN
    selects_higher = False
    threshold = 0.0
    oracles: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.path:
            raise ValueError(
                "this study needs a file of yours, and none was given.\n"
                "  Name it: locant.lab.compare(data=FILE), or locant compare --data FILE"
            )
        if self.digest and self.current_digest() != self.digest:
            raise ValueError(f"{self.path} does not hold what it held when the study began.")

    def current_digest(self) -> str:
        """Compute the digest of what the file holds now."""
        raise NotImplementedError

    def ceilings(self) -> Scores:
        """Return no ceiling: none is known for a user's data."""
        return {}


class TextParts(NamedTuple):
    """The training, validation and test bytes of a text, and the digest of all."""

    train: Bytes
    validation: Bytes
    test: Bytes
    digest: str


@lru_cache(maxsize=1)
def read_text(path: str) -> TextParts:
    """Read a file, or all text files of a folder, and split the bytes into parts."""
    source = Path(sysconfig.get_paths()["stdlib"] if path == STANDARD_LIBRARY else path)
    source = source.expanduser()
    parts = _split_folder(source) if source.is_dir() else _split_file(source)
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
    train, validation, test = [np.frombuffer(part, np.uint8) for part in parts]
    return TextParts(train, validation, test, digest)


def _split_file(path: Path) -> list[bytes]:
    """Split one file in the order of its bytes."""
    content = path.read_bytes()
    validation, test = int(0.8 * len(content)), int(0.9 * len(content))
    return [content[:validation], content[validation:test], content[test:]]


def _split_folder(folder: Path) -> list[bytes]:
    """Join the files of each part."""
    parts: tuple[list[bytes], ...] = ([], [], [])
    for name, content in _text_files(folder):
        parts[PART_OF_HASH[stable_seed(name) % 10]].append(content)
    return [b"".join(part) for part in parts]


def _text_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Read the text files of a folder in a fixed order, without Python's installed packages and
    caches."""
    for path in sorted(folder.rglob("*")):
        within = path.relative_to(folder)
        if path.is_file() and not SKIPPED_FOLDERS & set(within.parts):
            content = path.read_bytes()
            if b"\0" not in content[:4096]:
                yield within.as_posix(), content
