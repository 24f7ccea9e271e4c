"""A text in the parts that train, choose and decide.

One file is cut: eight tenths train, a tenth chooses, a tenth decides. Of a folder every file belongs to one part, by the
hash of its name, so that no part holds a piece of another's file.
"""

from __future__ import annotations

import hashlib
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from locant._internal.seeds import stable_seed

STANDARD_LIBRARY = (
    "python:standard-library"  # a text that is always there: the sources of Python itself
)
Bytes = NDArray[np.uint8]


class Text(NamedTuple):
    """Training, validation and test parts, and the digest of all."""

    train: Bytes
    validation: Bytes
    test: Bytes
    digest: str


@lru_cache(maxsize=1)
def read_text(path: str) -> Text:
    """What a file or a folder holds, in parts."""
    place = Path(sysconfig.get_paths()["stdlib"] if path == STANDARD_LIBRARY else path).expanduser()
    if place.is_dir():
        parts: tuple[list[bytes], ...] = ([], [], [])
        for name, content in _files(place):
            parts[(0, 0, 0, 0, 0, 0, 0, 0, 1, 2)[stable_seed(name) % 10]].append(content)
        train, validation, test = (b"".join(part) for part in parts)
    else:
        whole = place.read_bytes()
        chooses, decides = (int(share * len(whole)) for share in (0.8, 0.9))
        train, validation, test = whole[:chooses], whole[chooses:decides], whole[decides:]
    digest = hashlib.sha256(b"\0".join((train, validation, test))).hexdigest()[:16]
    first, second, third = (np.frombuffer(part, np.uint8) for part in (train, validation, test))
    return Text(first, second, third, digest)


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The readable texts in a folder, in a fixed order; Python's own packages of other people are not its library."""
    for path in sorted(folder.rglob("*")):
        within = path.relative_to(folder)
        if path.is_file() and not {"site-packages", "test", "__pycache__"} & set(within.parts):
            content = path.read_bytes()
            if b"\0" not in content[:4096]:
                yield within.as_posix(), content
