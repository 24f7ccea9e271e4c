"""One SQLite file that keeps every run and every study; studies packed into a small file."""

from pathlib import Path

STORE = Path("locant-results/runs.sqlite")  # where runs are kept unless another path is given
