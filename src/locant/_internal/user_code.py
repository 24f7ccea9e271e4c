"""A user's own file while it is used: what it prints goes beside the answer, what it raises is told in a sentence."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout


@contextmanager
def told(name: str) -> Iterator[None]:
    """Around all work with the encoding of this name; errors of our own encodings stay as they are."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except ValueError:
        raise
    except Exception as problem:
        if ".py" not in name:
            raise
        raise ValueError(
            f"{name} failed while it was looked at: {type(problem).__name__}: {problem}"
        ) from problem
