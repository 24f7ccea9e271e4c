"""A user's own series, read from a file: what was understood, and every repair said. No torch."""

from __future__ import annotations

from locant.series.reading import read_series
from locant.series.series import Series, Understood
from locant.series.streaming import Row, stream_rows
from locant.series.table import table

__all__ = ["Row", "Series", "Understood", "read_series", "stream_rows", "table"]
