"""The one guard around a user's own file: what it prints, and what it raises."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout


@contextmanager
def user_code(name: str, doing: str = "was used") -> Iterator[None]:
    """Guard all work with the encoding or class called `name`.

    What a user's file prints goes to standard error, beside the answer. What it raises becomes a
    ValueError with the name in it. Errors of locant's own encodings stay as they are.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except ValueError:
        raise
    except Exception as problem:
        if ".py" not in name:
            raise
        raise ValueError(
            f"{name} failed while it {doing}: {type(problem).__name__}: {problem}"
        ) from problem
