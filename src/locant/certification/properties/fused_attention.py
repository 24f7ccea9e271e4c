"""Every backend that serves the encoding equals the reference, forward and backward."""

from __future__ import annotations

import torch

from locant.attention import attend
from locant.attention.calls import describe_call
from locant.attention.dispatch import BACKENDS
from locant.attention.inputs import prepare
from locant.certification.probe import Probe, PropertyResult, relative, show, states
from locant.encodings.base import needs_scores
from locant.encodings.hooks import States, rotate

NAME = "fused"
SENTENCE = "The quick backends give what the reference gives, forward and backward."
CLAIM = "law"
BOUND = 1e-4
WHY = "they differ in the order of float32 sums alone"


def measure(probe: Probe) -> PropertyResult:
    if needs_scores(probe.encoding):
        return PropertyResult(
            True, "–", "It works on scores or weights, so only the reference serves it."
        )
    count = min(40, probe.last + 1)
    encoding, pos = probe.randomized(), probe.positions(count)
    tensors = [probe.heads(count, more=seed).requires_grad_() for seed in range(3)]
    leaves = [*tensors, *encoding.parameters()]
    errors = {}
    for causal in (False, True):
        kept = {}
        with torch.enable_grad():
            given = states(encoding, pos)
            both = States(given["q_state"], given["k_state"]) if given else None
            inputs = prepare(encoding, pos, pos, like=tensors[0], causal=causal, states=both)
            q, k, v = tensors
            q, k = rotate(encoding, q, k, pos, pos, inputs.precomputed)
            request = describe_call(q, k, v, inputs, None, examine=True)
            serving = [one.name for one in BACKENDS if not one.refuses(request)]
            for name in ("auto", *serving):
                out = attend(
                    *tensors,
                    encoding=encoding,
                    q_pos=pos,
                    k_pos=pos,
                    causal=causal,
                    backend=name,
                    **states(encoding, pos),
                )
                grads = torch.autograd.grad(out.square().sum(), leaves, allow_unused=True)
                kept[name] = [out, *(g for g in grads if g is not None)]
        for name in (name for name in kept if name != "reference"):
            pairs = zip(kept[name], kept["reference"], strict=True)
            errors[f"{name}, {'causal' if causal else 'open'}"] = max(
                relative(a.detach(), b.detach()) for a, b in pairs
            )
    worst = max(errors.values())
    message = (
        f"Outputs and gradients differ by at most {show(worst)} of their size between the backends."
    )
    return PropertyResult(worst <= BOUND, show(worst), message, errors)
