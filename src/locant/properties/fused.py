"""The quick path equals the explicit one, forward and backward."""

from __future__ import annotations

import torch

from locant.attention import PATHS, attend, why_not
from locant.encodings.base import needs_scores
from locant.placing import place
from locant.subject import Measured, Subject, relative, show

SENTENCE = "The fused path gives what the explicit one gives, forward and backward."
CLAIM = "law"
BOUND = 1e-4
WHY = "the two differ in the order of float32 sums alone"


def measure(subject: Subject) -> Measured:
    if needs_scores(subject.encoding):
        return Measured(True, "–", "It works on scores or weights, so only the explicit path serves it.")
    count = min(40, subject.last + 1)
    encoding, pos = subject.stirred(), subject.places(count)
    tensors = [subject.heads(count, more=seed).requires_grad_() for seed in range(3)]
    leaves = [*tensors, *encoding.parameters()]
    errors = {}
    for causal in (False, True):
        kept = {}
        placed = place(encoding, pos, pos, like=tensors[0], causal=causal, path="tiled")
        with torch.enable_grad():
            serving = [path for path in PATHS if not why_not(path, placed, tensors[0])]
        for path in serving:
            with torch.enable_grad():
                out = attend(*tensors, encoding=encoding, q_pos=pos, k_pos=pos, causal=causal, path=path)
                grads = torch.autograd.grad(out.square().sum(), leaves, allow_unused=True)
            kept[path] = [out, *(g for g in grads if g is not None)]
        for path in (path for path in kept if path != "explicit"):
            pairs = zip(kept[path], kept["explicit"], strict=True)
            errors[f"{path}, {'causal' if causal else 'open'}"] = max(
                relative(a.detach(), b.detach()) for a, b in pairs
            )
    worst = max(errors.values())
    said = f"Outputs and gradients differ by at most {show(worst)} of their size between the paths."
    return Measured(worst <= BOUND, show(worst), said, errors)
