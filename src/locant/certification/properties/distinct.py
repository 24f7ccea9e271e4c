"""Distinct positions: no two get the same vector, rotation or row of biases, also after rounding to
bfloat16."""

from __future__ import annotations

from typing import Any

import torch

from locant.certification.probe import BY_ORDER, Probe, PropertyResult, show, signature

NAME = "distinct"
SENTENCE = "No two positions are the same to the model, in float32 and in bfloat16."
CLAIM = "tells_order"
BOUND = 0.0
WHY = (
    "two positions whose signatures agree in every number cannot be told apart by anything that "
    "follows"
)


def measure(probe: Probe) -> PropertyResult:
    if not probe.encoding.goes_by_positions:
        return PropertyResult(None, "–", BY_ORDER)
    pos = _every_point(probe)
    count = len(pos)
    numbers: dict[str, Any] = {}
    for name, dtype in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        encoding = probe.randomized().to(dtype)
        rows = signature(encoding, pos, pos, dtype).double()
        apart = torch.cdist(rows, rows, compute_mode="donot_use_mm_for_euclid_dist")
        apart.fill_diagonal_(float("inf"))
        nearest = int(apart.argmin())
        numbers[name] = float(apart.min())
        numbers[f"{name} pair"] = (
            f"{pos[nearest // count].tolist()} and {pos[nearest % count].tolist()}"
        )
    least = min(numbers["float32"], numbers["bfloat16"])
    message = (
        f"Of {count} positions the closest two, {numbers['float32 pair']}, are "
        f"{show(numbers['float32'])} apart; "
        f"in bfloat16 {numbers['bfloat16 pair']}, {show(numbers['bfloat16'])} apart."
    )
    if numbers["float32"] > 0 and numbers["bfloat16"] == 0:
        message += (
            " Rounding makes them one: angles or distances are computed in bfloat16 somewhere, or "
            "its values lie closer"
        )
        message += " together than bfloat16 can tell."
    return PropertyResult(least > BOUND, show(least), message, numbers)


def _every_point(probe: Probe) -> torch.Tensor:
    """The first positions, up to 640; with several axes every point of a grid."""
    side = min(int(640 ** (1 / probe.encoding.axes)), probe.last + 1)
    return torch.cartesian_prod(*[torch.arange(side)] * probe.encoding.axes)
