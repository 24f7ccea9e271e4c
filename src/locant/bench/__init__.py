"""Measure speed: ours, the peers that are installed and the machine's limits, as ratios in one run.

One file measures one part; PARTS maps the name of a part to its file.
"""

from __future__ import annotations

PARTS = {
    "rotation": "rotation_speed",
    "biases": "biases",
    "memory": "memory_table",
    "decoding": "decoding",
    "step": "step",
    "training": "training",
    "sweep": "sweep",
    "t5": "t5_encoder",
}
