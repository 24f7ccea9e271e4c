"""Read a user's own series from a file or a stream, and say what was understood and repaired.

`read_series` reads CSV, TSV, JSON lines and Parquet; `stream_rows` reads lines as they arrive. No
torch is imported.
"""

from __future__ import annotations

import warnings
from typing import Any

from locant.anomaly.series.reader import read_series
from locant.anomaly.series.series import FileSummary, Series, summary_table
from locant.anomaly.series.streaming import Row, stream_rows

__all__ = ["FileSummary", "Row", "Series", "read_series", "stream_rows", "summary_table"]

_RENAMED: dict[str, Any] = {"Understood": FileSummary, "table": summary_table}


def __getattr__(name: str) -> Any:
    """Serve the old names of one release, with a warning."""
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = _RENAMED[name]
    warnings.warn(
        f"locant.anomaly.series.{name} is now {new.__name__}.", DeprecationWarning, stacklevel=2
    )
    return new
