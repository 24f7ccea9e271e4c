"""Precision: modules in bfloat16 and float16 against float64, at positions to a million."""

from __future__ import annotations

import copy

import torch

from locant.subject import Measured, Subject, relative, show, signature

SENTENCE = "In bfloat16 and float16 it gives the float64 values, rounded once or twice, at positions to 10⁶."
CLAIM = "law"
BOUND = {"bfloat16": 0.05, "float16": 0.01}
WHY = "one rounding is 2⁻⁹ of a value in bfloat16, 2⁻¹² in float16, a few of them add up; a rounded angle is off by radians"


def measure(subject: Subject) -> Measured:
    index = torch.tensor([0, 1, 100, 255, 256, 257, 1000, 4097, 65_537, 10**6 - 1])
    pos = subject.at(index[index <= subject.last])
    errors = {}
    for name, dtype in (("bfloat16", torch.bfloat16), ("float16", torch.float16)):
        half = subject.stirred().to(dtype)
        exact = copy.deepcopy(half).double()  # the same rounded weights
        got = signature(half, pos, pos[:1], dtype)
        want = signature(exact, pos, pos[:1], torch.float64)
        safe = want.abs() < torch.finfo(dtype).max
        errors[name] = relative(torch.where(safe, got.double(), 0.0), torch.where(safe, want, 0.0))
    ok = all(errors[name] <= BOUND[name] for name in BOUND)
    said = f"Off by {show(errors['bfloat16'])} of its size in bfloat16, {show(errors['float16'])} in float16, "
    said += f"at positions to {int(index[index <= subject.last].max()):,}."
    if not ok:
        said += " Angles or positions are rounded before they are used."
    return Measured(ok, show(errors["bfloat16"]), said, errors)
