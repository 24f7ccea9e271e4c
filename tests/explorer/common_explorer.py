"""Where things are, for the explorer's tests."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
MINE = f"{ROOT / 'examples' / 'mine.py'}:Mine"
PACKED = ROOT / "docs" / "studies" / "studies.json.gz"
HERE = "http://localhost:8765"
