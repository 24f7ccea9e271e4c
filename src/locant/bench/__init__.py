"""How fast: ours, the peers that are installed and the machine's limits, as ratios in one run. One file, one table."""

from __future__ import annotations

PARTS = ("rotation", "biases", "memory", "decoding", "step", "training", "sweep")
