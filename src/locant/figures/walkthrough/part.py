"""What one worked example says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Part:
    """A title, the lines to be read, and the same as numbers."""

    hook: str
    title: str
    lines: list[str]
    numbers: dict[str, Any] = field(default_factory=dict)
