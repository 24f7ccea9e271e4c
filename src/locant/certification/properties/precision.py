"""Precision: modules in bfloat16 and float16 against float64, at positions to a million."""

from __future__ import annotations

import torch

from locant.certification.probe import (
    Probe,
    PropertyResult,
    largest,
    show,
    signature,
)
from locant.encodings.base import Encoding, senses

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

STATES = 512  # tokens whose states are summed or projected


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
        errors[name] = _relative(got.double().where(safe, 0.0), want.where(safe, 0.0))
        if senses(half):
            errors[name] = max(errors[name], _error_of_states(half, exact, dtype))
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


def _relative(got: torch.Tensor, want: torch.Tensor) -> float:
    """The largest difference as a share of its feature's size over all positions, or of the value
    itself where that is larger; features of almost nothing count as a thousandth of all."""
    feature, everything = want.square().mean(0).sqrt(), float(want.square().mean().sqrt())
    size = want.abs().maximum(feature).clamp_min(max(1e-3 * everything, 1e-30))  # (T, ·)
    return largest(got / size, want / size)


def _error_of_states(half: Encoding, exact: Encoding, dtype: torch.dtype) -> float:
    """How far the bias from many tokens' states is off, or its share where it is above 1."""
    pos = torch.arange(STATES if half.extrapolates else min(STATES, half.shape.length))
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(1, len(pos), half.shape.dim, generator=draw).to(dtype)
    found = []
    for encoding, tokens in ((half, x), (exact, x.double())):
        state = encoding.sense(tokens, pos)
        assert state is not None
        found.append(encoding.state_bias(pos, pos, state, state))
    got, want = found
    if got is None or want is None:
        return 0.0
    size = want.abs().clamp_min(1.0)
    return largest(got.double() / size, want / size)


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
