"""How a detection tells what it is doing."""

from __future__ import annotations

from collections.abc import Callable

Tell = Callable[[str, float], None]  # what is being done, and the share of it that is done
