"""A user's own series, read from a file: what was understood, and every repair said. No torch."""

from __future__ import annotations

from locant.anomaly.series.reading import read_series
from locant.anomaly.series.series import Series, Understood
from locant.anomaly.series.streaming import Row, stream_rows
from locant.anomaly.series.table import table

__all__ = ["Row", "Series", "Understood", "read_series", "stream_rows", "table"]
