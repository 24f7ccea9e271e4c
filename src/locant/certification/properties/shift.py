"""Shift invariance: moving all positions by the same amount changes no score, nor how values are
mixed."""

from __future__ import annotations

import torch

from locant.attention import explicit
from locant.certification.probe import FAR, Probe, PropertyResult, relative, show, states
from locant.encodings.base import overrides

NAME = "shift"
SENTENCE = "Moving every position by the same amount changes no score."
CLAIM = "shift_invariant"
BOUND = {"float32": 1e-4, "bfloat16": 0.1}
WHY = (
    "float32 scores carry rounding of about 1e-6 of their size, and bfloat16 of about 2e-2; "
    "angles that are themselves "
    "rounded, or sums in place of differences, move scores by their full size"
)


def measure(probe: Probe) -> PropertyResult:
    errors: dict[str, float] = {}
    count = min(24, probe.last + 1)
    room = probe.last - count + 1
    shifts = sorted({min(c, room) for c in (1, 17, 1_000, FAR)})
    for name, dtype in (("float32", torch.float32), ("bfloat16", torch.bfloat16)):
        for seed in range(probe.effort.seeds):
            encoding = probe.randomized(more=seed).to(dtype)
            net = probe.layer(encoding, more=seed).to(dtype)
            x = probe.tokens(count, more=seed).to(dtype)

            def moved(start: int, net=net, x=x, encoding=encoding):  # type: ignore[no-untyped-def]
                pos = probe.positions(count) + start
                given = states(encoding, pos, len(x), x.dtype)
                q, k, v = net.core.project(net.fuse(encoding.embed(x, pos)))
                found = explicit(q, k, v, encoding=encoding, q_pos=pos, k_pos=pos, **given)
                return [found.scores, found.out] if overrides(encoding, "mix") else [found.scores]

            still = moved(0)
            for shift in shifts:
                key = f"{name} +{shift}"
                found = [relative(a, b) for a, b in zip(moved(shift), still, strict=True)]
                errors[key] = max(errors.get(key, 0.0), *found)
    worst = {name: max(v for k, v in errors.items() if k.startswith(name)) for name in BOUND}
    ok = all(worst[name] <= BOUND[name] for name in BOUND)
    where = max((k for k in errors if k.startswith("float32")), key=errors.__getitem__)
    what = "Scores and outputs" if overrides(probe.encoding, "mix") else "Scores"
    message = (
        f"{what} move by {show(worst['float32'])} of their size in float32 (worst at "
        f"{where.split()[1]})"
    )
    message += f", {show(worst['bfloat16'])} in bfloat16."
    return PropertyResult(ok, show(worst["float32"]), message, errors)
