"""Precision: modules in bfloat16 and float16 against float64, at positions to a million."""

from __future__ import annotations

import torch

from locant.certification.probe import Probe, PropertyResult, relative, show, signature
from locant.encodings.base import Encoding

NAME = "precision"
SENTENCE = (
    "In bfloat16 and float16 it gives the float64 values, rounded once or twice, at positions to "
    "10⁶."
)
CLAIM = "law"
BOUND = {"bfloat16": 0.05, "float16": 0.01}
WHY = (
    "one rounding is 2⁻⁹ of a value in bfloat16, 2⁻¹² in float16, a few of them add up; a rounded "
    "angle is off by radians"
)


def measure(probe: Probe) -> PropertyResult:
    index = torch.tensor([0, 1, 100, 255, 256, 257, 1000, 4097, 65_537, 10**6 - 1])
    pos = probe.at(index[index <= probe.last])
    errors, widened = {}, set()
    for name, dtype in (("bfloat16", torch.bfloat16), ("float16", torch.float16)):
        half, exact = probe.randomized().to(dtype), probe.randomized().double()
        for rounded, weight in zip(half.parameters(), exact.parameters(), strict=True):
            weight.copy_(
                rounded
            )  # what is learned may be rounded with the module; what is fixed may not
        got = signature(half, pos, pos[:1], dtype)
        widened |= _widened(half, pos, dtype)
        want = signature(exact, pos, pos[:1], torch.float64)
        safe = want.abs() < torch.finfo(dtype).max
        errors[name] = relative(torch.where(safe, got.double(), 0.0), torch.where(safe, want, 0.0))
    close = all(errors[name] <= BOUND[name] for name in BOUND)
    message = (
        f"Off by {show(errors['bfloat16'])} of its size in bfloat16, {show(errors['float16'])} in "
        "float16, "
    )
    message += f"at positions to {int(index[index <= probe.last].max()):,}."
    if not close:
        message += " Angles or positions are rounded before they are used."
    if widened:
        message = (
            f"What is half precision before {', '.join(sorted(widened))} is wider after it: it is "
            "not cast back."
        )
    return PropertyResult(close and not widened, show(errors["bfloat16"]), message, errors)


def _widened(encoding: Encoding, pos: torch.Tensor, dtype: torch.dtype) -> set[str]:
    """The hooks whose output is not in the precision of the input."""
    shape, count = encoding.shape, len(pos)
    x, q = (
        torch.zeros(1, count, shape.dim, dtype=dtype),
        torch.zeros(1, shape.heads, count, shape.head, dtype=dtype),
    )
    scores = q @ q.mT
    out = {
        "embed": encoding.embed(x, pos),
        "rotate": encoding.rotate(q, q, pos, pos)[0],
        "rescore": encoding.rescore(scores, q, q, pos, pos),
        "mix": encoding.mix(scores, q, pos, pos),
    }
    return {hook for hook, tensor in out.items() if tensor.dtype != dtype}
